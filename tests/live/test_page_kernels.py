"""The two page kernels, in Python, place tokens where a page table would."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

FILE = Path(__file__).parent / "shims" / "triton" / "page_kernels.py"


def kernels() -> Any:
    spec = importlib.util.spec_from_file_location("page_kernels", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.KERNELS


def placed(page: int, lengths: list[tuple[int, int]]) -> tuple[Any, list[int]]:
    """Arguments for a batch of (tokens before, new tokens), and the slots its page tables give."""
    pages = iter(range(1, 10_000))
    tables = [[next(pages) for _ in range(-(-before // page))] for before, _ in lengths]
    last = [table[(before - 1) // page] * page + (before - 1) % page if before else -1
            for table, (before, _) in zip(tables, lengths, strict=True)]  # fmt: skip
    free, slots = [next(pages) for _ in range(500)], []
    unused = iter(free)
    for table, (before, new) in zip(tables, lengths, strict=True):
        table += [next(unused) for _ in range(-(-(before + new) // page) - len(table))]
        slots += [table[t // page] * page + t % page for t in range(before, before + new)]
    before, after = np.array([b for b, _ in lengths]), np.array([b + n for b, n in lengths])
    return (before, after, np.array(last), np.array(free)), slots


@given(st.integers(2, 8), st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20)), min_size=1, max_size=6))
@settings(deadline=None)
def test_extend(page: int, lengths: list[tuple[int, int]]) -> None:
    (before, after, last, free), slots = placed(page, lengths)
    out = np.full(len(slots), -7)
    kernels()["alloc_extend_kernel"](None, before, after, last, free, out, 8, page, 64)
    assert out.tolist() == slots


@given(st.integers(2, 8), st.lists(st.integers(1, 20), min_size=1, max_size=6))
@settings(deadline=None)
def test_decode(page: int, before: list[int]) -> None:
    (_, after, last, free), slots = placed(page, [(tokens, 1) for tokens in before])
    out = np.full(len(slots), -7)
    kernels()["alloc_decode_kernel"](None, after, last, free, out, 8, page)
    assert out.tolist() == slots


def test_too_few_pages_write_nothing_beyond_them() -> None:
    out = np.full(6, -7)
    arguments = (np.array([0, 0]), np.array([4, 2]), np.array([-1, -1]), np.array([9]), out, 2, 4, 8)
    kernels()["alloc_extend_kernel"](None, *arguments)
    assert out.tolist() == [36, 37, 38, 39, -7, -7]
