from pathlib import Path

import pytest

from sim.errors import ScenarioError
from sim.run_folder import run_folder, strict_json, write_text


def test_the_folder_gets_its_name_only_at_the_end(tmp_path: Path) -> None:
    with run_folder(tmp_path, "r") as folder:
        (folder / "summary.json").write_text("{}")
        assert not (tmp_path / "r").exists()
    assert (tmp_path / "r" / "summary.json").read_text() == "{}"
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_nothing(tmp_path: Path, failure: BaseException) -> None:
    def write_half() -> None:
        with run_folder(tmp_path, "r") as folder:
            (folder / "requests.parquet").write_bytes(b"half")
            raise failure

    with pytest.raises(type(failure)):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "new \ud800")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_nan_is_no_json() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_json({"a": float("nan")})


def test_where_no_file_can_be_the_path_is_named_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (".", "..", str(tmp_path)):
        with pytest.raises(ScenarioError, match=r"^\S+: found a folder; expected the name of a file") as caught:
            write_text(Path(path), "")
        assert caught.value.where == path
    with pytest.raises(ScenarioError, match=r"^nodir/x: found no folder nodir; expected a file in a folder"):
        write_text(Path("nodir/x"), "")
    assert list(tmp_path.iterdir()) == []
