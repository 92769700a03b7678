"""Whatever lies in a run folder: `report` and `kappa` read it, or refuse it by name; they never end in a traceback."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_line import SMALL, run_cli, write_small

from sim.errors import ScenarioError
from sim.run_files import read_object, read_table, run_file

Capsys = pytest.CaptureFixture[str]
PACED = SMALL + "bidding: {use: pacing, budget: 5.0}\n"
PACED = PACED.replace("[dfs-bid, dfs-uniform, bid-sort, no-sort]", "[dfs-bid, bid-sort]").replace(
    "trials: 2", "trials: 1"
)
TABLES = ("requests.parquet", "auctions.parquet", "payments.parquet", "engine_steps.parquet")
JSON = ("summary.json", "manifest.json", "tree.json", "pacing.json")


@pytest.fixture(scope="module")
def paced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run in which users have budgets."""
    from datetime import UTC, datetime

    from backends.simulated import Simulated
    from sim.save_run import save_run
    from sim.scenario import load_scenario
    from sim.simulate import run

    folder = tmp_path_factory.mktemp("paced")
    scenario = load_scenario(write_small(folder, PACED), {"simulated": Simulated})
    result = run(scenario, scenario.backend.config)
    return save_run(scenario, result, profile=None, started=datetime(2026, 1, 1, tzinfo=UTC), parent=folder)


@pytest.fixture
def copy(paced: Path, tmp_path: Path) -> Path:
    """The run, to be damaged."""
    return Path(shutil.copytree(paced, tmp_path / "run"))


def report(capsys: Capsys, folder: Path) -> Any:
    return run_cli(capsys, "report", folder, "--out", folder / "page.html")


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty", "folder"])
def test_a_damaged_table_is_named(capsys: Capsys, copy: Path, name: str, damage: str) -> None:
    _damage(copy / name, damage)
    done = report(capsys, copy)
    assert done.code == 2
    assert name in done.err
    assert "imulate" in done.err
    if name in TABLES[:2]:
        done = run_cli(capsys, "kappa", copy)
        assert done.code == 2
        assert name in done.err


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty", "folder"])
def test_a_damaged_json_file_is_named(capsys: Capsys, copy: Path, name: str, damage: str) -> None:
    _damage(copy / name, damage)
    done = report(capsys, copy)
    assert done.code == 2
    assert name in done.err


@pytest.mark.parametrize("damage", ["garbage", "empty", "folder"])
def test_a_damaged_scenario_is_named(capsys: Capsys, copy: Path, damage: str) -> None:
    _damage(copy / "scenario.yaml", damage)
    for done in (report(capsys, copy), run_cli(capsys, "kappa", copy)):
        assert done.code == 2
        assert "scenario.yaml" in done.err


@pytest.mark.parametrize("name", JSON)
def test_json_of_another_shape_is_read_or_refused_by_key(copy: Path, name: str) -> None:
    """Some value anywhere becomes one of another kind, or is left out."""
    from reports.pages import write_pages

    rng, whole = random.Random(name), json.loads((copy / name).read_text())
    for _ in range(40 if name == "summary.json" else 12):
        (copy / name).write_text(json.dumps(_edited(whole, rng)))
        try:
            write_pages([copy], copy / "page.html")
        except ScenarioError as error:
            assert name in error.where  # noqa: PT017 (either outcome will do)


def test_a_column_of_another_type_is_named(copy: Path) -> None:
    pl.read_parquet(copy / "requests.parquet").with_columns(trial=pl.lit("x")).write_parquet(copy / "requests.parquet")
    with pytest.raises(ScenarioError, match=r"requests\.parquet: found a broken table"):
        read_table(copy, "requests.parquet", {"trial": pl.Int64()})


def test_the_shape_of_a_file_is_told_by_key(copy: Path) -> None:
    summary = json.loads((copy / "summary.json").read_text())
    summary["schedules"]["dfs-bid"]["welfare"]["mean"] = {"a": 1}
    (copy / "summary.json").write_text(json.dumps(summary))
    with pytest.raises(ScenarioError) as caught:
        read_object(copy, "summary.json")
    assert caught.value.where.endswith("summary.json: schedules.dfs-bid.welfare.mean")
    assert caught.value.found == "a block of 1 keys"


def test_no_folder_is_told_from_no_file(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="found no such folder"):
        run_file(tmp_path / "nowhere", "summary.json")
    with pytest.raises(ScenarioError, match=r"found no summary\.json"):
        run_file(tmp_path, "summary.json")


def _damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    path.unlink()
    if how == "folder":
        path.mkdir()
    else:
        path.write_bytes({"truncated": content[: len(content) // 2], "garbage": b"\xff\x00{]" * 9, "empty": b""}[how])


def _edited(data: Any, rng: random.Random) -> Any:
    """A deep copy in which one value is another, or missing."""
    data = json.loads(json.dumps(data))
    holder = data
    while True:
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        inner = holder[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
            holder = inner
            continue
        if rng.random() < 0.2:
            del holder[key]
        else:
            holder[key] = rng.choice([None, 3, -1.5, "x", [], {}, [1], {"a": 1}, True, 10**400])
        return data
