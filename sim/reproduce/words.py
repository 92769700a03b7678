"""Findings as text, the same in the terminal and on the pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["SAME_IN_ALL", "found_words", "interval_words", "reading", "tally"]

#: What stands in the other settings' columns where no engine takes part.
SAME_IN_ALL = "the same: no engine in it"
#: Trials from which on an interval is worth reading.
_ENOUGH = 5
_MINUS = "\N{MINUS SIGN}"


def found_words(found: Mapping[str, Any], unit: str) -> str:
    """A finding: mean, interval, and where it was found.

    >>> found_words({"mean": 16.0812, "low": 15.41, "high": 16.75, "n": 10, "at": ""}, "%")
    '16.08 % (15.41 … 16.75)'
    >>> found_words({"mean": 0.0, "low": None, "high": None, "n": 10, "at": "50 %"}, "")
    '0 (worst of 10) at 50 %'
    """
    worst = f" (worst of {found['n']:,})" if found["low"] is None and found["n"] > 1 else ""
    at = f" at {found['at']}" if found["at"] else ""
    return f"{interval_words(found, unit)}{worst}{at}"


def interval_words(found: Mapping[str, Any], unit: str, scale: float = 1.0) -> str:
    """Mean and 95 % interval, to the interval's second digit, or four digits of the mean.

    >>> interval_words({"mean": 1.5034, "low": 1.48, "high": 1.53, "n": 10}, "×")
    '1.503 × (1.480 … 1.530)'
    >>> interval_words({"mean": -0.25, "low": None, "high": None, "n": 1}, "pp")
    '−0.25 pp'
    """
    if found["mean"] is None:
        return "not measured"
    tail = f" {unit}" if unit else ""
    mean = found["mean"] * scale
    if found["low"] is None or found["high"] is None:
        return f"{_significant(mean)}{tail}"
    low, high = found["low"] * scale, found["high"] * scale
    half = (high - low) / 2
    if half <= 1e-9 * max(abs(mean), 1.0):
        return f"{_significant(mean)}{tail} (± 0)"
    digits = 3 - math.floor(math.log10(abs(mean))) if mean else 2
    decimals = max(0, min(1 - math.floor(math.log10(half)), max(2, digits)))
    return f"{_fixed(mean, decimals)}{tail} ({_fixed(low, decimals)} … {_fixed(high, decimals)})"


def tally(claims: Iterable[Mapping[str, Any]], setting: str) -> tuple[int, int, int]:
    """How many claims agree, cannot be told, and do not agree in a setting."""
    verdicts = [claim["verdict"][setting] for claim in claims]
    return verdicts.count("yes"), verdicts.count("cannot tell"), verdicts.count("no")


def reading(records: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The verdict in sentences: how many claims agree in each setting, and which do in all, in some and in none."""
    claims = [claim for record in records for claim in record["claims"]]
    names = [setting["name"] for setting in records[0]["settings"]]
    counts = ", ".join(f"{tally(claims, name)[0]} ({name})" for name in names)
    sentences = [f"Of {len(claims)} claims, these many agree in every number: {counts}."]
    agreeing = {claim["key"]: [name for name in names if claim["verdict"][name] == "yes"] for claim in claims}
    always = [claim["name"] for claim in claims if len(agreeing[claim["key"]]) == len(names)]
    sometimes = [
        f"{claim['name']} ({', '.join(agreeing[claim['key']])})"
        for claim in claims
        if 0 < len(agreeing[claim["key"]]) < len(names)
    ]
    unclear = [c["name"] for c in claims if not agreeing[c["key"]] and "cannot tell" in c["verdict"].values()]
    never = [c["name"] for c in claims if set(c["verdict"].values()) == {"no"}]
    for what, those in (
        ("Agree in every setting", always),
        ("Agree in some", sometimes),
        ("Cannot be told from these seeds", unclear),
        ("Do not agree", never),
    ):
        if those:
            sentences.append(f"{what}: {'; '.join(those)}.")
    trials = records[0]["trials"]
    if trials < _ENOUGH:
        sentences.append(
            f"With {trials} trial{'s' if trials > 1 else ''} the intervals are so wide that much cannot be told: "
            "values have infinite variance. Take 10 or more."
        )
    return tuple(sentences)


def _significant(number: float) -> str:
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else str(number)
    decimals = 0 if float(number).is_integer() else max(0, 2 - math.floor(math.log10(abs(number))))
    return _fixed(number, min(decimals, 9)).rstrip("0").rstrip(".") if decimals else _fixed(number, 0)


def _fixed(number: float, decimals: int) -> str:
    return f"{round(number, decimals) or 0.0:,.{decimals}f}".replace("-", _MINUS)
