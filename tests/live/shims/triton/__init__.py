"""The kernel compiler, by name only: decorators are accepted, a kernel that is launched is an error.

Except for the two kernels that hand out KV pages (`page_kernels`): SGLang 0.5.9 has no other way to allocate pages
larger than one token, so these are written in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from names_only import attributes_of

from triton.page_kernels import KERNELS

__version__ = "3.5.0"
__getattr__ = attributes_of("triton", absent=("knobs",))  # SGLang watches compilations only where there is this one


class JITFunction:
    """A decorated kernel."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.fn, self.__name__, self.__doc__ = function, function.__name__, function.__doc__

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """`kernel[grid](arguments…)` launches it."""
        if self.__name__ not in KERNELS:
            raise RuntimeError(f"triton kernel {self.__name__} was launched, and there is no triton here")
        return lambda *arguments, **_: KERNELS[self.__name__](grid, *arguments)


class Config:
    """A tuning candidate."""

    def __init__(self, kwargs: Any = None, **options: Any) -> None:
        self.kwargs, self.options = kwargs, options


def jit(function: Any = None, **_: Any) -> Any:
    return JITFunction(function) if callable(function) else JITFunction


def autotune(*_: Any, **__: Any) -> Callable[[Any], Any]:
    return lambda kernel: kernel


heuristics = autotune


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def next_power_of_2(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()
