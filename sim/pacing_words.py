"""What budgets did, in words that the terminal and the page share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["ERRORS", "agents_text", "growth_text", "signed", "why_no_regret"]

ERRORS = "± is one standard error: over trials; of regret, over users, periods and trials."
_NEEDS_TRUTH = (
    "Regret is not defined: its bound in hindsight takes a truthful payment under a schedule that maximises declared "
    "welfare."
)
_TOO_SHORT = "The run holds no whole period of a budget, so there is nothing to measure regret or spend on."


def growth_text(fit: Mapping[str, Any]) -> str:
    """How regret grows with the number of auctions, and what that says of the theorem.

    >>> growth_text({"exponent": 0.43, "interval": [0.4, 0.46], "points": [[10, 1.0], [100, 2.7], [1000, 7.2]]})
    'Regret grows like T^0.43 (95 %: 0.40 … 0.46) over T = 10, 100, 1,000: slower than the √T that Theorem 4.1 allows.'
    """
    low, high = fit["interval"]
    horizons = ", ".join(f"{horizon:,}" for horizon, _ in fit["points"])
    if high < 0.5:
        verdict = "slower than the √T that Theorem 4.1 allows"
    elif low <= 0.5:
        verdict = "as √T, the rate of Theorem 4.1, would"
    else:
        verdict = "faster than the √T of Theorem 4.1, which speaks of i.i.d. auctions"
    grown = f"T^{signed(fit['exponent'], 2).removeprefix('+')} (95 %: {low:.2f} … {high:.2f})"
    return f"Regret grows like {grown} over T = {horizons}: {verdict}.".replace("-", "\N{MINUS SIGN}")


def why_no_regret(found: Mapping[str, Any]) -> str:
    """Why a schedule of the summary has no regret; nothing where it has."""
    if found["regret"]["mean"] is not None:
        return ""
    return _NEEDS_TRUTH if found["horizon"] else _TOO_SHORT


def agents_text(agents: Sequence[str]) -> str:
    """Who moved welfare.

    >>> agents_text(["pacing"]), agents_text(["pacing", "shading", "truthful"])
    ('Pacing', 'The mix of pacing, shading and truthful agents')
    """
    names = list(dict.fromkeys(agents))
    return "Pacing" if len(names) < 2 else f"The mix of {', '.join(names[:-1])} and {names[-1]} agents"


def signed(value: float, decimals: int) -> str:
    """A difference, with a sign that is a minus, not a hyphen, and no sign before nothing.

    >>> signed(-1.234, 2), signed(0.5, 1), signed(-0.001, 2)
    ('−1.23', '+0.5', '0.00')
    """
    rounded = round(value, decimals) or 0.0
    return f"{rounded:{'+' if rounded else ''}.{decimals}f}".replace("-", "\N{MINUS SIGN}")
