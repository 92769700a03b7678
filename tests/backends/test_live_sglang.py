"""The live backend against a server that does what SGLang does."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fake_server import FakeServer, fake_server, healthy
from faults_kit import SMALL, on, rows

from backends.simulated import Simulated
from sim.scenario import load_scenario
from sim.simulate import RunResult, run


def test_every_request_is_served_and_timed(tmp_path: Path) -> None:
    with fake_server() as fake:
        result = on(tmp_path, fake.url)
    frame = rows(result)
    assert set(frame["status"]) == {"ok"}
    assert set(frame["output_tokens"]) == {4}
    for row in frame.to_dicts():
        assert row["arrival_s"] <= row["dispatch_s"] <= row["first_token_s"] <= row["finish_s"]
        assert row["server_ttft_s"] == pytest.approx(row["first_token_s"] - row["dispatch_s"], abs=1e-9)
        assert row["client_queue_time_s"] == pytest.approx(row["dispatch_s"] - row["arrival_s"], abs=1e-9)
    assert result.warnings == []
    assert result.status == "complete"


def test_cached_tokens_are_the_servers(tmp_path: Path) -> None:
    with fake_server() as fake:
        frame = rows(on(tmp_path, fake.url))
    later_of_cluster = 12 // 2 - 2  # two clusters of four among six clustered requests: 4 + 2, first of each is cold
    assert (frame["cached_tokens"] >= 30).sum() == later_of_cluster


def test_records_have_the_columns_of_a_simulation(tmp_path: Path) -> None:
    with fake_server() as fake:
        live = on(tmp_path, fake.url)
    simulated = simulate(tmp_path)
    for name in ("requests", "auctions", "payments"):
        assert live.frames[name][0].schema == simulated.frames[name][0].schema
    assert live.frames["auctions"][0]["auction_ms"].null_count() == 0
    assert simulated.frames["auctions"][0]["auction_ms"].null_count() == 2


def simulate(folder: Path) -> RunResult:
    path = folder / "simulated.yaml"
    path.write_text(f"{SMALL}backend: simulated\n", encoding="utf-8")
    scenario = load_scenario(path, {"simulated": Simulated})
    return run(scenario, scenario.backend.config)


def test_all_at_once_is_one_list_in_schedule_order(tmp_path: Path) -> None:
    with fake_server() as fake:
        frame = rows(on(tmp_path, fake.url, "sglang", "dispatch.in_flight=null", "batching.size=12"))
        (body,) = fake.bodies
    lengths = frame.sort("position")["prompt_tokens"].to_list()
    assert [len(prompt) for prompt in body["input_ids"]] == lengths
    assert [each["ignore_eos"] for each in body["sampling_params"]] == [True] * 12


def test_requests_are_sent_one_after_another(tmp_path: Path) -> None:
    """Prompts of half a megabyte, more than a socket takes at once, submitted while earlier ones are under way."""
    big = SMALL.replace("singleton_tokens: 40", "singleton_tokens: 80000").replace("_tokens: 30", "_tokens: 70000")
    with fake_server(info={"max_total_num_tokens": 10**9}, context_tokens=10**6) as fake:
        frame = rows(on(tmp_path, fake.url, "sglang", "dispatch.in_flight=12", "batching.size=1", text=big))
        bodies = sorted(fake.bodies, key=lambda body: body["connection"])
    assert [len(body["input_ids"]) for body in bodies] == frame.sort("dispatch_s")["prompt_tokens"].to_list()
    assert frame.sort("dispatch_s")["batch"].to_list() == list(range(12))


def test_the_cache_is_emptied_before_every_cell(tmp_path: Path) -> None:
    both = SMALL.replace("[dfs-bid]", "[no-sort, {use: no-sort, label: again}]")
    with fake_server() as fake:
        frame = rows(on(tmp_path, fake.url, "sglang", "trials=2", text=both))
        assert fake.flushes == 4
    by_cell = frame.group_by("schedule", "trial").agg(pl.col("cached_tokens").sum())
    assert by_cell.group_by("trial").agg(pl.col("cached_tokens").n_unique())["cached_tokens"].to_list() == [1, 1]


def test_the_order_of_cells_changes_no_hit_rate(tmp_path: Path) -> None:
    """CASES B 8: one long-lived server that keeps a cache."""
    for use, can_flush in (("sglang", True), ("openai", True), ("openai", False)):
        found = []
        for order in ("[dfs-bid, bid-sort, no-sort]", "[no-sort, bid-sort, dfs-bid]"):
            with fake_server(can_flush=can_flush) as fake:
                frame = rows(
                    on(tmp_path, fake.url, use, "dispatch.in_flight=1", text=SMALL.replace("[dfs-bid]", order))
                )
            hits = frame.group_by("schedule").agg(pl.col("cached_tokens").sum())
            found.append(dict(hits.iter_rows()))
        assert found[0] == found[1]
        assert all(hits > 0 for hits in found[0].values())


def test_four_trials_send_different_prompts(tmp_path: Path) -> None:
    """CASES B 9: no two streams of random numbers are the same one."""
    alone = SMALL.replace("num_requests: 12", "num_requests: 100, sharing: 0.0")
    with fake_server() as fake:
        frame = rows(
            on(tmp_path, fake.url, "sglang", "trials=4", "dispatch.in_flight=null", "batching.size=100", text=alone)
        )
        values = frame.group_by("trial", maintain_order=True).agg(pl.col("value"))["value"].to_list()
        assert len(fake.bodies) == 4
    assert all(first != second for first, second in itertools.combinations(values, 2))


def test_somebody_elses_requests_are_noticed(tmp_path: Path) -> None:
    def intrude(fake: FakeServer, number: int, body: dict[str, Any]) -> Iterable[Any]:
        fake.counters["num_requests"] += number == 3
        return healthy(fake, number, body)

    with fake_server(intrude) as fake:
        result = on(tmp_path, fake.url)
    assert result.warnings == ["Somebody else sent 1 requests to the server during the run."]
