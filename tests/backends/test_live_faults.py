"""What a server can do wrong is a status with a reason, never a success (CASES.md B and E)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fake_server import CUT, HANG, FakeServer, fake_server, healthy, sse, token_events
from faults_kit import on, rows, served

SOME = token_events(None, 3, 0)[:2]  # two tokens, and no end
DONE = sse("[DONE]")


def faulty(*steps: Any) -> Any:
    """Every fourth request goes wrong in this way; the others are served."""

    def script(fake: FakeServer, number: int, body: dict[str, Any]) -> Iterable[Any]:
        return steps if number % 4 == 1 else healthy(fake, number, body)

    return script


FAULTS = {
    "error at once": ((sse({"error": {"message": "out of memory"}}), DONE), "error", "out of memory"),
    "error in words": ((sse({"error": "no"}), DONE), "error", "no"),
    "error after tokens": ((*map(sse, SOME), sse({"error": "gone"}), DONE), "error", "gone (after 2 tokens)"),
    "nothing but the end": ((DONE,), "incomplete", "ended before"),
    "nothing at all": ((CUT,), "incomplete", "ended before"),
    "cut after tokens": ((*map(sse, SOME), CUT), "incomplete", "(after 2 tokens)"),
    "cut inside an event": ((sse(SOME[0]), sse(SOME[1])[:20], CUT), "incomplete", "(after 1 tokens)"),
    "given up": ((sse(token_events(None, 1, 0, "abort")[0]), DONE), "error", "gave it up"),
    "finished without a token": (
        (sse({"meta_info": {"completion_tokens": 0, "finish_reason": {"type": "length"}}}), DONE), "error", "no token",
    ),
    "no JSON": ((b"data: {tokens: 3}\n\n", DONE), "error", "no JSON"),
    "no object": ((sse([1]), DONE), "error", "no object"),
    "not what was promised": ((sse({"text": "hello"}), DONE), "error", "promises"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_answer_has_a_status_and_a_reason(fault: str, tmp_path: Path) -> None:
    steps, status, why = FAULTS[fault]
    with fake_server(faulty(*steps)) as fake:
        result = on(tmp_path, fake.url)
    broken = served(result, status)
    assert [len(broken), len(served(result, "ok"))] == [3, 9]
    for row in broken:
        assert why in row["error"]
        assert row["finish_s"] is None
    assert result.status == "complete"


def test_failures_are_outside_the_means_and_keep_what_their_auction_decided(tmp_path: Path) -> None:
    with fake_server(faulty(*map(sse, SOME), CUT)) as fake:
        result = on(tmp_path, fake.url)
    (metrics,) = result.trials["dfs-bid"]
    frame, payments = rows(result), pl.concat(result.frames["payments"])
    whole = frame.filter(pl.col("status") == "ok")
    assert metrics["mean_ttft_ms"] == pytest.approx(whole["ttft_s"].mean() * 1e3)
    assert frame["payment"].sum() == pytest.approx(payments["payment"].sum())
    assert frame["payment"].null_count() == 0
    failed = frame.filter(pl.col("status") != "ok")
    assert set(failed["output_tokens"]) == {2}
    assert failed["finish_s"].null_count() == 3


def test_a_request_that_gets_no_answer_times_out(tmp_path: Path) -> None:
    with fake_server(faulty(sse(SOME[0]), HANG)) as fake:
        result = on(tmp_path, fake.url, "sglang", "backend.request_timeout_s=0.3")
    late = served(result, "timeout")
    assert len(late) >= 3
    assert all("no whole answer within 0.3 s" in row["error"] for row in late)


def test_a_server_that_is_busy_is_asked_again(tmp_path: Path) -> None:
    with fake_server(refuses=2) as fake:
        result = on(tmp_path, fake.url, "sglang", "backend.retries=2")
    assert len(served(result, "ok")) == 12
    with fake_server(refuses=2) as fake:
        result = on(tmp_path, fake.url, "sglang", "backend.retries=0")
    assert [row["error"] for row in served(result, "error")] == ["the server answered 503 X: busy"] * 2


def test_a_request_that_may_have_begun_is_never_sent_again(tmp_path: Path) -> None:
    with fake_server(faulty(CUT)) as fake:
        on(tmp_path, fake.url, "sglang", "backend.retries=3")
        assert len(fake.bodies) == 12


def test_one_fault_in_a_list_is_not_everybodys(tmp_path: Path) -> None:
    """All at once in one stream: those that ended before the connection broke are whole."""

    def script(fake: FakeServer, number: int, body: dict[str, Any]) -> Iterable[Any]:
        steps = list(healthy(fake, number, body))
        return [*steps[:4], sse(token_events(1, 1, 0, "abort")[0]), *steps[8:14], CUT]

    with fake_server(script) as fake:
        frame = rows(on(tmp_path, fake.url, "sglang", "dispatch.in_flight=null", "batching.size=12"))
    assert frame.sort("position")["status"].to_list() == ["ok", "error", "ok", "incomplete"] + ["incomplete"] * 8
    assert frame.sort("position")["output_tokens"].to_list()[:4] == [4, 1, 4, 2]


def test_a_list_out_of_range_is_the_servers_fault(tmp_path: Path) -> None:
    def script(*_: Any) -> Iterable[Any]:
        return [sse(token_events(12, 1, 0)[0]), DONE]

    with fake_server(script) as fake:
        frame = rows(on(tmp_path, fake.url, "sglang", "dispatch.in_flight=null", "batching.size=12"))
    assert set(frame["status"]) == {"error"}


def test_an_answer_that_is_no_stream_is_an_error(tmp_path: Path) -> None:
    with fake_server(refuses=12) as fake:
        result = on(tmp_path, fake.url)
    assert len(served(result, "error")) == 12
    assert result.num_ok == 0
