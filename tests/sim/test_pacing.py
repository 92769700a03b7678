"""What a run says about budgets, against the run's own truthful schedule, its records, and bounds batch by batch."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import run_cli

from backends.simulated import Simulated
from mechanism.bounds import welfare_bound
from mechanism.radix_tree import build_tree
from sim.pacing import PacedCell
from sim.pacing_summary import summarise_pacing
from sim.pacing_table import pacing_table
from sim.pacing_words import why_no_regret
from sim.population import make_requests
from sim.scenario import load_scenario
from sim.simulate import RunResult, run

TEXT = """\
name: paced
workload: {kind: trees, num_requests: 100, depth: 2, root_tokens: 6, step_tokens: 3}
users: {kind: random, count: 5}
batching: {size: 10}
schedule: [{use: dfs-bid, label: truth}, {use: dfs-bid, label: paced}, {use: dfs-bid, label: renewed}, no-sort]
bidding:
  paced: {use: pacing, budget: {kind: truthful-fraction, fraction: [0.2, 0.8]}}
  renewed: [{use: pacing, budget: 0.5, horizon: 5, renews: true, share: 0.4}, truthful]
  no-sort: {use: pacing, budget: 1.0}
backend: {use: simulated, kv_tokens: 2000}
"""


@pytest.fixture(scope="module")
def scenario_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pacing") / "paced.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def result(scenario_file: Path) -> RunResult:
    scenario = load_scenario(scenario_file, {"simulated": Simulated})
    return run(scenario, scenario.backend.config)


def cell(result: RunResult, label: str) -> PacedCell:
    return next(each for each in result.pacing if each.schedule == label)


def auctions(result: RunResult, label: str) -> pl.DataFrame:
    return pl.concat(result.frames["auctions"]).filter(pl.col("schedule") == label)


def test_the_best_welfare_is_what_the_truthful_schedule_of_the_run_has(result: RunResult) -> None:
    paced = cell(result, "paced")
    assert paced.best is not None
    assert paced.best == pytest.approx(auctions(result, "truth")["scheduled_welfare"].to_numpy())
    assert paced.welfare.tolist() == auctions(result, "paced")["scheduled_welfare"].to_list()
    pct = 100 * (paced.welfare.sum() / paced.best.sum() - 1)
    found = summarise_pacing(result.pacing)["schedules"]["paced"]
    assert found["welfare_vs_truthful_pct"] == {"mean": pytest.approx(pct), "se": None, "n": 1}
    assert pct < 0


def test_the_bound_is_that_of_every_batch_alone_and_holds(result: RunResult, scenario_file: Path) -> None:
    scenario = load_scenario(scenario_file, {"simulated": Simulated})
    requests, _ = make_requests(scenario, 0)
    rows = pl.concat(result.frames["requests"]).filter(pl.col("schedule") == "paced")
    paced = cell(result, "paced")
    assert paced.bound is not None
    for number in range(10):
        batch = np.flatnonzero(rows["batch"].to_numpy() == number)
        alone = welfare_bound(
            build_tree(requests.prompts.take(batch)), rows["bid"].to_numpy()[batch], rows["value"].to_numpy()[batch]
        )
        assert paced.bound[number] == pytest.approx(alone.bound)
        assert paced.welfare[number] / paced.best[number] == pytest.approx(alone.ratio)  # type: ignore[index]
        assert alone.bound <= alone.ratio
    assert summarise_pacing(result.pacing)["schedules"]["paced"]["bound_violations"] == 0


def test_users_are_those_of_the_records(result: RunResult) -> None:
    payments = pl.concat(result.frames["payments"]).filter(pl.col("schedule") == "paced")
    for user in cell(result, "paced").users:
        rows = payments.filter(pl.col("user") == user.user)
        assert user.spent == pytest.approx(rows["payment"].sum())
        assert user.utility == pytest.approx(rows["utility"].sum())
        assert rows["payment"].to_numpy().cumsum().max() <= user.budget
        assert user.regret is not None
        assert user.regret >= -1e-9
        assert user.curve is not None
        assert user.curve.auction == tuple(range(10))
        assert user.curve.spent[-1] == pytest.approx(user.spent)
        assert user.curve.bound is not None
        assert user.curve.bound[-1] == pytest.approx(user.bound)
    assert len(cell(result, "paced").users) == 5
    assert cell(result, "paced").overspent == 0


def test_a_budget_that_renews_is_measured_by_period(result: RunResult) -> None:
    users = cell(result, "renewed").users
    assert [(user.period, user.horizon) for user in users] == [(0, 5), (1, 5)] * 2  # two of five users
    assert all(user.budget == pytest.approx(0.5) for user in users)
    assert all(user.spent <= 0.5 for user in users)
    assert [user.curve is not None for user in users] == [True, False] * 2  # the first period's
    assert users[0].curve is not None
    assert users[0].curve.auction == tuple(range(5))


def test_without_an_optimal_order_there_is_no_bound_and_no_regret(result: RunResult) -> None:
    blind = cell(result, "no-sort")
    assert (blind.best, blind.bound) == (None, None)
    assert all(user.regret is None for user in blind.users)
    schedules = summarise_pacing(result.pacing)["schedules"]
    assert schedules["renewed"]["agents"] == ["pacing", "truthful"]
    found = schedules["no-sort"]
    assert found["guaranteed_pct"]["mean"] is None
    assert found["regret"] == {"mean": None, "se": None, "n": 0}


def test_the_command_line_and_the_run_folder_say_it(
    scenario_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = run_cli(capsys, "simulate", scenario_file, "--out", tmp_path)
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "never violated" in text
    assert "all, always" in text
    (folder,) = tmp_path.iterdir()
    assert done.out.splitlines()[-2:] == [f"report:  {folder / name}.html" for name in ("report", "report-pacing")]
    assert "Nobody ever spent more than his budget" in (folder / "report-pacing.html").read_text(encoding="utf-8")
    pacing = json.loads((folder / "pacing.json").read_text(encoding="utf-8"))
    assert [each["schedule"] for each in pacing["cells"]] == ["paced", "renewed", "no-sort"]
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["pacing"]
    assert set(summary) == {"schedules", "exponent", "definitions"}
    assert summary["exponent"] is None


def test_broken_promises_are_shouted(result: RunResult) -> None:
    from io import StringIO

    from rich.console import Console

    summary = summarise_pacing(result.pacing)
    summary["schedules"]["paced"] |= {"bound_violations": 3, "overspent": 2}
    summary["exponent"] = {"exponent": 0.5, "interval": [0.4, 0.6], "points": [[100, 1.0], [1000, 3.0], [10000, 9.0]]}
    text = StringIO()
    Console(file=text, width=160).print(pacing_table(summary))
    said = " ".join(text.getvalue().split())
    assert "BROKEN 3 times" in said
    assert "BROKEN 2 times" in said
    assert "Regret grows like T^0.50 (95 %: 0.40 … 0.60) over T = 100, 1,000, 10,000: as √T, the rate" in said
    assert "± is one standard error" in said
    assert "no-sort: regret is not defined: its bound in hindsight takes a truthful payment" in said  # of no-sort
    assert "the % over random above ranks the whole queue" in said


def test_a_run_shorter_than_a_budget_s_period_says_so(result: RunResult) -> None:
    found = summarise_pacing([replace(cell(result, "paced"), users=())])["schedules"]["paced"]
    assert (found["horizon"], found["spent_pct"]) == (0, None)
    assert why_no_regret(found).startswith("The run holds no whole period of a budget")
