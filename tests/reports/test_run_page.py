"""The page as text: every section is there, every embedded block is strict JSON, nothing can break out of it."""

import json
import math
import re
from pathlib import Path

import polars as pl
import pytest
from page_kit import Page, refuse
from run_folders import edit_json, edit_table, write_run

from reports._page import embedded_json
from reports.run_page import write_run_page
from sim.errors import ScenarioError

SECTIONS = [
    "verdict", "comparison", "ttft", "welfare", "payments", "cache",
    "tree", "users", "auctions", "statuses", "trust", "run-card",
]  # fmt: skip
HOSTILE = '</script><b>x & "y"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def render(folder: Path, *others: Path) -> Page:
    return Page(write_run_page([folder, *others], folder.parent / "page.html"))


def test_one_run_has_every_section_and_its_numbers(folder: Path) -> None:
    page = render(folder)
    assert page.sections == SECTIONS
    for words in (
        "dfs-bid realises welfare 41.7 % above a random order",
        "260 ms ± 10 · n = 2",
        "Δ +240 ± 10 ms",
        "First trial: 3 users, ranked by what they paid.",
        "derived from tables, not from a live server",
        "two arrivals were sorted",
        "zero output 3",
        "in_flight: 1",
        "Σ cached / Σ prompt tokens.",
        "numpy 2.3.1",
        "context_tokens none",
    ):
        assert words in page.text
    # TTFT of everyone, its mean by decile, two facets; welfare; dfs-bid's payments; occupancy, hit rate; the tree
    assert len(page.blocks) == 9
    assert "nan" not in re.findall(r"[a-z]+", page.text.lower())


def test_the_page_refers_to_nothing_outside_itself(folder: Path) -> None:
    page = render(folder)
    assert {address[0] for address in page.addresses if address != "data:,"} == {"#"}
    assert page.source.count('id="plotly-packed"') == 1
    assert "default-src 'none'" in page.source


