"""Findings as text, the same in the terminal and on the pages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sim.reproduce.judging import VERDICTS

__all__ = ["SAME_IN_ALL", "found_words", "interval_words", "reading", "tally", "unbroken"]

#: What stands in the other settings' columns where no engine takes part.
SAME_IN_ALL = "the same: no engine takes part"
#: What a verdict is called in a sentence about one claim.
_PHRASES = {
    "yes": "agrees",
    "yes, not resolved": "in range but not resolved",
    "cannot tell": "cannot be told",
    "no": "does not agree",
}
#: Verdict → what heads the claims that have it in every setting.
_HEADS = {
    "yes": "Agree in every setting",
    "no": "Do not agree in any setting",
    "cannot tell": "Cannot be told from these seeds in any setting",
    "yes, not resolved": "In range but not resolved by these seeds, in every setting",
}
_UNITS = ("%", "pp", "×", "s", "ms")
_NO_BREAK = "\N{NO-BREAK SPACE}"
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


def unbroken(words: str) -> str:
    """The same with no break between a number and its unit, a sign and its number, or the ends of an interval.

    >>> unbroken("lead 19–22 %;") == "lead 19–22\\xa0%;", unbroken("≤ 1.15") == "≤\\xa01.15", unbroken("a s")
    (True, True, 'a s')
    """
    pieces = words.split(" ")
    joined = pieces[:1]
    for before, after in itertools.pairwise(pieces):
        unit = before[-1:].isdigit() and after.rstrip(".,;:") in _UNITS
        kept = unit or before in ("≤", "≥", "≈", "…") or after == "…"
        joined.append(f"{_NO_BREAK if kept else ' '}{after}")
    return "".join(joined)


def tally(claims: Iterable[Mapping[str, Any]], setting: str) -> dict[str, int]:
    """Verdict → how many claims have it in a setting, from the best verdict to the worst."""
    verdicts = [claim["verdict"][setting] for claim in claims]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def reading(records: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The verdict in sentences: how many claims agree in each setting, and which do in all, in some and in none.

    A claim whose verdict differs between settings is named with each setting's verdict.
    """
    claims = [claim for record in records for claim in record["claims"]]
    names = [setting["name"] for setting in records[0]["settings"]]
    tallies = {name: tally(claims, name) for name in names}
    counts = ", ".join(f"{found['yes']} ({name})" for name, found in tallies.items())
    first = f"Of {len(claims)} claims, these many agree in every number: {counts}"
    if any(found["yes, not resolved"] for found in tallies.values()):
        counts = ", ".join(f"{found['yes, not resolved']} ({name})" for name, found in tallies.items())
        first += f"; besides, in range but not resolved by these seeds: {counts}"
    sentences = [f"{first}."]
    alike = {head: [c["name"] for c in claims if set(c["verdict"].values()) == {v}] for v, head in _HEADS.items()}
    mixed = [f"{c['name']} ({_by_setting(c['verdict'])})" for c in claims if len(set(c["verdict"].values())) > 1]
    for head, those in {_HEADS["yes"]: alike.pop(_HEADS["yes"]), "Differ by setting": mixed, **alike}.items():
        if those:
            sentences.append(f"{head}: {'; '.join(those)}.")
    trials = records[0]["trials"]
    if trials < _ENOUGH:
        sentences.append(
            f"With {trials} trial{'s' if trials > 1 else ''} the intervals are so wide that much cannot be told: "
            "values have infinite variance. Take 10 or more."
        )
    return tuple(sentences)


def _by_setting(verdicts: Mapping[str, str]) -> str:
    """ "agrees: serial; does not agree: window-4, queue", the best verdict first."""
    by_verdict = {verdict: [name for name, found in verdicts.items() if found == verdict] for verdict in VERDICTS}
    return "; ".join(f"{_PHRASES[verdict]}: {', '.join(names)}" for verdict, names in by_verdict.items() if names)


def _significant(number: float) -> str:
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else str(number)
    decimals = 0 if float(number).is_integer() else max(0, 2 - math.floor(math.log10(abs(number))))
    return _fixed(number, min(decimals, 9)).rstrip("0").rstrip(".") if decimals else _fixed(number, 0)


def _fixed(number: float, decimals: int) -> str:
    return f"{round(number, decimals) or 0.0:,.{decimals}f}".replace("-", _MINUS)
