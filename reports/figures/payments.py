"""What users pay against what they said their place was worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import polars as pl

from reports.chart import Chart, axis, figure
from reports.series import Series

__all__ = ["against_declared_value", "overcharged", "thinned"]

#: Points drawn a schedule. All above the line and the largest payments are among them.
POINTS = 1500
_LARGEST = 300
#: A payment this small a share of the declared value is rounding, not money.
_DUST = 1e-9


def overcharged() -> pl.Expr:
    """Whether a row pays more than its declared value, beyond rounding."""
    return pl.col("payment") > pl.col("declared_value") * (1 + _DUST) + 1e-12


def thinned(rows: pl.DataFrame, points: int = POINTS) -> pl.DataFrame:
    """At most about `points` rows: every overcharged one, the largest payments, and even steps of the rest."""
    if len(rows) <= points:
        return rows
    ranked = rows.with_columns(overcharged().alias("over")).sort(
        "over", "payment", "declared_value", descending=True, nulls_last=True, maintain_order=True
    )
    keep = min(len(rows), int(ranked["over"].sum()) + min(_LARGEST, points // 2))
    rest = ranked.slice(keep).sort("declared_value", maintain_order=True)
    step = max(1, math.ceil(len(rest) / max(1, points - keep)))
    return pl.concat([ranked.head(keep), rest.gather_every(step)]).drop("over")


def against_declared_value(series: Sequence[Series]) -> tuple[Chart, ...]:
    """One chart for each schedule that charges anything, on common logarithmic axes."""
    tables = {one.label: one.rows(one.run.payments).drop_nulls(["declared_value", "payment"]) for one in series}
    scale = _Scale.of([table for table in tables.values() if _charges(table)])
    return tuple(_facet(one, tables[one.label], scale, f"payments-{position}") for position, one in enumerate(series))


@dataclass(frozen=True, slots=True)
class _Scale:
    """Powers of ten from `low` to `high`; zero is drawn half a decade below `low`."""

    low: int
    high: int

    @classmethod
    def of(cls, tables: Sequence[pl.DataFrame]) -> _Scale:
        positive = [
            float(found)
            for table in tables
            for column in ("declared_value", "payment")
            for found in (table[column].max(), table.filter(pl.col(column) > 0)[column].quantile(0.01))
            if isinstance(found, float) and found > 0
        ]
        if not positive:
            return cls(0, 1)
        high = math.ceil(math.log10(max(positive)) + 1e-9)
        return cls(max(math.floor(math.log10(min(positive))), high - 6), high)

    @property
    def zero(self) -> float:
        return math.pow(10, self.low - 0.5)

    def axis(self, title: str) -> dict[str, Any]:
        decades = range(self.low, self.high + 1)
        return axis(
            title,
            type="log",
            range=[self.low - 0.7, self.high + 0.1],
            tickvals=[self.zero, *(math.pow(10, decade) for decade in decades)],
            ticktext=["0", *(f"{math.pow(10, decade):,.{max(0, -decade)}f}" for decade in decades)],
        )

    def place(self, column: str) -> pl.Expr:
        """Where a value is drawn: zero, rounding dust and what is below the axis on the line marked 0."""
        shown = pl.col(column) >= math.pow(10, self.low)
        return pl.when(shown).then(pl.col(column)).otherwise(self.zero)


def _charges(table: pl.DataFrame) -> bool:
    return bool((table["payment"] > _DUST * table["declared_value"]).any())


def _facet(one: Series, table: pl.DataFrame, scale: _Scale, key: str) -> Chart:
    over = table.filter(overcharged())
    alarm = ""
    if len(over):
        alarm = (
            f"{len(over):,} of {len(table):,} charges are above the declared value. That is a bug: nobody may pay"
            " more than he said his place was worth."
        )
    if not _charges(table) and not alarm:
        missing = "Charges nothing." if len(table) else "No payments were recorded."
        return Chart(key=key, title=one.label, missing=missing)
    drawn = thinned(table)
    free = int((table["payment"] <= _DUST * table["declared_value"]).sum())
    caption = f"{len(table):,} charges, {free:,} of them zero; none above the line."
    if alarm:
        caption = f"{len(table):,} charges, {free:,} of them zero."
    if len(drawn) < len(table):
        caption += f" Drawn: {len(drawn):,}, the largest payments among them."
    low, high = math.pow(10, scale.low - 0.7), math.pow(10, scale.high + 0.1)
    diagonal = go.Scatter(
        x=[low, high],
        y=[low, high],
        mode="lines",
        line={"color": "var(--muted)", "dash": "dash", "width": 1.5},
        hovertemplate="payment = declared value<extra></extra>",
    )
    return Chart(
        key=key,
        title=one.label,
        caption=caption,
        figure=figure(
            [diagonal, _dots(one, drawn, scale)],
            x=scale.axis("declared value Σ b·x"),
            y=scale.axis("payment"),
            legend=False,
        ),
        alarm=alarm,
        height=360,
    )


def _dots(one: Series, drawn: pl.DataFrame, scale: _Scale) -> go.Scatter:
    placed = drawn.select(
        scale.place("declared_value").alias("x"),
        scale.place("payment").alias("y"),
        pl.format(
            "user {}, batch {}, trial {}",
            pl.col("user").str.replace_all("&", "&amp;", literal=True).str.replace_all("<", "&lt;", literal=True),
            "batch",
            "trial",
        ).alias("who"),
        "declared_value",
        "payment",
    )
    return go.Scatter(
        x=placed["x"].to_list(),
        y=placed["y"].to_list(),
        mode="markers",
        marker={"color": one.css, "symbol": one.symbol, "size": 6, "opacity": 0.55},
        customdata=placed.select("declared_value", "payment").rows(),
        text=placed["who"].to_list(),
        hovertemplate="%{text}<br>declared %{customdata[0]:.4g}, pays %{customdata[1]:.4g}<extra></extra>",
    )
