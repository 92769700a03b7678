"""Latency profiles: what one model on one accelerator was measured, or derived, to take."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sim.errors import ScenarioError, did_you_mean
from sim.latency import LatencyModel

__all__ = ["Profile", "load_profile", "profile_names"]

FOLDER = Path(__file__).parent / "profiles"
#: Milliseconds; also of the knee, which has no unit.
_MOST = 1e9


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile file.

    Attributes
    ----------
    latency : the latency model.
    kv_tokens : the KV capacity.
    measured_up_to_tokens : the longest context it was fitted to; None = the file does not say.
    card : the file itself, for the run card.
    """

    latency: LatencyModel
    kv_tokens: int
    measured_up_to_tokens: int | None
    card: dict[str, Any]


def profile_names() -> tuple[str, ...]:
    """Names of the profiles that ship with the product.

    >>> "h100-qwen3-32b" in profile_names()
    True
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def load_profile(name: str) -> Profile:
    """A shipped profile by name, or any profile file by path.

    Raises
    ------
    ScenarioError
        No such profile, not JSON, or a coefficient that is missing, unknown, not finite or out of range.
    """
    path = Path(name) if name.endswith(".json") else FOLDER / f"{name}.json"
    if not path.is_file():
        raise ScenarioError(
            "profile",
            f'"{name}"',
            "a shipped profile or a path to a .json",
            did_you_mean(name, profile_names()),
        )
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ScenarioError("profile", f"{path}, which is no JSON ({error})", "a latency profile") from error
    if not isinstance(card, dict) or not isinstance(card.get("latency"), dict):
        raise ScenarioError("profile", f"{path} without a latency block", "an object of coefficients")
    kv_tokens, measured = card.get("kv_tokens"), card.get("measured_up_to_tokens")
    return Profile(
        latency=_latency(path, card["latency"]),
        kv_tokens=_tokens(path, "kv_tokens", kv_tokens, "the server's max_total_num_tokens"),
        measured_up_to_tokens=None
        if measured is None
        else _tokens(path, "measured_up_to_tokens", measured, "the longest context it was fitted to"),
        card=card,
    )


def _latency(path: Path, block: dict[str, Any]) -> LatencyModel:
    known = {field.name for field in fields(LatencyModel)}
    for key in block:
        if key not in known:
            found = f"the unknown key latency.{key} in {path}"
            raise ScenarioError("profile", found, "a coefficient", did_you_mean(key, known))
    for key in sorted(known):
        absent = 0.0 if key.startswith("request_") else math.nan  # known only where a live server was measured
        value, least = block.get(key, absent), 1.0 if key == "knee" else 0.0
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not number or not least <= value <= _MOST:
            found = f"latency.{key}: {value!r} in {path}"
            raise ScenarioError("profile", found, f"a number from {least:g} to {_MOST:g}")
    return LatencyModel(**block)


def _tokens(path: Path, key: str, value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value < 2**31:
        found = f"{key}: {value!r} in {path}"
        raise ScenarioError("profile", found, f"an integer from 1 to 2,147,483,647, {what}")
    return value
