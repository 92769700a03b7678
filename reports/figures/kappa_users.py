"""Whose pacing costs welfare."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain
from reports.text import number
from sim.kappa_report import UserTotal

__all__ = ["costs", "rows"]

_BARS = 16
_ROWS = 40
_NOTHING = 1e-9  # of the best welfare


def costs(users: Sequence[UserTotal], key: str = "user-costs") -> Chart:
    """What would be won if one user alone were paced like the median one."""
    priced = [user for user in users if user.cost is not None and abs(user.cost) > _NOTHING]
    shown = sorted(priced, key=lambda user: -abs(user.cost or 0.0))[:_BARS]
    shown.sort(key=lambda user: -(user.cost or 0.0))
    shares = [100 * (user.cost or 0.0) for user in shown]
    bar = go.Bar(
        y=[plain(user.name) for user in shown],
        x=shares,
        orientation="h",
        marker={"color": ["var(--s1)" if share > 0 else "var(--s2)" for share in shares], "line": {"width": 0}},
        customdata=[_told(user) for user in shown],
        hovertemplate="%{customdata}<br>%{x:.3g} % of the best welfare<extra>%{y}</extra>",
    )
    return Chart(
        key=key,
        title="Whose pacing costs welfare",
        caption="The welfare that would be won if this user alone bid his values times the median multiplier, all else"
        " equal. Below zero: his pacing undoes another's. The bars do not add up to the loss: two users may spoil the"
        " same pair.",
        figure=figure(
            [bar],
            x=axis("% of the best welfare", zeroline=True),
            y={"autorange": "reversed", "automargin": True, "type": "category", "ticks": ""},
            legend=False,
            bargap=0.35,
        )
        if shown
        else None,
        missing="No user's pacing costs anything.",
        height=110 + 26 * len(shown),
    )


def rows(users: Sequence[UserTotal]) -> tuple[tuple[str, ...], ...]:
    """The table beside it: who, requests, value, multiplier, cost in %."""
    return tuple(
        (
            user.name,
            f"{user.num_requests:,}",
            number(user.value),
            _multiplier(user),
            "not computed" if user.cost is None else number(100 * user.cost),
        )
        for user in users[:_ROWS]
    )


def _multiplier(user: UserTotal) -> str:
    if user.value > 0:
        return number(user.bid / user.value)
    return "no value" if user.bid > 0 else "neither"


def _told(user: UserTotal) -> str:
    requests = "request" if user.num_requests == 1 else "requests"
    return f"{user.num_requests:,} {requests} worth {number(user.value)}, bids {_multiplier(user)} of it"
