"""Opening files: plain or packed, watched or not."""

import gzip
from pathlib import Path

import pytest

from sim.errors import ScenarioError
from sim.reading import content_digest, read_lines, watching


def test_a_packed_file_reads_like_a_plain_one(tmp_path: Path) -> None:
    text = "\ufeffone\r\ntwo\n\nthree".encode()
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text))
    expected = ["one\r\n", "two\n", "\n", "three"]
    assert list(read_lines(tmp_path / "a.txt")) == list(read_lines(tmp_path / "a.txt.gz")) == expected


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.txt", b"fine\n\xff\n", "bytes that are not UTF-8"),
        ("a.gz", b"not packed at all", "a broken archive"),
        ("a.gz", gzip.compress(b"cut short" * 100)[:-12], "a broken archive"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str, content: bytes, complaint: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ScenarioError, match=complaint):
        list(read_lines(tmp_path / name))


def test_a_missing_file_and_a_folder_say_so(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(ScenarioError, match="expected a file that can be read"):
            list(read_lines(path))


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_watcher_hears_how_far_reading_has_come(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = b"a line of some length\n" * 20_000
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    heard: list[tuple[str, int, int]] = []
    with watching(lambda *said: heard.append(said)):
        assert sum(1 for _ in read_lines(path)) == 20_000
    size = path.stat().st_size
    assert {(file, total) for file, _, total in heard} == {(str(path), size)}
    done = [now for _, now, _ in heard]
    assert done == sorted(done)
    assert done[-1] == size
    assert len(done) == 6, "every 4,096 lines and at the end"
    before = len(heard)
    list(read_lines(path))
    assert len(heard) == before, "nobody watches any more"


def test_a_folders_digest_is_of_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("1")
    first = content_digest(tmp_path)
    assert content_digest(tmp_path) == first
    (tmp_path / "in" / "a").write_text("2")
    second = content_digest(tmp_path)
    (tmp_path / "in" / "a").rename(tmp_path / "in" / "b")
    assert len({first, second, content_digest(tmp_path)}) == 3
