"""Tables of one's own: named columns, a stated unit."""

from pathlib import Path
from typing import Any

import pytest
from scenario_kit import load
from trace_kit import arrivals_s, csv_of, jsonl_of, prompts_of, read, refusal

from sim.errors import ScenarioError
from sim.population import make_requests
from sim.workloads.table import Table, TableColumns

HEADER = "instance,turn,start,prompt,completion,cached,model"
CALLS = (
    "astropy__astropy-13033,7,1773065246.9627876,9053,490,6784,gpt-5-mini-2025-08-07",
    "astropy__astropy-13033,8,1773065273.1680262,10030,619,9856,gpt-5-mini-2025-08-07",
)
COLUMNS = TableColumns(
    prompt_tokens="prompt", output_tokens="completion", arrival="start", session="instance", cached_tokens="cached"
)


def calls(path: Path, *lines: str, **options: Any) -> Any:
    file = csv_of(path / "calls.csv", HEADER, *lines)
    return read("table", file, **{"columns": COLUMNS, "time_unit": "s", "sharing": "session", **options})


def test_oddity_o25_what_was_measured_stays_beside_what_could_have_been(tmp_path: Path) -> None:
    before = "django__django-11119,0,1773066271.1,2000,40,0,gpt-5-mini-2025-08-07"
    demand = calls(tmp_path, before, "django__django-11119,1,1773066274.9224045,2340,104,0,gpt-5-mini-2025-08-07")
    first, second = prompts_of(demand)
    assert second[0] == first[0], "the turn repeats the one before"
    assert [tokens for _, tokens in second] == [2000, 40, 300]
    assert demand.cached_tokens.tolist() == [0, 0], "and the provider said it had nothing"


def test_oddity_o26_more_may_be_cached_than_the_log_knows(tmp_path: Path) -> None:
    demand = calls(tmp_path, *CALLS)
    assert [tokens for _, tokens in prompts_of(demand)[1]] == [9053, 490, 487]
    assert demand.cached_tokens.tolist() == [6784, 9856]


def test_a_shorter_prompt_begins_anew(tmp_path: Path) -> None:
    demand = calls(tmp_path, "a,0,0,100,10,0,m", "a,1,1,110,5,0,m", "a,2,2,40,5,0,m", "a,3,3,45,5,0,m")
    first, second, third, fourth = prompts_of(demand)
    assert second == [*first, (second[1][0], 10)]
    assert third[0] not in second
    assert fourth[:1] == third


def test_times_in_every_unit(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "t.csv", "at,in,out", "1500,1,1", "3500,1,1")
    columns = TableColumns(prompt_tokens="in", output_tokens="out", arrival="at")
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        demand = read("table", path, columns=columns, time_unit=unit)
        assert arrivals_s(demand) == pytest.approx([1500 * factor, 3500 * factor], rel=1e-12)
    path = csv_of(tmp_path / "t.csv", "at,in,out", "2023-11-16T18:17:03.5Z,1,1", "2023-11-16 18:17:05,1,1")
    assert arrivals_s(read("table", path, columns=columns, time_unit="datetime")) == [0.0, 1.5]


def test_c13_a_unit_is_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"time_unit: found nothing; expected s, ms, us, ns or datetime"):
        Table(path=tmp_path, columns=COLUMNS)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"columns": TableColumns(prompt_tokens="a", output_tokens="b"), "time_unit": "s"},
            "columns.arrival beside it",
        ),
        (
            {"columns": TableColumns(prompt_tokens="a", output_tokens="b"), "sharing": "session"},
            "columns.session beside",
        ),
    ],
)
def test_options_need_their_columns(tmp_path: Path, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ScenarioError, match=complaint):
        Table(path=tmp_path, **options)


def test_owners_values_and_bids_from_columns(tmp_path: Path) -> None:
    jsonl_of(
        tmp_path / "log.jsonl",
        {"name": "x", "in": 5, "out": 1, "at": 20, "who": "ann", "worth": 2.5, "offer": 2},
        {"name": "y", "in": 6, "out": 1, "at": 10, "who": "bob", "worth": 0.5, "offer": 1, "ignored": [1]},
    )
    text = """
name: log
workload:
  kind: table
  path: log.jsonl
  time_unit: ms
  columns: {id: name, prompt_tokens: in, output_tokens: out, arrival: at, user: who, value: worth, bid: offer}
schedule: [dfs-bid]
bidding: from-trace
backend: {use: simulated}
"""
    requests, _ = make_requests(load(tmp_path, text), 0)
    assert requests.request_id == ("y", "x")
    assert [requests.user_names[user] for user in requests.user] == ["bob", "ann"]
    assert (requests.value.tolist(), requests.stated_bid.tolist()) == ([0.5, 2.5], [1.0, 2.0])
    assert requests.arrival_ns.tolist() == [10_000_000, 20_000_000]
    with pytest.raises(ScenarioError, match=r"scenario.yaml:9: bidding: found from-trace; .* records no bids"):
        load(tmp_path, text.replace(", bid: offer", ""))
    with pytest.raises(ScenarioError, match=r"scenario.yaml:7: workload.columns.usr: found the unknown key"):
        load(tmp_path, text.replace("user: who", "usr: who"))


def test_ids_are_unique(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "t.csv", "id,in,out", "a,1,1", "a,1,1")
    columns = TableColumns(prompt_tokens="in", output_tokens="out", id="id")
    assert 't.csv:3: found the id "a", which is on line 2 too' in refusal("table", path, columns=columns)
    assert 'expected the column "ident"' in refusal(
        "table", path, columns=TableColumns(prompt_tokens="in", output_tokens="out", id="ident")
    )


def test_an_empty_session_is_nobody_elses(tmp_path: Path) -> None:
    demand = calls(tmp_path, ",0,0,100,10,0,m", " ,0,1,200,10,0,m", "1,0,2,100,10,0,m", "1,0,3,200,10,0,m")
    first, second, third, fourth = prompts_of(demand)
    assert [len(first), len(second), len(third), len(fourth)] == [1, 1, 1, 3]
    assert not set(first) & {*second, *third, *fourth}
    assert demand.cluster.tolist() == [0, 1, 2, 2]
    rows = ({"in": 5, "out": 1, "talk": None} for _ in range(2))
    columns = TableColumns(prompt_tokens="in", output_tokens="out", session="talk")
    demand = read("table", jsonl_of(tmp_path / "t.jsonl", *rows), columns=columns, sharing="session")
    assert demand.cluster.tolist() == [0, 1]


def test_an_empty_user_is_refused(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "t.csv", "who,in,out", "ann,1,1", " ,1,1")
    columns = TableColumns(prompt_tokens="in", output_tokens="out", user="who")
    assert "t.csv:3: who: found an empty cell; expected the name of a user" in refusal("table", path, columns=columns)


def test_turns_are_chained_in_time_whatever_the_files_order(tmp_path: Path) -> None:
    rows = "a,0,5,10,5,0,m", "a,1,9,40,5,0,m", "b,0,1,7,2,0,m", "a,2,7,20,5,0,m", "a,3,9,50,5,0,m"
    demand = calls(tmp_path, *rows)
    assert demand.request_id == ("4", "2", "5", "3", "6")
    assert [[tokens for _, tokens in prompt] for prompt in prompts_of(demand)] == [
        [7],
        [10],
        [10, 5, 5],
        [10, 5, 5, 5, 15],
        [10, 5, 5, 5, 15, 5, 5],
    ]
    (warning,) = demand.warnings
    assert "not sorted: the clock steps back on line 4" in warning
    assert calls(tmp_path, *rows[:2]).warnings == ()
