"""The two kernels with which SGLang 0.5.9 hands out KV pages, in Python: slot numbers for new tokens.

A request with `before` tokens of KV that grows to `after` first fills its last page, whose last used slot is
`last_loc`, then takes new pages from the front of the free list; requests take theirs in batch order.
"""

from __future__ import annotations

from typing import Any

__all__ = ["KERNELS"]


def _place(before: list[int], after: list[int], last_loc: list[int], free: list[int], out: Any, page: int) -> None:
    written = taken = 0
    for start, stop, last in zip(before, after, last_loc, strict=True):
        first_new = -(-start // page)  # number of its first new page
        for position in range(start, stop):
            number = position // page - first_new
            if number >= 0 and taken + number >= len(free):
                return  # the caller sees that pages are missing, and drops what was written
            slot = last + 1 + position - start if number < 0 else free[taken + number] * page + position % page
            out[written] = slot
            written += 1
        taken += -(-stop // page) - first_new


def _extend(_: Any, before: Any, after: Any, last_loc: Any, free: Any, out: Any, __: int, page: int, *___: int) -> None:
    _place(before.tolist(), after.tolist(), last_loc.tolist(), free.tolist(), out, page)


def _decode(_: Any, after: Any, last_loc: Any, free: Any, out: Any, __: int, page: int) -> None:
    _place((after - 1).tolist(), after.tolist(), last_loc.tolist(), free.tolist(), out, page)


KERNELS = {"alloc_extend_kernel": _extend, "alloc_decode_kernel": _decode}
