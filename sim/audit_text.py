"""Padding prompts that are texts: characters go in front, and the whole is encoded anew, as a server would."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mechanism.audit.pen import Padding
from mechanism.prompts import Prompts
from sim.json_rows import read_rows
from sim.tokenizer import load_tokenizer

__all__ = ["TextPen", "texts_of"]

#: Characters a prompt may begin with that nobody else's does: printable ASCII, then private ones.
_CHARACTERS = (*map(chr, range(0x21, 0x7F)), *map(chr, range(0xE000, 0xF8FF)))


@dataclass(frozen=True, slots=True)
class TextPen:
    """Prompts given as texts; `encode` makes symbols of them. `unused`: a character that no text begins with."""

    texts: Sequence[str]
    encode: Callable[[str], Sequence[int]]
    unused: str = field(init=False)

    def __post_init__(self) -> None:
        begins = {text[:1] for text in self.texts}
        object.__setattr__(self, "unused", next(each for each in _CHARACTERS if each not in begins))

    def copy(self, request: int, copied: int, tokens: int) -> Padding | None:
        """The fewest characters that make so many tokens; see `mechanism.audit.pen.Pen`. O(log) encodings."""
        text = self.texts[copied]
        low, high = 0, len(text)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if len(self.encode(text[:middle])) < tokens else (low, middle)
        return self._padding(request, text[:low], copied)

    def fresh(self, request: int) -> Padding | None:
        """See `mechanism.audit.pen.Pen`."""
        return self._padding(request, self.unused, None)

    def _padding(self, request: int, front: str, copied: int | None) -> Padding:
        own = self.texts[request]
        symbols = list(self.encode(front + own))
        return Padding(
            request=request,
            prompt=Prompts.from_lists([symbols]),
            tokens_added=len(symbols) - len(self.encode(own)),
            copied=copied,
            amount=len(front),
            fresh=front if copied is None else None,
            characters=True,
        )


def texts_of(path: Path, tokenizer: str | None) -> TextPen | None:
    """The pen for a file of requests that `sim.batch_file` could read; None where prompts are not texts."""
    rows = read_rows(path)
    first = next(rows)
    if "prompt" not in first:
        return None
    return TextPen([str(row.get("prompt")) for row in itertools.chain([first], rows)], load_tokenizer(tokenizer))
