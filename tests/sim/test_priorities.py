"""Where the server's own queue is the mechanism: what the market hands over, and which servers may be asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from market_kit import FixedServer, run_market, table

from backends.openai import Openai
from backends.simulated import Simulated
from mechanism.pricing.free import Free
from mechanism.prompts import IntArray
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.priority_preemptive import PriorityPreemptive
from sim.errors import InvariantError, ScenarioError
from sim.scenario import load_scenario
from sim.simulate import run

MS = 1_000_000
BACKENDS = {"simulated": Simulated, "openai": Openai}


class QueueingServer(FixedServer):
    """Remembers what it is told of priorities, and when."""

    told: list[object]

    def order_by_priority(self, preempts_above: int | None) -> None:
        self.told = [preempts_above]

    def prioritise(self, requests: Sequence[int], priorities: IntArray) -> None:
        self.told.append(dict(zip(requests, priorities.tolist(), strict=True)))

    def submit(self, requests: Sequence[int]) -> None:
        self.told.append(list(requests))
        super().submit(requests)


def test_a_batch_goes_to_the_server_whole_with_its_priorities() -> None:
    server = QueueingServer(10 * MS)
    log = run_market(
        table([0, 0, 0, 5 * MS], [1.0, 3.0, 2.0, 9.0]), server, size=3, in_flight=1,
        schedule=PriorityPreemptive(threshold=4), pricing=Free(),
    )  # fmt: skip
    assert server.told == [4, {1: 30, 2: 20, 0: 10}, [1, 2, 0], {3: 90}, [3]]
    assert log.dispatch_ns == [0, 0, 0, 5 * MS]


def test_other_rules_hold_the_rest_back_and_say_nothing_of_priorities() -> None:
    server = QueueingServer(10 * MS)
    server.told = []
    run_market(table([0, 0], [1.0, 3.0]), server, size=2, in_flight=1, schedule=BidSort())
    assert server.told == [[1], [0]]


def test_a_server_without_priorities_is_not_asked() -> None:
    with pytest.raises(InvariantError, match="FixedServer takes no priorities"):
        run_market(table([0], [1.0]), FixedServer(MS), schedule=PriorityPreemptive(), pricing=Free())


SCENARIO = """\
name: priorities
seed: 3
workload: {kind: stars, num_requests: 60, output_tokens: 32, prefix_tokens: 90, question_tokens: 20, cluster_size: 4,
  singleton_tokens: 100}
arrivals: {kind: poisson, request_rate: 4.0}
batching: {size: 16, max_wait_s: 0.0}
schedule: [dfs-bid, priority-preemptive, {use: priority-preemptive, label: patient, preempt: false}, no-sort]
dispatch: {in_flight: 2}
backend: {use: simulated, max_running_requests: 2}
"""


def refusal(folder: Path, *overrides: str) -> str:
    path = folder / "s.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path, BACKENDS, overrides=overrides)
    return str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["backend={use: openai, url: 'http://127.0.0.1:1'}"],
            'backend.use: found "openai" under the schedule "priority-preemptive"; expected a backend that lets '
            "requests have priorities: simulated.",
        ),
        (
            ["backend.engine='0.5.9'"],
            'backend.engine: found "0.5.9" with priorities under the schedule "priority-preemptive"; expected "0.5.23"'
            ". SGLang 0.5.9 can lose a request it has preempted: its client would wait for ever.",
        ),
        (
            ["backend.schedule_policy=lpm"],
            'backend.schedule_policy: found "lpm" with priorities under the schedule "priority-preemptive"; expected '
            "fcfs or lof.",
        ),
        (["schedule={use: priority-preemptive, scale: 0.0}"], "expected a scale above 0, not 0.0"),
    ],
)
def test_what_has_no_such_queue_is_refused_at_check(tmp_path: Path, overrides: list[str], message: str) -> None:
    assert message in refusal(tmp_path, *overrides)


def test_other_schedules_may_use_any_server(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    load_scenario(path, BACKENDS, overrides=["schedule=dfs-bid", "backend.engine='0.5.9'"])


def test_a_run_counts_preemptions_as_retractions_and_changes_who_waits(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    scenario = load_scenario(path, BACKENDS)
    frame = pl.concat(run(scenario, scenario.backend.config).frames["requests"])
    assert frame["status"].unique().to_list() == ["ok"]
    sent_back = dict(frame.group_by("schedule").agg(pl.col("num_retractions").sum()).iter_rows())
    assert sent_back.pop("priority-preemptive") > 0
    assert set(sent_back.values()) == {0}
    assert (frame["cached_tokens"] < frame["prompt_tokens"]).all()
    first = frame.filter(pl.col("bid") >= frame["bid"].quantile(0.9)).group_by("schedule").agg(pl.col("ttft_s").mean())
    waits = dict(first.iter_rows())
    assert waits["priority-preemptive"] < waits["patient"] < waits["no-sort"]
    assert frame.filter(pl.col("schedule") == "priority-preemptive")["payment"].sum() == 0
