"""The auctions of a run, rebuilt: prompts from the scenario, bids from the records.

A run folder holds no prompts. Its `scenario.yaml` makes the same requests again (every draw has a stream of its own),
and what the records say of each request is compared, so that a workload file that has changed is noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanism.dfs import averages, families_in, weight_totals
from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import RadixTree, build_tree
from sim.errors import ScenarioError, did_you_mean
from sim.kappa import PricedBatch
from sim.population import Population
from sim.requests import RequestTable
from sim.run_files import read_table, run_file
from sim.scenario import Scenario, load_scenario

if TYPE_CHECKING:
    import polars as pl

__all__ = ["priced_batches"]

#: What is read, by type.
_REQUESTS = {"str": "request_id schedule", "int": "trial batch position prompt_tokens", "real": "arrival_s value bid"}
_AUCTIONS = {"str": "schedule", "int": "trial batch tree_nodes"}
#: The rule that serves in the order the theorem speaks of.
_AVERAGE_BID = "dfs-bid"
_ROUNDING = 1e-12  # relative


def priced_batches(
    folder: Path, backend_types: Mapping[str, type[Any]], schedule: str | None = None
) -> Iterator[PricedBatch]:
    """Every auction of a run, or of its schedule with this label, by schedule, trial and batch.

    Requests of a batch stand in the order in which average-bid DFS served them; under other rules by arrival, then in
    table order. So ties are broken as they were.

    Raises
    ------
    ScenarioError
        No run folder, requests that the scenario no longer makes, or no schedule of that label.
    """
    import polars as pl

    scenario = load_scenario(run_file(folder, "scenario.yaml"), backend_types)
    labels = [entry.label for entry in scenario.schedules]
    if schedule is not None and schedule not in labels:
        hint = did_you_mean(schedule, labels)
        raise ScenarioError("--schedule", f'"{schedule}"', f"a schedule of {folder}", hint)
    rows = read_table(folder, "requests.parquet", _types(_REQUESTS))
    auctions = read_table(folder, "auctions.parquet", _types(_AUCTIONS))
    population = Population(scenario)
    tables = {trial: population.requests(trial)[0] for trial in rows["trial"].unique().sort().to_list()}
    for entry in (each for each in scenario.schedules if schedule in (None, each.label)):
        for trial, requests in tables.items():
            cell = (pl.col("schedule") == entry.label) & (pl.col("trial") == trial)
            mine = rows.filter(cell)
            if not len(mine):
                continue  # an interrupted run: this schedule never began
            rebuilt = _Cell(folder, scenario, requests, mine, entry.label, trial, entry.use == _AVERAGE_BID)
            rebuilt.check()
            nodes = auctions.filter(cell)
            yield from rebuilt.batches(dict(zip(nodes["batch"].to_list(), nodes["tree_nodes"].to_list(), strict=True)))


@dataclass(frozen=True, slots=True)
class _Cell:
    """One schedule on one trial: the requests made again, and the rows recorded."""

    folder: Path
    scenario: Scenario
    requests: RequestTable
    rows: pl.DataFrame
    label: str
    trial: int
    by_average_bid: bool

    def check(self) -> None:
        """Refuse requests that are not those of the records."""
        ids = self.rows["request_id"].to_list()
        if ids != list(self.requests.request_id):
            raise self._changed(f"{len(ids):,} requests", f"{len(self.requests):,}, or others")
        columns: tuple[tuple[str, IntArray | FloatArray], ...] = (
            ("prompt_tokens", self.requests.prompt_tokens),
            ("value", self.requests.value),
        )
        for name, made in columns:
            recorded = self.rows[name].to_numpy()
            wrong = np.flatnonzero(recorded != made)
            if len(wrong):
                first = int(wrong[0])
                found = f'{name} {recorded[first]:g} for request "{ids[first]}"'
                raise self._changed(found, f"{made[first]:g}, as the scenario makes it now")

    def batches(self, tree_nodes: Mapping[int, int]) -> Iterator[PricedBatch]:
        """The auctions of the cell."""
        number = self.rows["batch"].fill_null(-1).to_numpy()
        by = (self.rows["position"].fill_null(-1) if self.by_average_bid else self.rows["arrival_s"]).to_numpy()
        order = np.lexsort((np.arange(len(number)), by, number))
        starts = np.searchsorted(number[order], np.arange(int(number.max(initial=-1)) + 2))
        bids = self.rows["bid"].to_numpy()
        for batch in range(len(starts) - 1):
            members = order[starts[batch] : starts[batch + 1]]
            yield self._batch(batch, members, bids[members], tree_nodes[batch])

    def _batch(self, batch: int, members: IntArray, bids: FloatArray, tree_nodes: int) -> PricedBatch:
        requests = self.requests
        tree = build_tree(requests.prompts.take(members))
        if tree.num_nodes != tree_nodes:
            raise self._changed(f"a prompt tree of {tree_nodes:,} nodes in batch {batch}", f"{tree.num_nodes:,}")
        if self.by_average_bid and not _is_average_bid_order(tree, bids):
            raise self._changed(f"an order that is no average-bid DFS in batch {batch}", "average-bid DFS")
        users, dense = np.unique(requests.user[members], return_inverse=True)
        return PricedBatch(
            tree=tree,
            bids=bids,
            values=requests.value[members],
            users=dense,
            user_names=tuple(requests.user_names[user] for user in users.tolist()),
            request_id=tuple(requests.request_id[member] for member in members.tolist()),
            schedule=self.label,
            trial=self.trial,
            batch=batch,
            by_average_bid=self.by_average_bid,
        )

    def _changed(self, found: str, expected: str) -> ScenarioError:
        where = f"{self.folder}/requests.parquet: schedule {self.label}, trial {self.trial}"
        path = getattr(self.scenario.workload, "path", None)
        what = f"{path} has changed" if path is not None else "The workload is another one"
        hint = f"{what} since this run, so its prompts cannot be had again; simulate anew."
        return ScenarioError(where, found, expected, hint)


def _is_average_bid_order(tree: RadixTree, bids: FloatArray) -> bool:
    """Whether requests 0, 1, … in this order are an average-bid DFS, up to the rounding of averages."""
    found = families_in(tree, np.arange(len(bids)))
    if found is None:
        return False
    average, parent = averages(tree, weight_totals(tree, bids))[found[0]], tree.parent[found[0]]
    rises = (average[1:] > average[:-1] * (1 + _ROUNDING)) & (parent[1:] == parent[:-1])
    return not rises.any()


def _types(columns: Mapping[str, str]) -> dict[str, pl.DataType]:
    import polars as pl

    types = {"str": pl.String(), "int": pl.Int64(), "real": pl.Float64()}
    return {name: types[kind] for kind, names in columns.items() for name in names.split()}
