"""`doctor`: what it finds out about servers that are set up well, badly, or not there."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from command_line import run_cli
from fake_server import FakeServer, fake_server, healthy, sse, token_events, unused_port

from backends._doctor import examine


def test_a_server_that_lacks_flags_is_told_which(capsys: pytest.CaptureFixture[str]) -> None:
    info = {"enable_metrics": False, "schedule_policy": "lpm", "launch_command": "--model-path m --port 7"}
    with fake_server(info=info) as fake:
        done = run_cli(capsys, "doctor", "--url", fake.url, "--json")
    found = json.loads(done.out)
    assert done.code == 0
    assert [each["flag"] for each in found["missing"]] == ["--enable-metrics", "--schedule-policy fcfs"]
    command = "python -m sglang.launch_server --model-path m --port 7 --enable-metrics --schedule-policy fcfs"
    assert found["command"] == command
    assert found["cached_tokens"] == {"first": 0, "second": 63, "reported": True}
    assert found["kv_tokens"] == 10_000


def test_a_table_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    with fake_server(info={"enable_metrics": False}) as fake:
        done = run_cli(capsys, "doctor", "--url", fake.url)
    assert done.code == 0
    assert "yes (0, then 63 for one prompt sent twice)" in done.out
    assert "--enable-metrics" in done.out
    assert "does priority work?" in done.err


def dated(times: list[float]) -> Any:
    """Answers whose entries into the scheduler are dated so, one after another."""
    entries = iter(times)

    def script(fake: FakeServer, number: int, body: dict[str, Any]) -> Iterable[bytes]:
        if isinstance(body["input_ids"][0], list):
            return healthy(fake, number, body)
        (event,) = token_events(None, 1, 0)
        event["meta_info"]["request_sent_to_scheduler_ts"] = next(entries, 100.0)
        return [sse(event), sse("[DONE]")]

    return script


def test_an_order_that_is_not_kept_is_seen() -> None:
    with fake_server(dated([1.0, 3.0, 2.0, 4.0])) as fake:
        order = examine(fake.url).order
    assert order is not None
    assert order["list"] == {"dated": 0, "inversions": 0}
    assert order["sockets"]["dated"] == 48
    assert order["sockets"]["inversions"] >= 1


def preferring(sign: int) -> Any:
    """Of two rivals, the one that is to wait is answered after the other; sign 0 = as they come."""
    rivals: list[int] = []
    turns: dict[int, threading.Event] = defaultdict(threading.Event)

    def script(fake: FakeServer, number: int, body: dict[str, Any]) -> Iterator[bytes]:
        steps = healthy(fake, number, body)
        if "priority" not in body:
            yield from steps
            return
        priority = body["priority"]
        with fake.lock:
            trial = len(rivals) // 2
            rivals.append(priority)
        earlier = 1 + trial  # priorities 1 then 2, in the second trial 2 then 1
        served_first = sign * priority > sign * (3 - priority) if sign else priority == earlier
        if not served_first:
            turns[trial].wait(timeout=30)
        yield from steps
        turns[trial].set()

    return script


@pytest.mark.parametrize(("sign", "direction"), [(1, "larger first"), (-1, "smaller first"), (0, None)])
def test_the_direction_of_priority(sign: int, direction: str | None) -> None:
    with fake_server(preferring(sign)) as fake:
        assert examine(fake.url).priority == {"works": direction is not None, "direction": direction}


def test_a_server_without_sglangs_own_endpoints() -> None:
    with fake_server(is_sglang=False) as fake:
        found = examine(fake.url).as_json()
    assert (found["engine"], found["model"], found["context_tokens"]) == ("fake", "fake-model", 4096)
    assert found["cached_tokens"]["reported"]
    assert found["missing"] == []
    assert found["order"] is None


def test_a_server_that_is_still_loading_is_not_taken_for_another_kind(capsys: pytest.CaptureFixture[str]) -> None:
    with fake_server(loading=True) as fake:
        done = run_cli(capsys, "doctor", "--url", fake.url)
    assert done.code == 3
    assert "/get_server_info answered 503" in done.err


def test_a_server_that_is_silent_about_its_cache() -> None:
    with fake_server(is_sglang=False, silent_about_cache=True) as fake:
        found = examine(fake.url).as_json()
    assert found["cached_tokens"] == {"first": None, "second": None, "reported": False}
    assert "--enable-prompt-tokens-details" in found["missing"][0]["flag"]


def test_nobody_there_is_exit_3(capsys: pytest.CaptureFixture[str]) -> None:
    done = run_cli(capsys, "doctor", "--url", f"http://127.0.0.1:{unused_port()}")
    assert done.code == 3
    assert "Is the server running at that address?" in done.err
