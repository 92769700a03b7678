"""The three settings of the engine in which every experiment runs; a number is never shown without its setting.

The paper does not say how many requests its server held at once, and no single setting reproduces every ratio it
publishes. So all three are run, and each claim is judged in each.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SETTINGS", "EngineSetting"]


@dataclass(frozen=True, slots=True)
class EngineSetting:
    """A name, what it changes in a scenario, and what it means."""

    name: str
    overrides: tuple[str, ...]
    words: str


SETTINGS = (
    EngineSetting(
        "serial",
        ("dispatch.in_flight=1", "workload.output_tokens=1"),
        "one request inside the engine at a time, 1 output token (with 16, decoding would hide how long prefill takes)",
    ),
    EngineSetting(
        "window-4",
        ("dispatch.in_flight=4", "workload.output_tokens=1"),
        "four requests inside the engine, 1 output token",
    ),
    EngineSetting(
        "queue",
        ("dispatch.in_flight=null", "workload.output_tokens=16", "backend.chunked_prefill_tokens=8192"),
        "the whole queue inside the engine, prefill in chunks of 8,192 tokens, 16 output tokens: what reading SGLang "
        "suggests for a saturated server; neighbours in the order are prefilled in one pass before either is cached",
    ),
)
