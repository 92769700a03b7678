"""A real SGLang by OpenAI's protocol: the same requests, as ids and as text, find what they find by its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from live_kit import LIVE, Setting, require

from backends._control import Control
from backends._launch import free_port, server_process
from backends._sglang_server import one_token
from backends.openai import Openai
from backends.sglang import Sglang
from sim.scenario import load_scenario
from sim.simulate import run

pytestmark = pytest.mark.live

SMALL = """\
name: small
workload: {kind: stars, num_requests: 32, output_tokens: 4, cluster_size: 8, prefix_tokens: 90,
  question_tokens: [5, 12], singleton_tokens: 95}
schedule: [dfs-bid]
batching: {size: 16}
"""


def model_with_words(folder: Path) -> Path:
    """The tiny model with a tokenizer whose words are t0, t1, …, each the id it names."""
    config = json.loads((LIVE / "tiny-llama" / "config.json").read_text(encoding="utf-8"))
    words = {f"t{token}": token for token in range(config["vocab_size"])}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "t0"},
    }
    kind = {"tokenizer_class": "PreTrainedTokenizerFast"}
    for name, data in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", kind)):
        (folder / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    return folder


@pytest.fixture(scope="module", params=["0.5.23", "0.5.9"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    require(request.param)
    launch, port = Setting(version=request.param, kv_tokens=8192, reset_phase=False).launch(), free_port()
    model = str(model_with_words(tmp_path_factory.mktemp("model")))
    command = [model if word == launch.model_path else word for word in launch.command(port)]
    command.remove("--skip-tokenizer-init")
    control = Control(f"http://127.0.0.1:{port}")
    with server_process(command, launch.env) as process:
        control.wait_until(lambda: one_token(control, [1]), 300.0, process.check)
        yield control.url


def cached_tokens(folder: Path, backend: str) -> list[int]:
    path = folder / "scenario.yaml"
    path.write_text(f"{SMALL}backend: {backend}\n", encoding="utf-8")
    scenario = load_scenario(path, {"sglang": Sglang, "openai": Openai})
    frame = pl.concat(run(scenario, scenario.backend.config).frames["requests"])
    assert set(frame["status"]) == {"ok"}
    assert set(frame["output_tokens"]) == {4}
    return frame["cached_tokens"].fill_null(0).to_list()  # 0.5.9 says nothing where it means 0


def test_every_protocol_finds_the_same_in_the_cache(url: str, tmp_path: Path) -> None:
    own = cached_tokens(tmp_path, f"{{use: sglang, url: '{url}'}}")
    assert sum(own) > 0
    assert cached_tokens(tmp_path, f"{{use: openai, url: '{url}'}}") == own
    assert cached_tokens(tmp_path, f"{{use: openai, url: '{url}', prompts: text}}") == own
