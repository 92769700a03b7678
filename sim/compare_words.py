"""The verdict in plain sentences: who wins, at what price, where it flips, what to beware of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sim.compare import Comparison
from sim.compare_axes import Axis
from sim.compare_differences import unpaired
from sim.compare_front import TTFT, Winner, front_points, welfare_metric, winners
from sim.compare_keys import short, word
from sim.compare_stats import Interval, interval_of

__all__ = ["cautions", "reading"]

#: Trials below which an interval is said to be a rough one.
FEW = 5
_MINUS = "\N{MINUS SIGN}"


def reading(comparison: Comparison) -> tuple[str, ...]:
    """One sentence or two a point, in the order in which a reader asks."""
    who = winners(comparison)
    if not who:
        return (_nothing_to_compare(comparison),)
    wins = Counter(each.contender for each in who)
    best = max(wins, key=lambda name: (wins[name], -comparison.contenders.index(name)))
    return (
        " ".join((_welfare(comparison, who, wins, best), *_price(comparison, best))),
        " ".join((*_flips(comparison, who, wins), *_front(comparison))),
    )


def cautions(comparison: Comparison) -> Iterator[str]:
    """What a careful reader must know before quoting a number."""
    counts = sorted({len(row.trials) for setting in comparison.settings for row in setting.rows.values()})
    if counts[0] == 1:
        yield "One trial only somewhere: without repetition there is no interval, and a difference may be luck."
    elif counts[0] < FEW:
        yield (
            f"Few trials (n = {counts[0]}): t intervals are wide and lean on normality, and bootstrap intervals are "
            "too narrow, for they never leave the range of the trials. Run more trials before quoting."
        )
    if apart := unpaired(comparison):
        names = ", ".join(dict.fromkeys(name for _, name in apart))
        yield (
            f"Not paired: {names} and {comparison.baseline} met different requests (another workload or seed) at "
            f"{_settings(len({id(setting) for setting, _ in apart}))}; no difference is computed there."
        )
    alone = [setting for setting in comparison.settings if comparison.baseline not in setting.rows and setting.rows]
    if alone and len(comparison.contenders) > 1:
        yield f"Not paired: {comparison.baseline} was not run at {_settings(len(alone))}."
    if (found := comparison.repeats).repeated:
        of = f"{found.repeated:,} of {found.points:,} points"
        yield f"{of} repeat another one, trial for trial: each is counted once."
    missing = [gap for source in comparison.sources for gap in source.missing]
    if missing:
        cells = "1 cell has" if len(missing) == 1 else f"{len(missing):,} cells have"
        yield f"{cells} no result: listed below, and left out of every average."
    for source in comparison.sources:
        if source.status not in ("complete", "partial"):
            yield f"{source.folder.name} is {source.status}: what had been recorded by then is compared."
    versions = {str((source.card.get("versions") or {}).get("inference-auctions")) for source in comparison.sources}
    if len(versions) > 1:
        yield f"Made by different versions of inference-auctions ({', '.join(sorted(versions))})."
    if mixed := _confounded(comparison):
        yield f"{comparison.by} changes together with {_some(mixed)}: their effects cannot be told apart."
    for axis in comparison.axes:
        if axis.companions:
            yield f"{axis.key} changes together with {_some(axis.companions)}: their effects cannot be told apart."


def _confounded(comparison: Comparison) -> list[str]:
    """Where values of a key are compared: other keys that change exactly with it."""
    if comparison.by == "schedule":
        return []
    values: dict[str, dict[str, set[str]]] = {}
    for setting in comparison.settings:
        for name, row in setting.rows.items():
            for key, value in row.facts.items():
                values.setdefault(key, {}).setdefault(name, set()).add(word(value))
    own = f"{comparison.by}."  # what lies inside a block that is compared is that block
    others = {k: v for k, v in values.items() if k not in ("name", comparison.by) and not k.startswith(own)}
    return [
        key
        for key, found in others.items()
        if all(len(each) == 1 for each in found.values()) and len(set().union(*found.values())) > 1
    ]


def _nothing_to_compare(comparison: Comparison) -> str:
    if len(comparison.contenders) == 1:
        return f"Only {comparison.contenders[0]} was run: there is nobody to compare it with. See how it moves below."
    return "No two of them were measured at the same setting, so no difference can be put down to them."


def _welfare(comparison: Comparison, who: Sequence[Winner], wins: Counter[str], best: str) -> str:
    told = sum(each.margin.told is True for each in who if each.contender == best)
    if len(who) == 1:
        level = comparison.estimate(who[0].setting, best, welfare_metric(comparison))
        lead = f"{best} has the highest welfare, {_level(comparison, level)}"
        return f"{lead}{'' if told else f', though no difference to {who[0].runner_up} can be told'}."
    if wins[best] == len(who):
        lead = f"{best} has the highest welfare at all {len(who):,} settings"
    else:
        others = ", ".join(f"{name} at {count:,}" for name, count in wins.most_common() if name != best)
        lead = f"{best} has the highest welfare at {wins[best]:,} of {len(who):,} settings, {others}"
    if told == wins[best]:
        return f"{lead}, each time by more than chance explains."
    return f"{lead}; its lead over the runner-up can be told from chance at {told:,} of its {wins[best]:,}."


def _price(comparison: Comparison, best: str) -> Iterator[str]:
    """The winner against the baseline, or against the next best where it is the baseline itself."""
    metric = welfare_metric(comparison)
    rival = comparison.baseline if comparison.baseline != best else _next_best(comparison, best)
    pair = comparison.against(rival)

    def gap(name: str) -> Interval:
        return interval_of(pair.mean_differences(comparison.settings, best, name))

    welfare, ttft, hits = gap(metric), gap(TTFT), gap("hit_rate")
    if welfare.mean is None:
        return
    if all(found.mean in (0, None) and not found.se for found in (welfare, ttft, hits)):
        yield f"Nothing tells it from {rival}: welfare, mean TTFT and hit rate are the same in every trial."
        return
    over = "" if len(comparison.settings) == 1 else " on average over the settings"
    unit, digits = ("pp", 1) if metric != "welfare" else ("", 4)
    yield f"Against {rival},{over} its welfare is {_change(welfare, 1.0, unit, digits)};"
    prices = []
    if ttft.mean is not None:
        scale, name = (1e-3, "s") if abs(ttft.mean) >= 10_000 else (1.0, "ms")
        ratio = _ratio(comparison, best, rival)
        prices.append(f"mean TTFT{ratio} {_change(ttft, scale, name, 1 if scale < 1 else 0)}")
    if hits.mean is not None:
        prices.append(f"hit rate {_change(hits, 100.0, 'pp', 1)}")
    costs = (ttft.mean or 0.0) > 0 or (hits.mean or 0.0) < 0
    lead = "the price" if costs else "at no price"
    yield f"{lead}: {' and '.join(prices)}." if prices else "TTFT and hit rate were not measured."
    yield f"(In brackets 95 % t intervals over {welfare.n} paired trials.)" if welfare.n > 1 else "(One trial.)"


def _next_best(comparison: Comparison, best: str) -> str:
    metric, settings = welfare_metric(comparison), comparison.complete or comparison.settings
    means = {name: comparison.average(settings, name, metric).mean for name in comparison.contenders if name != best}
    return max(means, key=lambda name: (means[name] is not None, means[name] or 0.0))


def _ratio(comparison: Comparison, best: str, rival: str) -> str:
    both = [setting for setting in comparison.settings if {best, rival} <= setting.rows.keys()]
    ours, theirs = (comparison.average(both, name, TTFT).mean for name in (best, rival))
    return f" × {ours / theirs:.2f}," if ours and theirs else ""


def _flips(comparison: Comparison, who: Sequence[Winner], wins: Counter[str]) -> Iterator[str]:
    if len(who) == 1:
        return
    if len(wins) == 1:
        yield "It does not flip: the winner is the same at every setting."
        return
    told = [text for axis in comparison.axes if (text := _along(comparison, axis))]
    yield from told
    if not told:
        yield "On average over the others, no single axis flips the winner: it takes a combination; see the map."


def _along(comparison: Comparison, axis: Axis) -> str:
    """Who wins along an axis, averaged over the rest; empty where it is one and the same."""
    place, metric = comparison.axes.index(axis), welfare_metric(comparison)
    runs: list[tuple[str, list[str]]] = []
    for value in axis.values:
        settings = [setting for setting in comparison.complete if word(setting.values[place]) == word(value)]
        means = [(comparison.average(settings, name, metric).mean, name) for name in comparison.contenders]
        known = [(mean, name) for mean, name in means if mean is not None]
        if not known:
            continue
        winner = max(known, key=lambda pair: pair[0])[1]
        if runs and runs[-1][0] == winner:
            runs[-1][1].append(short(value))
        else:
            runs.append((winner, [short(value)]))
    if len({winner for winner, _ in runs}) < 2:
        return ""
    parts = [f"{winner} at {_span(texts, numeric=axis.numeric)}" for winner, texts in runs]
    return f"Over {axis.key} it flips: {', '.join(parts)}."


def _front(comparison: Comparison) -> Iterator[str]:
    points = front_points(comparison)
    on = dict.fromkeys(point.contender for point in points if not point.dominated)
    off = [name for name in comparison.contenders if name not in on]
    if on and off and len(comparison.contenders) > 1:
        yield f"Never on the front of welfare against mean TTFT: {', '.join(off)}."
    elif on and len(comparison.contenders) > 1:
        yield "On welfare and mean TTFT at once, each has a setting at which nothing beats it."


def _span(texts: Sequence[str], *, numeric: bool) -> str:
    if len(texts) == 1:
        return texts[0]
    return f"{texts[0]} to {texts[-1]}" if numeric else " and ".join(texts)


def _level(comparison: Comparison, found: Interval) -> str:
    over = welfare_metric(comparison) != "welfare"
    mean = f"{found.mean:+,.1f} % over a random order" if over else f"{found.mean:,.4g}"
    ends = "" if found.low is None or found.high is None else f" ({found.low:+,.1f} to {found.high:+,.1f})"
    return f"{mean}{ends}".replace("-", _MINUS)


def _change(found: Interval, scale: float, unit: str, digits: int) -> str:
    """A signed difference with its interval, or that none can be told."""

    def told(value: float | None) -> str:
        return f"{(value or 0.0) * scale:+,.{digits}f}".replace("-", _MINUS)

    tail = f" {unit}" if unit else ""
    if found.mean == 0 and found.se in (None, 0):
        return "the same"
    if found.low is None or found.high is None:
        return f"{told(found.mean)}{tail}"
    inside = f"{told(found.mean)}{tail} ({told(found.low)} to {told(found.high)})"
    return inside if found.told else f"no different as far as can be told: {inside}"


def _settings(count: int) -> str:
    return "1 setting" if count == 1 else f"{count:,} settings"


def _some(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
