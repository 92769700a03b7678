"""Trees of thoughts: Game-of-24 logs (Yao et al. 2023), and articles explored by question and answer."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sim.errors import ScenarioError
from sim.workloads._json_items import Item, read_json
from sim.workloads._real_texts import FileKey, file_keys
from sim.workloads._squad import Question

__all__ = ["Thoughts", "grow", "read_game24"]

#: What a solver of the game is told, with one worked example.
_RULES = """\
Make 24 of the four input numbers with + - * / and brackets, each number once. A step combines two of the numbers left.

Input: 1 3 4 6
3 / 4 = 0.75 (left: 0.75 1 6)
1 - 0.75 = 0.25 (left: 0.25 6)
6 / 0.25 = 24 (left: 24)
Answer: 6 / (1 - 3 / 4) = 24

"""


@dataclass(frozen=True, slots=True)
class Thoughts:
    """A tree in breadth-first order; node 0 is the root, and parents come before their children.

    Attributes
    ----------
    parent : the parent of each node; the root's is −1.
    text : what each node adds to its parent's text; one list entry a piece that is tokenised by itself.
    """

    parent: tuple[int, ...]
    text: tuple[tuple[str, ...], ...]


def read_game24(path: Path, arity: int, depth: int) -> tuple[Thoughts, ...]:
    """One tree a puzzle: the root is the rules and the puzzle, a node adds one step to the steps of its parent.

    A node keeps its first `arity` children, those first that the search went on with; down to `depth` steps.

    Raises
    ------
    ScenarioError
        Not the format, with file and key; a child whose text does not continue one of the step's parents.
    """
    trees = tuple(_puzzle(puzzle, arity, depth) for puzzle in _read(*file_keys([path])))
    if not trees:
        raise ScenarioError(str(path), "no puzzle", "a log of a Game-of-24 search")
    return trees


@dataclass(frozen=True, slots=True)
class _Puzzle:
    """The numbers, and for every depth the families: parent's text → its children's, the selected ones first."""

    numbers: str
    levels: tuple[dict[str, tuple[str, ...]], ...]


@functools.lru_cache(maxsize=8)
def _read(key: FileKey) -> tuple[_Puzzle, ...]:
    puzzles = []
    for entry in read_json(key[0]):
        steps = list(entry["steps"])
        if not steps:
            raise entry["steps"].problem("at least one step")
        puzzles.append(_Puzzle(steps[0]["x"].text().strip(), tuple(map(_families, steps))))
    return tuple(puzzles)


def _families(step: Item) -> dict[str, tuple[str, ...]]:
    families: dict[str, dict[str, None]] = {parent.text(): {} for parent in step["ys"]}
    selected = {item.text() for item in step["select_new_ys"]}
    proposed = list(step["new_ys"])
    for item in sorted(proposed, key=lambda item: item.text() not in selected):
        child = item.text()
        parent = max((text for text in families if child.startswith(text)), key=len, default=None)
        if parent is None:
            raise item.problem("the text of one of the step's ys, and one more step")
        if child != parent:
            families[parent][child] = None
    return {parent: tuple(children) for parent, children in families.items()}


def _puzzle(puzzle: _Puzzle, arity: int, depth: int) -> Thoughts:
    parent = [-1]
    text: list[tuple[str, ...]] = [(_RULES, f"Input: {puzzle.numbers}\n")]
    nodes = {"": 0}
    for families in puzzle.levels[:depth]:
        above, nodes = nodes, {}
        for said, node in above.items():
            for child in families.get(said, ())[:arity]:
                nodes[child] = len(parent)
                parent.append(node)
                text.append((child[len(said) :],))
    return Thoughts(tuple(parent), tuple(text))


def grow(root: Sequence[str], questions: Iterable[Question], arity: int, depth: int) -> Thoughts:
    """A complete tree over `root` whose nodes add a question and its answer each; smaller where questions run out."""
    parent, level = [-1], [0]
    text: list[tuple[str, ...]] = [tuple(root)]
    remaining = iter(questions)
    for _ in range(depth):
        families = [(node, question) for node in level for _, question in zip(range(arity), remaining, strict=False)]
        level = list(range(len(parent), len(parent) + len(families)))
        parent += [node for node, _ in families]
        text += [(f"\n\nQuestion: {q.text}\nAnswer: {q.answer or 'The article does not say.'}",) for _, q in families]
    return Thoughts(tuple(parent), tuple(text))
