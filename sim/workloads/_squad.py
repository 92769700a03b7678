"""SQuAD: Wikipedia articles with questions about their paragraphs (Rajpurkar et al. 2016, 2018)."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sim.errors import ScenarioError
from sim.workloads._json_items import Item, read_json
from sim.workloads._real_texts import FileKey, file_keys

__all__ = ["Article", "Question", "read_squad"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its first recorded answer; None where the file gives none."""

    text: str
    answer: str | None


@dataclass(frozen=True, slots=True)
class Article:
    """The paragraphs of an article, and every question about one of them, in reading order."""

    paragraphs: tuple[str, ...]
    questions: tuple[Question, ...]


def read_squad(paths: Sequence[Path]) -> tuple[Article, ...]:
    """The articles of one or more files, v1.1 or v2.0: the answers may be missing, and so may `is_impossible`.

    Texts are stripped: one question in ten ends in a blank, and a blank at a joint moves the tokens around it.
    Blank questions, articles without a question and articles that earlier files had are left out.

    Raises
    ------
    ScenarioError
        Not the format, with file and key; no article with a question.
    """
    articles = {article.paragraphs: article for key in file_keys(paths) for article in _read(key) if article.questions}
    if not articles:
        raise ScenarioError(", ".join(map(str, paths)), "no article with a question", "SQuAD articles under data")
    return tuple(articles.values())


@functools.lru_cache(maxsize=8)
def _read(key: FileKey) -> tuple[Article, ...]:
    return tuple(map(_article, read_json(key[0])["data"]))


def _article(item: Item) -> Article:
    paragraphs = list(item["paragraphs"])
    contexts = tuple(paragraph["context"].text().strip() for paragraph in paragraphs)
    questions = (question for paragraph in paragraphs for question in _questions(paragraph["qas"]))
    return Article(tuple(filter(None, contexts)), tuple(question for question in questions if question.text))


def _questions(items: Item) -> Iterator[Question]:
    for item in items:
        first = next(iter(item["answers"]), None) if "answers" in item else None
        yield Question(item["question"].text().strip(), None if first is None else first["text"].text().strip())