def test_a_hostile_name_is_shown_as_text(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", HOSTILE)
    plain = render(write_run(tmp_path / "plain"))

    def rename(summary: dict) -> None:
        summary["schedules"] = {f"{HOSTILE}{name}": record for name, record in summary["schedules"].items()}

    edit_json(folder / "summary.json", rename)
    for table in ("requests", "auctions", "payments", "engine_steps"):
        edit_table(folder / f"{table}.parquet", (pl.lit(HOSTILE) + pl.col("schedule")).alias("schedule"))
    for table in ("requests", "payments"):
        edit_table(folder / f"{table}.parquet", (pl.lit(HOSTILE) + pl.col("user")).alias("user"))
    edit_table(folder / "requests.parquet", pl.lit(HOSTILE).alias("error"))
    edit_json(
        folder / "manifest.json", lambda manifest: manifest.update(warnings=[HOSTILE], versions={HOSTILE: HOSTILE})
    )
    page = render(folder)
    assert f"{HOSTILE}dfs-bid realises" in page.text
    assert len(page.blocks) == len(plain.blocks)
    assert page.tags.count("script") == plain.tags.count("script")
    assert "b" not in page.tags


def test_nulls_are_words_and_never_a_nan(folder: Path) -> None:
    def empty(summary: dict) -> None:
        for record in summary["schedules"].values():
            for name, found in record.items():
                if isinstance(found, dict) and "mean" in found:
                    record[name] = {"mean": None, "se": None, "n": 0}
            record["paired"] = {}

    edit_json(folder / "summary.json", empty)
    for column in ("ttft_s", "first_token_s", "admitted_s", "cached_tokens", "bid", "payment"):
        edit_table(folder / "requests.parquet", pl.lit(None).alias(column))
    for column in ("declared_value", "obtained_value", "payment", "utility"):
        edit_table(folder / "payments.parquet", pl.lit(None).alias(column))
    edit_table(folder / "auctions.parquet", pl.lit(math.nan).alias("revenue"))
    page = render(folder)
    assert page.sections == SECTIONS
    assert "brought no request to its first token: nothing to compare." in page.text
    assert page.text.count("not reported") > 10
    assert "nan" not in re.findall(r"[a-z]+", page.text.lower())


def test_all_rejected_is_a_page_with_reasons(folder: Path) -> None:
    edit_table(
        folder / "requests.parquet",
        pl.lit("rejected").alias("status"),
        pl.lit("needs 900 tokens").alias("error"),
        *(pl.lit(None).alias(column) for column in ("ttft_s", "first_token_s", "admitted_s", "bid", "batch")),
    )
    for table in ("auctions", "payments", "engine_steps"):
        path = folder / f"{table}.parquet"
        pl.read_parquet(path).clear().write_parquet(path)
    page = render(folder)
    assert page.sections == SECTIONS
    assert "8 rejected needs 900 tokens" in page.text
    assert "Served: 0 of 8 requests (8 rejected), under every schedule." in page.text


def test_an_interrupted_run_says_so_first_and_may_lack_a_schedule(folder: Path) -> None:
    late = {"statuses": {}, "trials": [], "paired": {}}
    edit_json(folder / "summary.json", lambda summary: summary["schedules"].update(late=late))
    edit_json(folder / "manifest.json", lambda manifest: manifest.update(status="interrupted"))
    page = render(folder)
    assert page.text.index("Interrupted: four.") < page.text.index("realises welfare")
    assert page.sections == SECTIONS


def test_several_runs_stand_side_by_side_under_their_own_names(folder: Path) -> None:
    other = write_run(folder.parent / "other", "five")
    page = render(folder, other)
    assert page.sections == SECTIONS
    assert "four · five · 2 runs" in page.text
    for label in ("four/dfs-bid", "four/no-sort", "five/dfs-bid", "five/no-sort"):
        assert label in page.text
    assert page.source.count('id="plotly-packed"') == 1
    assert page.text.count("Scenario as resolved") == 2


def test_the_same_records_give_the_same_page(folder: Path) -> None:
    first = render(folder).source
    assert render(folder).source == first


def test_a_failed_page_leaves_the_old_one_in_place(folder: Path) -> None:
    out = write_run_page([folder], folder.parent / "new" / "page.html")
    before = out.read_bytes()
    (folder / "payments.parquet").unlink()
    with pytest.raises(ScenarioError):
        write_run_page([folder], out)
    assert out.read_bytes() == before
    assert [path.name for path in out.parent.iterdir()] == ["page.html"]


def test_a_hundred_thousand_requests_stay_below_eight_megabytes(folder: Path) -> None:
    copies = 12_500
    many = pl.int_range(pl.len()).cast(pl.Float64)
    for table, times in (("requests", ["ttft_s", "first_token_s", "admitted_s", "bid"]), ("engine_steps", ["start_s"])):
        path = folder / f"{table}.parquet"
        rows = pl.concat([pl.read_parquet(path)] * copies)
        rows.with_columns((pl.col(column) + many / 1e3).alias(column) for column in times).write_parquet(path)
    path = folder / "payments.parquet"
    rows = pl.concat([pl.read_parquet(path)] * copies)
    rows.with_columns(pl.format("{}-{}", "user", pl.int_range(pl.len())).alias("user")).write_parquet(path)
    path = folder / "auctions.parquet"
    rows = pl.concat([pl.read_parquet(path)] * 500)
    rows.with_columns((pl.int_range(pl.len()) // 4).alias("batch")).write_parquet(path)
    page = render(folder)
    assert len(page.source.encode()) < 8_000_000
    assert "Drawn: 1," in page.text
    assert "slices of time" in page.text
    assert "each point is the mean of 2 neighbours" in page.text


def test_embedded_json_is_strict_and_cannot_end_its_element() -> None:
    text = str(embedded_json({"a": [math.nan, math.inf, 1.23456789012], "b": HOSTILE, "c": None, "d": True}))
    assert "<" not in text
    assert json.loads(text, parse_constant=refuse) == {
        "a": [None, None, 1.234568],
        "b": HOSTILE,
        "c": None,
        "d": True,
    }
