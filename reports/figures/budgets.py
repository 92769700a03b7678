"""Users with budgets over the auctions of a run: multipliers, spend, utility, regret; a line a user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from reports.chart import Chart, axis, figure, plain

__all__ = ["MOST_LINES", "growth", "of_users", "welfare_and_bound"]

#: Lines of one figure; of more users, those at even steps of the budget.
MOST_LINES = 24
_SHADES = 10

User = Mapping[str, Any]


def of_users(users: Sequence[User], key: str) -> tuple[Chart, ...]:
    """Four figures of the users of one schedule and trial; users without a curve are left out."""
    drawn = _drawn(users)
    if not drawn:
        missing = "The run holds no whole period of a budget."
        return (Chart(key=f"{key}-none", title="Over the auctions", missing=missing),)
    shade = "Colours follow the size of the budget. "
    periods = 1 + max(int(user["period"]) for user in users)
    num_users = sum(user["curve"] is not None for user in users)
    if len(drawn) < num_users:
        shade += f"{len(drawn)} of {num_users} users. "
    if periods > 1:
        shade += f"The first of {periods:,} periods: budgets renew every {int(drawn[0]['horizon']):,} auctions. "
    charts = [
        Chart(
            key=f"{key}-multiplier",
            title="Multiplier",
            caption=f"{shade}What values were multiplied by to make bids; 1 is the truth.",
            figure=_lines(drawn, "multiplier", lambda curve, _: curve["multiplier"], "bid / value", ".3f"),
        ),
        Chart(
            key=f"{key}-spend",
            title="Spend against target",
            caption=f"{shade}Share of the budget spent; the dashed line is the target, the same in every auction.",
            figure=_lines(drawn, "spend", _spent, "% of the budget", ".1f", target=True),
        ),
        Chart(
            key=f"{key}-utility",
            title="Cumulative utility",
            caption=f"{shade}Value obtained less payments so far.",
            figure=_lines(drawn, "utility", lambda curve, _: curve["utility"], "money", ".4g"),
        ),
    ]
    if drawn[0]["curve"]["bound"] is not None:
        regret = _lines(drawn, "regret", _regret, "money", ".4g")
        caption = "What the best policy in hindsight is allowed so far (an upper bound) less what was obtained."
        charts.append(Chart(key=f"{key}-regret", title="Regret", caption=f"{shade}{caption}", figure=regret))
    return tuple(charts)


def welfare_and_bound(cell: Mapping[str, Any], key: str) -> Chart:
    """Realised share of the best welfare and what Theorem 4.4 guarantees, auction by auction."""
    auctions = cell["auctions"]
    if auctions["best_welfare"] is None:
        return Chart(key=key, title="Welfare", missing="The schedule maximises nothing, so nothing is guaranteed.")
    best = auctions["best_welfare"]
    step = -(-len(best) // 1000)
    at = list(range(0, len(best), step))
    realised = [100 * auctions["welfare"][t] / best[t] if best[t] > 0 else 100.0 for t in at]
    guaranteed = [100 * auctions["bound"][t] for t in at]
    below = sum(got < least * (1 - 1e-9) for got, least in zip(realised, guaranteed, strict=True))
    lines = (("as scheduled", realised, "var(--s2)", "solid"), ("guaranteed by κ", guaranteed, "var(--s0)", "dot"))
    traces = [
        go.Scatter(
            x=at,
            y=shares,
            mode="lines",
            name=name,
            line={"color": color, "dash": dash, "width": 2},
            hovertemplate=f"auction %{{x}}: %{{y:.2f}} %<extra>{name}</extra>",
        )
        for name, shares, color, dash in lines
    ]
    return Chart(
        key=key,
        title="Welfare, auction by auction",
        caption="The welfare of the order that was decided, as a share of what the truth would have made of the same "
        "batch. Below the dotted line nothing can be.",
        figure=figure(traces, x=axis("auction"), y=axis("% of the best welfare", range=[0, 103])),
        alarm=f"{below} auctions lie below their bound, which is impossible." if below else "",
    )


def growth(fit: Mapping[str, Any] | None) -> Chart:
    """Mean regret against the number of auctions on logarithmic axes, with the fitted line and √T."""
    title, key = "How regret grows", "growth"
    if fit is None:
        why = "It takes three or more horizons in one run: see scenarios/pacing-regret.yaml."
        return Chart(key=key, title=title, missing=why)
    horizons, regrets = zip(*fit["points"], strict=True)
    middle_x = _geometric(horizons)
    middle_y = _geometric(regrets)
    ends = [min(horizons), max(horizons)]

    def line(exponent: float, name: str, dash: str, color: str) -> go.Scatter:
        y = [middle_y * (end / middle_x) ** exponent for end in ends]
        return go.Scatter(x=ends, y=y, mode="lines", name=name, line={"dash": dash, "color": color}, hoverinfo="skip")

    low, high = fit["interval"]
    points = go.Scatter(
        x=list(horizons),
        y=list(regrets),
        mode="markers",
        name="mean regret",
        marker={"color": "var(--s0)", "size": 10},
        hovertemplate="T = %{x:,}: %{y:.4g}<extra></extra>",
    )
    fitted = line(fit["exponent"], f"T^{fit['exponent']:.2f} (95 %: {low:.2f} … {high:.2f})", "solid", "var(--s0)")
    traces = [fitted, line(0.5, "√T", "dash", "var(--muted)"), points]
    return Chart(
        key=key,
        title=title,
        caption="Mean over users and periods; the theorem promises √T for i.i.d. auctions.",
        figure=figure(traces, x=axis("auctions T", type="log"), y=axis("regret, money", type="log")),
    )


def _drawn(users: Sequence[User]) -> list[User]:
    by_budget = sorted((user for user in users if user["curve"] is not None), key=lambda user: float(user["budget"]))
    step = -(-len(by_budget) // MOST_LINES) if by_budget else 1
    return by_budget[::step]


def _lines(
    users: Sequence[User], what: str, values: Any, title: str, digits: str, *, target: bool = False
) -> go.Figure:
    traces = []
    for place, user in enumerate(users):
        shade = 1 + place * _SHADES // len(users)
        traces.append(
            go.Scatter(
                x=user["curve"]["auction"],
                y=values(user["curve"], user),
                mode="lines",
                name=plain(f"{user['user']}, budget {user['budget']:.4g}"),
                line={"color": f"var(--d{shade})", "width": 2},
                hovertemplate=f"auction %{{x}}: {what} %{{y:{digits}}}<extra>%{{fullData.name}}</extra>",
            )
        )
    if target:
        auctions = users[0]["curve"]["auction"]
        horizon = users[0]["horizon"]
        traces.append(
            go.Scatter(
                x=auctions,
                y=[100 * (t + 1) / horizon for t in auctions],
                mode="lines",
                name="target",
                line={"color": "var(--muted)", "dash": "dash", "width": 2},
                hoverinfo="skip",
            )
        )
    return figure(traces, x=axis("auction"), y=axis(title), legend=False)


def _spent(curve: Mapping[str, Any], user: User) -> list[float]:
    return [100 * spent / user["budget"] if user["budget"] > 0 else 0.0 for spent in curve["spent"]]


def _regret(curve: Mapping[str, Any], _: User) -> list[float]:
    return [bound - got for bound, got in zip(curve["bound"], curve["utility"], strict=True)]


def _geometric(numbers: Sequence[float]) -> float:
    product = 1.0
    for number in numbers:
        product *= float(number) ** (1 / len(numbers))
    return product
