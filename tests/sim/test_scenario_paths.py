"""Paths in a scenario count from its folder, or from here when typed; files count by what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_files import article, gsm8k, squad
from scenario_kit import load, refusal

from sim.scenario import Scenario
from sim.scenario_paths import digest_files

TEXT = """\
name: mix
workload:
  kind: squad-gsm8k
  squad_paths: [a.json, inner/b.json]
  gsm8k_path: g.jsonl
  num_requests: 8
  tokenizer: null
schedule: [dfs-bid]
backend: {use: simulated}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inner").mkdir()
    squad(tmp_path / "a.json", article("Bread", ("Bread is baked.", ["What?"])))
    squad(tmp_path / "inner" / "b.json", article("Salt", ("Salt is mined.", ["What?"])))
    gsm8k(tmp_path / "g.jsonl", 30)
    return tmp_path


def paths(scenario: Scenario) -> list[str]:
    workload = scenario.resolved()["workload"]
    return [*workload["squad_paths"], workload["gsm8k_path"]]


def test_single_paths_and_lists_of_them_become_absolute(folder: Path) -> None:
    expected = [str(folder / name) for name in ("a.json", "inner/b.json", "g.jsonl")]
    assert paths(load(folder, TEXT)) == expected


def test_typed_paths_count_from_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "inner")
    scenario = load(folder, TEXT, "workload.squad_paths=[b.json]", "workload.gsm8k_path=../g.jsonl")
    assert paths(scenario) == [str(folder / "inner/b.json"), str(folder / "g.jsonl")]


def test_a_file_that_is_not_there_is_named_with_its_line_and_place(folder: Path) -> None:
    error = refusal(folder, TEXT.replace("inner/b.json", "b.json"))
    assert error.where == f"{folder}/scenario.yaml:4: workload.squad_paths.1"
    assert error.expected == f"a file; there is none at {folder}/b.json"


def test_a_wrong_type_is_left_to_the_workload(folder: Path) -> None:
    assert "workload.gsm8k_path" in refusal(folder, TEXT.replace("g.jsonl", "3")).where
    assert "workload.squad_paths" in refusal(folder, TEXT.replace("[a.json, inner/b.json]", "[]")).where


def test_files_count_by_content_not_by_place(folder: Path) -> None:
    before = load(folder, TEXT).config_hash
    (folder / "moved").mkdir()
    for name in ("a.json", "g.jsonl", "inner"):
        (folder / name).rename(folder / "moved" / name)
    moved = TEXT.replace("[a.json, inner/b", "[moved/a.json, moved/inner/b").replace("g.jsonl", "moved/g.jsonl")
    assert load(folder, moved).config_hash == before
    gsm8k(folder / "moved" / "g.jsonl", 31)
    assert load(folder, moved).config_hash != before


def test_only_files_are_digested(folder: Path) -> None:
    workload = {"kind": "x", "path": None, "tokenizer": "o200k", "paths": [str(folder / "a.json"), str(folder)]}
    digested = digest_files(workload)
    assert (digested["kind"], digested["path"], digested["tokenizer"]) == ("x", None, "o200k")
    assert [len(digest) for digest in digested["paths"]] == [64, 64]
    assert len(digest_files({"tokenizer": str(folder / "a.json")})["tokenizer"]) == 64
