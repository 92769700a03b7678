"""What each figure shows: its panels, their points, and the scenario behind every point.

A point that two figures share is one `Experiment`, so it runs once. n = 1,024 is Q: one auction over the whole queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sim.reproduce.engine_settings import SETTINGS, EngineSetting
from sim.reproduce.text_source import TextSource
from sim.scenario import Scenario, load_scenario

__all__ = [
    "BATCH_SIZES",
    "CORRELATIONS",
    "FIGURES",
    "PACING",
    "QUEUE",
    "SHAPES",
    "SHARING",
    "Experiment",
    "Figure",
    "Panel",
    "PanelPoint",
    "one_cluster",
    "scenario_of",
    "stars",
]

QUEUE = 1024
BATCH_SIZES = (32, 64, 128, 256, 512, QUEUE)
SHARING = (0.1, 0.3, 0.5, 0.7, 0.9)
CORRELATIONS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Experiment:
    """One scenario but for the engine's setting: a shape of `TextSource`, and what is changed in it."""

    shape: str
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PanelPoint:
    """One point of a panel: where it stands (None: a name is all it has), what it is called, what it runs."""

    x: float | None
    label: str
    experiment: Experiment


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One column of a figure: what is varied, and over which points."""

    key: str
    title: str
    axis: str
    points: tuple[PanelPoint, ...]
    logarithmic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure of the paper.

    Attributes
    ----------
    settings : in which it runs; budgets are settled by the auction alone, so Figure 4 needs one.
    also : experiments that are not drawn but read by a claim.
    """

    name: str
    title: str
    panels: tuple[Panel, ...]
    settings: tuple[EngineSetting, ...] = SETTINGS
    also: tuple[Experiment, ...] = ()

    def experiments(self) -> tuple[Experiment, ...]:
        """All of them, each once, in order."""
        drawn = [point.experiment for panel in self.panels for point in panel.points]
        return tuple(dict.fromkeys([*drawn, *self.also]))


def stars(n: int, sharing: float = 0.5, correlation: float = 0.0) -> Experiment:
    """mixshare-P in batches of n, with correlation ρ of the values inside a cluster."""
    keys = {"batching.size": n, "workload.sharing": sharing, "values.correlation": correlation}
    return Experiment("stars", tuple(f"{key}={value}" for key, value in keys.items()))


def one_cluster(n: int) -> Experiment:
    """mixshare-50 in batches of n; one cluster bids, everybody else bids zero."""
    return Experiment("one-cluster", (f"batching.size={n}",))


#: Figure 2's shapes at n = Q; stars are mixshare-50.
SHAPES: Mapping[str, Experiment] = {
    "stars": stars(QUEUE),
    "chains": Experiment("chains", (f"batching.size={QUEUE}",)),
    "short trees": Experiment("short-tree", (f"batching.size={QUEUE}",)),
    "long trees": Experiment("long-tree", (f"batching.size={QUEUE}",)),
}
#: Figure 4's shapes: 60 auctions of 64 requests.
PACING: Mapping[str, Experiment] = {name: Experiment(f"pacing-{name}") for name in ("stars", "chains", "trees")}


def _batch_sizes(experiments: Sequence[Experiment]) -> Panel:
    named = zip(BATCH_SIZES, experiments, strict=True)
    points = tuple(PanelPoint(n, f"n = {n:,}" + (" = Q" if n == QUEUE else ""), each) for n, each in named)
    return Panel(key="n", title="batch size", axis="batch size n", points=points, logarithmic=True)


_SHARING = Panel(
    key="P",
    title="sharing fraction, n = 256",
    axis="requests that share a prefix, P (%)",
    points=tuple(PanelPoint(100 * p, f"P = {100 * p:.0f} %", stars(256, sharing=p)) for p in SHARING),
)
_CORRELATION = Panel(
    key="rho",
    title="correlation of bids in a cluster, n = Q",
    axis="correlation ρ",
    points=tuple(PanelPoint(rho, f"ρ = {rho:g}", stars(QUEUE, correlation=rho)) for rho in CORRELATIONS),
)


def _by_name(key: str, title: str, experiments: Mapping[str, Experiment]) -> Panel:
    points = tuple(PanelPoint(None, name, each) for name, each in experiments.items())
    return Panel(key=key, title=title, axis="", points=points)


FIGURES: Mapping[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure(
            name="fig1",
            title="Figure 1 · Stars",
            panels=(_batch_sizes([stars(n) for n in BATCH_SIZES]), _SHARING, _CORRELATION),
        ),
        Figure(name="fig2", title="Figure 2 · Shapes", panels=(_by_name("shapes", "shape, n = Q", SHAPES),)),
        Figure(
            name="fig3",
            title="Figure 3 · One cluster bids",
            panels=(_batch_sizes([one_cluster(n) for n in BATCH_SIZES]),),
        ),
        Figure(
            name="fig4",
            title="Figure 4 · Autobidding",
            panels=(_by_name("budgets", "shape", PACING),),
            settings=SETTINGS[:1],
        ),
        Figure(name="runtime", title="Run time of the auction", panels=(), also=(stars(QUEUE),)),
    )
}


def scenario_of(
    experiment: Experiment,
    setting: EngineSetting,
    text: TextSource,
    backend_types: Mapping[str, type],
    *,
    seed: int,
    trials: int,
) -> Scenario:
    """The scenario of an experiment in a setting of the engine."""
    name, overrides = text.scenarios[experiment.shape]
    changes = (*overrides, *experiment.overrides, *setting.overrides)
    return load_scenario(name, backend_types, changes, seed=seed, trials=trials)
