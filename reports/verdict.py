"""The first screen: one sentence in plain language, and the headline numbers of every schedule side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.metrics import HEADLINES, Metric, unit_of
from reports.series import Estimate, Series
from reports.text import MISSING, Unit, difference, estimate, mean_text, number, se_text

__all__ = ["Bar", "Card", "CardRow", "cards", "reading"]

_WELFARE, _TTFT = "welfare_pct_over_random", "mean_ttft_ms"
#: Percentage points of welfare that no sentence should make a winner of.
_ABOUT_EQUAL = 0.5


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar and its whisker, in % of the track."""

    left: float
    width: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CardRow:
    """One schedule's number: the mean, what is known of its error, and the paired difference."""

    series: Series
    mean: str
    error: str
    paired: str
    bar: Bar | None


@dataclass(frozen=True, slots=True)
class Card:
    """One headline metric over all schedules."""

    metric: Metric
    rows: tuple[CardRow, ...]


def cards(series: Sequence[Series]) -> tuple[Card, ...]:
    """The verdict strip: a card a headline metric, a row a schedule."""
    return tuple(Card(metric, _rows(metric, series)) for metric in HEADLINES)


def reading(series: Sequence[Series]) -> Markup:
    """What the run says, as one sentence (escaped): the first schedule, and who does better at what price."""
    first = series[0]
    welfare, ttft, hit = (first.metric(name) for name in (_WELFARE, _TTFT, "hit_rate"))
    if welfare.mean is None or ttft.mean is None:
        nothing = Markup("<strong>{}</strong> brought no request to its first token: nothing to compare.")
        return nothing.format(first.label)
    wait = mean_text(ttft, unit_of(HEADLINES[2], series))
    share = "an unreported cache hit rate" if hit.mean is None else f"a cache hit rate of {number(100 * hit.mean, 1)} %"
    text = Markup("<strong>{}</strong> realises welfare {} a random order, at {} and a mean TTFT of {}").format(
        first.label, _percent(welfare), share, wait
    )
    # schedules of one run met the same requests; other runs may be other scenarios
    others = [one for one in series[1:] if one.run is first.run] or series[1:]
    rated = [one for one in others if None not in (one.metric(_WELFARE).mean, one.metric(_TTFT).mean)]
    return text + (_contrast(first, max(rated, key=_mean_welfare)) if rated else ".")


def _contrast(first: Series, best: Series) -> Markup:
    """The rest of the sentence: of the other schedules the one with the most welfare, and what it costs in waiting."""
    told, more = _percent(best.metric(_WELFARE)), _mean_welfare(best) - _mean_welfare(first)
    ratio = (best.metric(_TTFT).mean or 0.0) / (first.metric(_TTFT).mean or 1.0)
    same_wait = 0.98 <= ratio <= 1.02
    wait = "the same mean TTFT" if same_wait else f"{number(ratio, 2)} times its mean TTFT"
    noise = best.run is first.run and _within_error(best.paired(_WELFARE))
    if noise or abs(more) < _ABOUT_EQUAL:
        told += ", a difference of less than two standard errors" if noise else ""
        return Markup("; <strong>{}</strong> earns about as much ({}) at {}.").format(best.label, told, wait)
    if more < 0:
        text = Markup("; no other schedule earns more, <strong>{}</strong> comes nearest ({}) at {}.")
        return text.format(best.label, told, wait)
    if same_wait:
        wait = f"at {wait}"
    else:
        wait = f"{'but' if ratio > 1 else 'and'} takes {number(ratio, 2)} times as long to a first token"
    return Markup("; <strong>{}</strong> earns the most ({}), {}.").format(best.label, told, wait)


def _mean_welfare(one: Series) -> float:
    return one.metric(_WELFARE).mean or 0.0


def _within_error(paired: Estimate) -> bool:
    return paired.mean is not None and paired.se is not None and abs(paired.mean) < 2 * paired.se


def _percent(found: Estimate) -> str:
    """Such as "14.2 ± 0.9 % above"."""
    mean = found.mean or 0.0
    size = estimate(Estimate(abs(mean), found.se, found.n), Unit("%")) if found.se else f"{number(abs(mean), 1)} %"
    return f"{size} {'below' if mean < 0 else 'above'}"


def _rows(metric: Metric, series: Sequence[Series]) -> tuple[CardRow, ...]:
    unit = unit_of(metric, series)
    found = [one.metric(metric.name) for one in series]
    ends = [
        end for one in found if one.mean is not None for end in (one.mean - (one.se or 0.0), one.mean + (one.se or 0.0))
    ]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    if metric.name == "hit_rate":
        low, high = 0.0, 1.0
    return tuple(
        CardRow(
            one,
            mean_text(mean, unit),
            se_text(mean, unit),
            _paired(one, metric, unit),
            _bar(mean, low, high),
        )
        for one, mean in zip(series, found, strict=True)
    )


def _paired(one: Series, metric: Metric, unit: Unit) -> str:
    if one.schedule == one.reference:
        return ""
    told = difference(one.paired(metric.name), unit)
    return "" if told == MISSING else f"Δ {told}"


def _bar(found: Estimate, low: float, high: float) -> Bar | None:
    if found.mean is None or high <= low:
        return None

    def place(value: float) -> float:
        return round(100 * (min(max(value, low), high) - low) / (high - low), 2)

    zero, end, se = place(0.0), place(found.mean), found.se or 0.0
    return Bar(
        left=min(zero, end),
        width=round(abs(end - zero), 2),
        low=place(found.mean - se),
        high=place(found.mean + se),
    )
