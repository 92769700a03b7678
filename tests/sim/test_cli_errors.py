"""What cannot be written is noticed before the work; a full disk and Ctrl-C end in a sentence and leave no ruins."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import run_cli, write_small

from sim.errors import ScenarioError
from sim.run_folder import check_folder, check_page

Capsys = pytest.CaptureFixture[str]
BATCH = '{"id": "a", "bid": 3.0, "tokens": [1, 2]}\n{"id": "b", "bid": 1.0, "tokens": [1, 3]}\n'
#: Runs a command whose files may not grow beyond a limit, which is what a full disk does to them.
LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
from sim.cli import main
main()
"""


@pytest.fixture
def in_the_way(tmp_path: Path) -> Path:
    """A file where a folder should be."""
    path = tmp_path / "file"
    path.write_text("kept")
    return path


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    path = tmp_path / "batch.jsonl"
    path.write_text(BATCH)
    return path


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The work itself would end the test."""

    # what imports these at its top must hold the real ones when the test is over
    for module in ("sim.validation", "sim.calibration", "sim.audit", "sim.sweep_cell"):
        importlib.import_module(module)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    for place in (
        "sim.simulate.run",
        "sim.kappa_found.kappa_of",
        "sim.audit.audit_batch_file",
        "sim.describe_trace.describe_trace",
        "sim.live_scenario.live_scenario",
        "sim.calibrate_command.live_scenario",
        "sim.validate_command.live_scenario",
    ):
        monkeypatch.setattr(place, never)
    return


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("command", ["simulate", "kappa", "audit", "describe", "calibrate", "validate"])
@pytest.mark.parametrize("deep", [False, True])
def test_a_file_in_the_way_is_noticed_before_the_work(
    capsys: Capsys, tmp_path: Path, in_the_way: Path, batch: Path, command: str, deep: bool
) -> None:
    inside = in_the_way / "deeper" / "page.html" if deep else in_the_way / "page.html"
    rest = {"describe": ["--kind", "jsonl"], "validate": ["--profile", "h100-qwen3-32b"]}.get(command, [])
    source = batch if command in {"kappa", "audit", "describe"} else write_small(tmp_path)
    done = run_cli(capsys, command, source, *rest, "--out", inside)
    assert done.code == 2
    assert f"--out {inside if command == 'simulate' else inside.parent}" in done.err
    assert str(in_the_way) in done.err
    assert in_the_way.read_text() == "kept"


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("command", ["kappa", "audit", "describe"])
def test_a_folder_is_no_page(capsys: Capsys, tmp_path: Path, batch: Path, command: str) -> None:
    rest = ["--kind", "jsonl"] if command == "describe" else []
    done = run_cli(capsys, command, batch, *rest, "--out", tmp_path)
    assert done.code == 2
    assert "found a folder; expected the name of a file to write" in done.err


def test_a_folder_that_takes_no_files_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(ScenarioError, match="Read-only file system; expected a folder that can be written"):
        check_folder(tmp_path / "new" / "runs")


def test_the_folders_of_a_page_are_made(capsys: Capsys, tmp_path: Path, batch: Path) -> None:
    check_page(tmp_path / "new" / "page.html")
    assert not (tmp_path / "new").exists()
    assert run_cli(capsys, "kappa", batch, "--quiet", "--out", tmp_path / "new" / "page.html").code == 0
    assert (tmp_path / "new" / "page.html").exists()


@pytest.mark.parametrize("limit", [0, 2_000, 15_000, 60_000])
def test_a_disk_that_fills_up_ends_in_a_sentence_and_leaves_no_ruins(tmp_path: Path, limit: int) -> None:
    out = tmp_path / "runs"
    arguments = ["simulate", str(write_small(tmp_path)), "--quiet", "--out", str(out)]
    code = LIMITED.replace("LIMIT,", f"{limit},").replace("LIMIT)", f"{limit})")
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "free some room, or write elsewhere with --out; nothing half-written is left" in done.stderr
    assert "Traceback" not in done.stderr
    finished = list(out.iterdir()) if out.exists() else []
    if limit < 60_000:
        assert not finished
    else:  # the records fit, the page does not
        (run,) = finished
        assert json.loads((run / "manifest.json").read_text())["status"] == "complete"
        assert sorted(path.suffix for path in run.iterdir()) == [".json"] * 3 + [".parquet"] * 4 + [".yaml"]
        assert f"the records are in {run}" in done.stderr


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("sim.stars.generate", "interrupted before anything was measured; nothing was written"),
        ("sim.run_folder._sync", "interrupted while the records were saved; nothing was written"),
        ("sim.scenario.resolve_paths", "interrupted"),
    ],
)
def test_an_interrupt_while_loading_or_saving_is_130_and_leaves_nothing(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, sentence: str
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    if place == "sim.stars.generate":
        from sim.workloads.stars import Stars

        monkeypatch.setattr(Stars, "generate", interrupt)
    else:
        monkeypatch.setattr(place, interrupt)
    done = run_cli(capsys, "simulate", write_small(tmp_path), "--quiet", "--out", tmp_path / "runs")
    assert done.code == 130
    assert done.err.splitlines()[-1] == sentence
    assert not list((tmp_path / "runs").glob("*")) if (tmp_path / "runs").exists() else True


def test_an_interrupt_while_the_page_is_made_says_where_the_records_are(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("reports.pages.write_pages", interrupt)
    done = run_cli(capsys, "simulate", write_small(tmp_path), "--quiet", "--out", tmp_path / "runs")
    assert done.code == 130
    (run,) = (tmp_path / "runs").iterdir()
    assert f"the records are in {run}" in done.err


def test_the_version_is_told(capsys: Capsys) -> None:
    done = run_cli(capsys, "--version")
    assert done.code == 0
    assert done.out.startswith("inference-auctions 0.")


def test_a_reader_that_goes_away_ends_it_without_a_traceback() -> None:
    code = "from sim.cli import main\nmain()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 2
