"""Agents inside a run: populations, the truthful reference, budgets that hold, and the columns that say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from market_kit import FixedServer, run_market, table

import sim.scenario
from backends.simulated import Simulated
from mechanism.bidding.truthful import Truthful
from mechanism.pricing.free import Free
from mechanism.pricing.pay_as_bid import PayAsBid
from mechanism.prompts import Prompts
from mechanism.scheduling.bid_sort import BidSort
from sim.auctioneer import Auctioneer, TreeCache
from sim.bidding_setup import Reference
from sim.run_log import RunLog
from sim.simulate import RunResult, run

BASE = """\
name: paced
workload: {{kind: trees, num_requests: 96, depth: 3, root_tokens: 8, step_tokens: 4}}
users: {{kind: random, count: 6}}
arrivals: {arrivals}
batching: {{size: 8, max_wait_s: 0.01}}
schedule: [{{use: dfs-bid, label: truth}}, {{use: dfs-bid, label: paced}}]
bidding: {{paced: {bidding}}}
backend: {{use: simulated, kv_tokens: 2000}}
"""
SATURATED, OPEN = "saturated", "{kind: poisson, request_rate: 400.0}"


def simulate(folder: Path, bidding: str, arrivals: str = SATURATED, *overrides: str) -> RunResult:
    path = folder / "scenario.yaml"
    path.write_text(BASE.format(bidding=bidding, arrivals=arrivals), encoding="utf-8")
    scenario = sim.scenario.load_scenario(path, {"simulated": Simulated}, overrides=overrides)
    return run(scenario, scenario.backend.config)


def frame(result: RunResult, name: str, schedule: str) -> pl.DataFrame:
    return pl.concat(result.frames[name]).filter(pl.col("schedule") == schedule)


def spend(result: RunResult, schedule: str) -> dict[str, float]:
    paid = frame(result, "payments", schedule).group_by("user").agg(pl.col("payment").sum())
    return dict(paid.iter_rows())


@pytest.mark.parametrize("arrivals", [SATURATED, OPEN])
def test_budgets_are_fractions_of_what_truth_costs_and_hold(tmp_path: Path, arrivals: str) -> None:
    result = simulate(tmp_path, "{use: pacing, budget: {kind: truthful-fraction, fraction: [0.1, 1.0]}}", arrivals)
    truthful = spend(result, "truth")
    payments = frame(result, "payments", "paced")
    at_first = payments.group_by("user", maintain_order=True).first()
    budget = {row["user"]: row["budget_left"] + row["payment"] for row in at_first.iter_rows(named=True)}
    fractions = sorted(budget[user] / truthful[user] for user in budget)
    assert fractions == pytest.approx([0.1, 0.28, 0.46, 0.64, 0.82, 1.0])
    for user, rows in payments.group_by("user"):
        assert np.cumsum(rows["payment"].to_numpy()).max() <= budget[str(user[0])]
    assert payments["budget_left"].min() >= 0
    assert payments["multiplier"].max() == 1.0
    assert payments["multiplier"].min() < 0.9
    assert frame(result, "payments", "truth")["budget_left"].null_count() == len(frame(result, "payments", "truth"))


def test_what_is_bid_is_the_multiplier_times_the_value(tmp_path: Path) -> None:
    result = simulate(tmp_path, "[{use: pacing, budget: 0.5, share: 0.5}, {use: shading, factor: 0.25}]")
    requests, payments = frame(result, "requests", "paced"), frame(result, "payments", "paced")
    joined = requests.join(payments.select("user", "batch", "multiplier"), on=["user", "batch"])
    assert len(joined) == len(requests)
    assert (joined["bid"] - joined["multiplier"] * joined["value"]).abs().max() < 1e-12
    shaded = payments.filter(pl.col("budget_left").is_null())
    assert shaded["user"].n_unique() == 3
    assert set(shaded["multiplier"]) == {0.25}


def test_every_trial_and_mechanism_starts_afresh_on_the_same_population(tmp_path: Path) -> None:
    bidding = "[{use: pacing, budget: {kind: uniform, low: 0.1, high: 3.0}, share: 0.5}, truthful]"
    both = ["schedule=[{use: dfs-bid, label: paced}, {use: dfs-bid, label: again}]", f"bidding={bidding}"]
    result = simulate(tmp_path, bidding, SATURATED, *both)
    first, again = (frame(result, "payments", label).drop("schedule") for label in ("paced", "again"))
    assert first.equals(again)


def test_an_open_run_is_measured_truthfully_before(tmp_path: Path) -> None:
    # Half the truthful spend, measured on the same arrivals: what the truthful schedule of the run pays.
    result = simulate(tmp_path, "{use: pacing, budget: {kind: truthful-fraction, fraction: 0.5}}", OPEN)
    truthful, payments = spend(result, "truth"), frame(result, "payments", "paced")
    for row in payments.group_by("user").first().iter_rows(named=True):
        assert row["budget_left"] + row["payment"] == pytest.approx(truthful[row["user"]] / 2)


class Recorder:
    """A schedule in arrival order that remembers what it was told."""

    domain, bid_blind, default_payment = None, True, "free"
    reads = frozenset({"resident_tokens", "served_tokens"})

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def order(self, auction: Any) -> Any:
        self.seen.append((auction.prompt_tokens, auction.resident_tokens, auction.served_tokens))
        return np.arange(len(auction))


def test_rules_are_told_of_tokens_served_and_resident() -> None:
    # The same prompt of 5 tokens twice for user 0, then a longer one for user 1 that begins with it; batches of 1.
    prompts = Prompts.from_lists([[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6, 7]])
    requests = table([0, 0, 0], [1.0, 1.0, 1.0], users=[0, 0, 1], prompts=prompts)
    recorder = Recorder()
    run_market(requests, Simulated(kv_tokens=100).create(requests), size=1, schedule=recorder, pricing=Free())
    lengths, resident, served = ([seen.tolist() for seen in column] for column in zip(*recorder.seen, strict=True))
    assert lengths == [[5], [5], [7]]
    # One prompt may reuse all but its last token. An auction is held once its predecessor's batch is dispatched, so the
    # second is held while the first request runs.
    assert resident[0] == [0]
    assert resident[-1] == [5]
    assert served[0] == [0]
    assert served[-1] == [0]  # user 1 was not served before


def test_served_tokens_add_up() -> None:
    prompts = Prompts.from_lists([[1] * 5, [2] * 7, [3] * 2])
    requests = table([0, 0, 10**9], [1.0, 1.0, 1.0], users=[0, 0, 0], prompts=prompts)
    recorder = Recorder()
    run_market(requests, FixedServer(10), size=2, schedule=recorder, pricing=Free())
    assert [seen[2].tolist() for seen in recorder.seen] == [[0], [14]]  # 5 + 7 prompt tokens and one output each
    assert [seen[1] for seen in recorder.seen] == [None, None]  # this server does not say


def test_a_reference_adds_up_what_users_pay() -> None:
    requests = table([0, 0, 0, 0], [3.0, 2.0, 1.0, 4.0], users=[0, 1, 0, 2])
    log = RunLog.of(4)
    auctioneer = Auctioneer(requests, BidSort(), PayAsBid(), Truthful(), TreeCache(), log)
    for batch in ([0, 1], [2, 3]):
        auctioneer.hold(np.array(batch), 0)
    reference = Reference.of(log, 3)
    assert (reference.num_auctions, reference.spend.tolist()) == (2, [3.0, 0.0, 4.0])
