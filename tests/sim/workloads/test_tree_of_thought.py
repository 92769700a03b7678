"""Trees on real text: a search of the Game of 24, and articles explored by question and answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_files import SHARED, SQUAD_FILES, article, draw, needs_shared, save, squad, texts

from sim.errors import ScenarioError
from sim.workloads._squad import Question
from sim.workloads._thoughts import Thoughts, grow, read_game24
from sim.workloads.tree_of_thought import TreeOfThought

A, B, C = "1 + 1 = 2 (left: 2 4 6)\n", "4 + 6 = 10 (left: 1 1 10)\n", "6 - 4 = 2 (left: 1 1 2)\n"
STEPS: list[dict[str, Any]] = [
    {"step": 0, "x": "1 1 4 6", "ys": [""], "new_ys": [A, B, C, A], "select_new_ys": [C, A]},
    {"step": 1, "x": "1 1 4 6", "ys": [C, A], "new_ys": [C + "a\n", C + "b\n", A + "c\n"], "select_new_ys": []},
]


def game(folder: Path, *puzzles: Any) -> Path:
    return save(folder / "log.json", [{"idx": k, "steps": steps} for k, steps in enumerate(puzzles)])


def short(path: Path, **options: Any) -> TreeOfThought:
    return TreeOfThought(**({"variant": "short", "path": path, "num_requests": None, "tokenizer": None} | options))


def test_a_puzzle_is_the_tree_that_the_search_saw(tmp_path: Path) -> None:
    (tree,) = read_game24(game(tmp_path, STEPS), arity=3, depth=4)
    assert tree.parent == (-1, 0, 0, 0, 1, 2, 2)
    assert tree.text[0][1] == "Input: 1 1 4 6\n"
    assert [text for (text,) in tree.text[1:]] == [A, C, B, "c\n", "a\n", "b\n"]


def test_arity_keeps_the_children_that_the_search_went_on_with(tmp_path: Path) -> None:
    (tree,) = read_game24(game(tmp_path, STEPS), arity=2, depth=4)
    assert [text[-1] for text in tree.text[1:3]] == [A, C]
    (tree,) = read_game24(game(tmp_path, STEPS), arity=3, depth=1)
    assert len(tree.parent) == 4


def test_every_node_is_asked_once_with_the_path_to_it(tmp_path: Path) -> None:
    demand = draw(short(game(tmp_path, STEPS)))
    prompts = texts(demand)
    paths = sorted(prompt.split("Input: 1 1 4 6\n")[1] for prompt in prompts)
    assert paths == sorted(["", A, B, C, C + "a\n", C + "b\n", A + "c\n"])
    assert all(prompt.startswith("Make 24") for prompt in prompts)
    assert set(demand.cluster.tolist()) == {0}


def test_trees_are_taken_whole_and_asked_again_where_there_are_too_few(tmp_path: Path) -> None:
    path = game(tmp_path, STEPS, [{**STEPS[0], "x": "2 2 4 6"}])
    assert len(set(texts(draw(short(path))))) == 11
    demand = draw(short(path, num_requests=25))
    assert sorted(np.bincount(demand.cluster).tolist()) == [3, 4, 4, 7, 7]
    assert len(set(texts(demand))) == 11


def test_a_grown_tree_is_complete_while_questions_last() -> None:
    questions = [Question(f"q{k}?", None if k == 1 else f"a{k}") for k in range(5)]
    tree = grow(["Root."], questions, arity=2, depth=2)
    assert tree == Thoughts(
        (-1, 0, 0, 1, 1, 2),
        (
            ("Root.",),
            ("\n\nQuestion: q0?\nAnswer: a0",),
            ("\n\nQuestion: q1?\nAnswer: The article does not say.",),
            ("\n\nQuestion: q2?\nAnswer: a2",),
            ("\n\nQuestion: q3?\nAnswer: a3",),
            ("\n\nQuestion: q4?\nAnswer: a4",),
        ),
    )


def test_long_trees_stand_behind_the_beginning_of_an_article(tmp_path: Path) -> None:
    salt = article("Salt", ("Salt is mined from rock.", ["Where from?", "What?"]), ("Sea salt is dried.", ["How?"]))
    path = squad(tmp_path / "squad.json", salt)
    plugin = TreeOfThought(
        variant="long", squad_paths=(path,), num_requests=None, arity=2, depth=2, article_tokens=30, tokenizer=None
    )
    prompts = texts(draw(plugin))
    assert len(prompts) == 4
    assert {prompt[:30] for prompt in prompts} == {"Salt is mined from rock.\n\nSea "}
    questions = sorted(prompt.count("Question: ") for prompt in prompts)
    assert questions == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"variant": "short"}, "path: found nothing; expected the key path with variant: short"),
        ({"variant": "long"}, "squad_paths: found nothing; expected the key squad_paths with variant: long"),
        ({"variant": "short", "path": Path("a"), "squad_paths": (Path("b"),)}, "squad_paths: found one"),
        ({"variant": "long", "squad_paths": (Path("b"),), "article_tokens": (5, 3)}, "article_tokens"),
    ],
)
def test_each_variant_needs_its_own_files(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ScenarioError, match=complaint):
        TreeOfThought(**options)


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], "no puzzle"),
        ([{"steps": []}], r"\[0\]\.steps: found \[\]; expected at least one step"),
        ([{"steps": [{"x": "1", "ys": ["a"], "new_ys": ["b"], "select_new_ys": []}]}], r"new_ys\[0\]: found \"b\""),
        ([{"steps": [{"ys": [""], "new_ys": [], "select_new_ys": []}]}], r"x: found nothing"),
        ({"steps": []}, "expected a list"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, document: Any, complaint: str) -> None:
    with pytest.raises(ScenarioError, match=complaint):
        draw(short(save(tmp_path / "bad.json", document)))


@needs_shared
def test_real_short_trees_fit_the_papers_cache() -> None:
    log = SHARED / "tot/gpt-4_0.7_propose1_value3_greedy5_start900_end1000.json"
    demand = draw(TreeOfThought(variant="short", path=log, depth=4))
    assert len(demand.prompts) == 1024
    assert 140 < demand.facts["mean_prompt_tokens"] < 200
    distinct = demand.prompts.num_tokens.sum() * (1 - demand.facts["sharing"])
    assert distinct + demand.output_tokens.sum() < 23_000


@needs_shared
def test_real_long_trees_stand_behind_3_to_5_thousand_tokens() -> None:
    demand = draw(TreeOfThought(variant="long", squad_paths=SQUAD_FILES))
    assert len(demand.prompts) == 1024
    assert np.bincount(demand.cluster).tolist()[:-1] == [40] * 25
    assert 3500 < demand.facts["mean_prompt_tokens"] < 4500
    assert demand.facts["sharing"] > 0.96
