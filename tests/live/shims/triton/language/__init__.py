"""The kernel language, by name only: kernels are decorated and annotated, none is compiled."""

from __future__ import annotations

from typing import Any

from names_only import attributes_of

__getattr__ = attributes_of("triton.language")


class constexpr:  # noqa: N801 (the language's name)
    """A constant of a kernel; some are made when a module is imported."""

    def __init__(self, value: Any = None) -> None:
        self.value = value


class core:  # noqa: N801 (a module there)
    """What allocation asks of the language: how many tokens one launch can place."""

    TRITON_MAX_TENSOR_NUMEL = 1 << 20
