from pathlib import Path

import polars as pl
import pytest
from run_folders import edit_json, write_run

from reports.load import Run, load_run
from reports.trust import facts, sentences, setting_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def with_scenario(folder: Path, old: str, new: str) -> Run:
    path = folder / "scenario.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return load_run(folder)


@pytest.mark.parametrize(
    ("in_flight", "name"),
    [("1", "serial"), ("4", "window-4"), ("null", "queue"), ("", "queue")],
)
def test_the_engine_setting_has_its_name(folder: Path, in_flight: str, name: str) -> None:
    assert setting_of(with_scenario(folder, "in_flight: 1", f"in_flight: {in_flight}").scenario).split(" (")[0] == name


def test_an_unknown_setting_is_not_guessed(folder: Path) -> None:
    assert setting_of(with_scenario(folder, "dispatch: {in_flight: 1}\n", "").scenario) == "not reported"


def test_a_whole_run_says_all_that_matters(folder: Path) -> None:
    told = "\n".join(sentences(load_run(folder)))
    for part in (
        "Means over 2 trials",
        "dfs-bid is subtracted",
        "serial (one request",
        "variance is infinite",
        "the whole run",
        "Bids are truthful",
        "tiny are derived from tables, not from a live server; quote them with prefill ±10 %.",
    ):
        assert part in told
    assert "interrupted" not in told
    assert "One trial only" not in told


def test_one_trial_has_no_interval(folder: Path) -> None:
    for table in ("requests", "auctions", "payments", "engine_steps"):
        path = folder / f"{table}.parquet"
        pl.read_parquet(path).filter(pl.col("trial") == 0).write_parquet(path)
    assert next(iter(sentences(load_run(folder)))).startswith("One trial only: there is no interval")


def test_the_papers_figures_stand_beside_the_runs(folder: Path) -> None:
    assert "gap to bid-sort" not in "\n".join(sentences(load_run(folder))).lower()
    gap = {"mean": 0.161, "se": 0.003, "n": 2}
    edit_json(folder / "summary.json", lambda summary: summary.update(gap_to_bid_sort=gap))
    measured = {"sharing": 0.469, "mean_prompt_tokens": 1191.2}
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(facts=measured))
    told = "\n".join(sentences(load_run(folder)))
    assert "Gap to bid-sort: 16.1 ± 0.3 % (1 − welfare of dfs-bid / welfare of bid-sort, paired over 2 trials" in told
    assert "Prompts: 1,191 tokens on average, 46.9 % shared; the paper's workloads share 60–97 %." in told


def test_what_went_wrong_is_said(folder: Path) -> None:
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(status="interrupted", profile=None))
    (folder / "engine_steps.parquet").unlink()
    told = "\n".join(sentences(load_run(folder)))
    assert "was interrupted" in told
    assert "Engine steps were not recorded" in told
    assert "Latencies" not in told


def test_open_arrivals_rank_within_a_batch_and_light_tails_need_no_warning(folder: Path) -> None:
    with_scenario(folder, "kind: saturated", "kind: poisson, request_rate: 3")
    told = "\n".join(sentences(with_scenario(folder, "shape: 1.5", "shape: 2.5")))
    assert "within one scheduling batch" in told
    assert "variance" not in told


def test_facts_never_invent_a_number(folder: Path) -> None:
    edit_json(folder / "manifest.json", lambda manifest: manifest.pop("duration_s"))
    told = dict(facts(load_run(folder)))
    assert told["Took"] == "not reported"
    assert told["Auctions"] == "not reported"
    assert told["Requests"] == "4 a trial and schedule"
    assert told["Trials"] == "2"


def test_a_queue_that_the_server_orders_is_named(folder: Path) -> None:
    assert "nothing is held back" not in "\n".join(sentences(load_run(folder)))
    run = load_run(folder)
    run.scenario["schedule"] = [{"use": "priority-preemptive", "label": "asked"}, {"use": "dfs-bid", "label": "sold"}]
    assert "Under asked nothing is held back" in "\n".join(sentences(run))
