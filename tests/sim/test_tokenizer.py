import builtins
import json
from pathlib import Path
from typing import Any

import pytest

from sim.batch_file import read_batch
from sim.errors import ScenarioError
from sim.tokenizer import load_tokenizer


def word_level(folder: Path) -> str:
    """A tokenizer.json that knows three words, split at blanks."""
    path = folder / "tokenizer.json"
    model = {"type": "WordLevel", "vocab": {"hello": 5, "world": 9, "[UNK]": 0}, "unk_token": "[UNK]"}
    special = {"id": 0, "content": "[UNK]", "special": True}
    special |= dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    path.write_text(
        json.dumps(
            {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [special], "normalizer": None}
            | {"pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None, "model": model}
        )
    )
    return str(path)


def test_without_a_tokenizer_symbols_are_bytes() -> None:
    assert list(load_tokenizer(None)("a€")) == [0x61, 0xE2, 0x82, 0xAC]


def test_a_built_in_encoding_reads_special_tokens_as_text() -> None:
    pytest.importorskip("bpe_openai", reason="the text extra is not installed")
    encode = load_tokenizer("o200k")
    assert list(encode("hello world")) == [24912, 2375]  # as OpenAI's tokenizer page shows
    assert len(encode("<|endoftext|>")) > 1


def test_a_models_own_tokenizer_is_a_file(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="the text extra is not installed")
    assert list(load_tokenizer(word_level(tmp_path))("hello world hello you")) == [5, 9, 5, 0]
    (tmp_path / "b.jsonl").write_text('{"bid": 1, "prompt": "world hello"}\n')
    batch = read_batch(tmp_path / "b.jsonl", tokenizer=word_level(tmp_path))
    assert batch.prompts.symbols.tolist() == [9, 5]


def test_a_broken_file_and_an_unknown_name(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="the text extra is not installed")
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(ScenarioError, match=r"broken.json: found .*; expected a tokenizer.json"):
        load_tokenizer(str(tmp_path / "broken.json"))
    with pytest.raises(ScenarioError, match=r'found "o20k"; .* Did you mean "o200k"\?'):
        load_tokenizer("o20k")


@pytest.mark.parametrize("name", ["o200k", "file"])
def test_a_missing_extra_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    real = builtins.__import__

    def without_text(package: str, *args: Any, **kwargs: Any) -> Any:
        if package in {"bpe_openai", "tokenizers"}:
            raise ImportError(f"No module named {package}", name=package)
        return real(package, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_text)
    with pytest.raises(ScenarioError, match=r"pip install -e '\.\[text\]'"):
        load_tokenizer(name if name == "o200k" else word_level(tmp_path))
