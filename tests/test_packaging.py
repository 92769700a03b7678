"""The rooms are ours, and the wheel holds exactly them (their names are not free on the package index)."""

import importlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("room", ["mechanism", "sim", "backends", "reports"])
def test_each_room_is_imported_from_this_repository(room: str) -> None:
    origin = importlib.import_module(room).__file__
    assert origin is not None
    assert Path(origin).resolve().parent == ROOT / room


def test_the_wheel_holds_exactly_the_rooms(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"mechanism", "sim", "backends", "reports", "scenarios"}
    assert "backends/profiles/h100-qwen3-32b.json" in names
    assert "scenarios/mixshare-50.yaml" in names


def test_a_foreign_mechanism_package_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "mechanism"
    foreign.mkdir()
    (foreign / "__init__.py").write_text("")
    (foreign / "errors.py").write_text("class AuctionsError(Exception):\n    exit_code = 1\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from sim.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "list"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 2
    assert "'mechanism'" in done.stderr
    assert str(foreign) in done.stderr
