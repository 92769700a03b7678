"""Text as symbols: UTF-8 bytes, or the tokens of a tokenizer that works offline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sim.errors import ScenarioError, did_you_mean

__all__ = ["load_tokenizer"]

#: Encodings that come with the `text` extra, by the name a scenario uses.
BUILT_IN = {"o200k": "o200k_base", "cl100k": "cl100k_base"}


def load_tokenizer(name: str | None) -> Callable[[str], Sequence[int]]:
    """The function from a text to its symbols.

    Parameters
    ----------
    name : None = UTF-8 bytes; ``"o200k"`` or ``"cl100k"``; else a path to a model's tokenizer.json.

    Raises
    ------
    ScenarioError
        Unknown name, broken file, or the `text` extra is not installed.

    >>> list(load_tokenizer(None)("né"))
    [110, 195, 169]
    """
    if name is None:
        return str.encode
    if name in BUILT_IN:
        return _built_in(BUILT_IN[name])
    if not Path(name).is_file():
        raise ScenarioError(
            "tokenizer", f'"{name}"', "a path to tokenizer.json or a name", did_you_mean(name, BUILT_IN)
        )
    return _from_file(name)


def _built_in(encoding: str) -> Callable[[str], Sequence[int]]:
    try:
        import bpe_openai  # type: ignore[import-untyped]  # ships no type information
    except ImportError as error:
        raise _missing(error) from error
    encode: Callable[[str], Sequence[int]] = bpe_openai.get_encoding(encoding).encode_ordinary
    return encode


def _from_file(path: str) -> Callable[[str], Sequence[int]]:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _missing(error) from error
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:  # the library raises nothing more specific
        raise ScenarioError(path, str(error), "a tokenizer.json of the tokenizers library") from error

    def encode(text: str) -> Sequence[int]:
        ids: Sequence[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    return encode


def _missing(error: ImportError) -> ScenarioError:
    hint = "Run, in the checkout: pip install -e '.[text]'"
    return ScenarioError("tokenizer", f"no package {error.name}", "the extra for text", hint)
