"""mixshare-P on real text, with files small enough to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_files import SHARED, SQUAD_FILES, article, draw, gsm8k, needs_shared, save, squad, texts

from sim.errors import ScenarioError
from sim.workloads._gsm8k import read_gsm8k
from sim.workloads._squad import Question, read_squad
from sim.workloads.squad_gsm8k import SquadGsm8k

BREAD = article("Bread", ("Bread is baked.", ["What is baked? ", " Who bakes?"]), ("Crust is hard.", ["What is hard?"]))
SALT = article("Salt", ("Salt is mined.", ["What is mined?"]), ("Sea salt is dried.", ["What is dried?"]))


def workload(folder: Path, problems: int = 12, **changes: Any) -> SquadGsm8k:
    options = {"num_requests": 8, "cluster_size": 2, "num_examples": 2, "article_tokens": 20, "tokenizer": None}
    return SquadGsm8k(
        squad_paths=(squad(folder / "squad.json", BREAD, SALT),),
        gsm8k_path=gsm8k(folder / "train.jsonl", problems),
        **(options | changes),
    )


def test_clusters_share_a_context_and_singletons_do_not(tmp_path: Path) -> None:
    demand = draw(workload(tmp_path))
    prompts, cluster = texts(demand), demand.cluster.tolist()
    assert sorted(cluster) == [0, 0, 1, 1, 2, 3, 4, 5]  # a cluster of each kind, then two singletons of each
    by_cluster = {c: [p for p, of in zip(prompts, cluster, strict=True) if of == c] for c in range(6)}
    example = "Question: How many are {0} and none?\nAnswer: Still {0}.\n#### {0}\n\n"
    assert all(prompt.startswith(example.format(0) + example.format(1)) for prompt in by_cluster[1])
    assert by_cluster[4][0].startswith(example.format(1) + example.format(2))
    assert by_cluster[5][0].startswith(example.format(2) + example.format(3))
    assert {prompt[:20] for prompt in by_cluster[0]} <= {"Bread is baked.\n\nCru", "Salt is mined.\n\nSea "}
    assert {prompt[:20] for c in (2, 3) for prompt in by_cluster[c]} == {
        "Crust is hard.\n\nBrea",
        "Sea salt is dried.\n\n",
    }


def test_an_example_is_never_asked_and_no_problem_twice(tmp_path: Path) -> None:
    prompts = texts(draw(workload(tmp_path)))
    asked = [p.rsplit("Question: ", 1)[1] for p in prompts if p.startswith("Question: ")]
    number = [int(question.split()[3]) for question in asked]
    assert len(set(number)) == len(number) == 4
    assert min(number) >= 4  # problems 0 … 3 are examples of three contexts


def test_every_prompt_ends_in_its_question_without_stray_blanks(tmp_path: Path) -> None:
    asked = {p[20:] for p in texts(draw(workload(tmp_path, gsm8k_share=0.0, num_requests=6, sharing=1.0)))}
    known = ("What is baked?", "Who bakes?", "What is hard?", "What is mined?", "What is dried?")
    assert asked <= {f"\n\nQuestion: {question}\nAnswer:" for question in known}


def test_sharing_is_the_share_of_requests_in_clusters(tmp_path: Path) -> None:
    for sharing, clustered in ((0.0, 0), (0.5, 4), (1.0, 8)):
        demand = draw(workload(tmp_path, 40, sharing=sharing, gsm8k_share=1.0))
        sizes = np.bincount(demand.cluster)
        assert sizes[sizes > 1].sum() == clustered


def _common(a: str, b: str) -> int:
    return next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def test_facts_are_measured_on_the_prompts(tmp_path: Path) -> None:
    demand = draw(workload(tmp_path))
    prompts = texts(demand)
    hits = [max((_common(p, q) for q in prompts[:k]), default=0) for k, p in enumerate(prompts)]
    total = sum(map(len, prompts))
    assert demand.facts == {
        "sharing": sum(hits) / total,
        "mean_prompt_tokens": total / 8,
        "few_shot_prefix_tokens": 2 * len("Question: How many are 0 and none?\nAnswer: Still 0.\n#### 0\n\n"),
    }


def test_the_same_seed_asks_the_same_and_another_trial_does_not(tmp_path: Path) -> None:
    plugin = workload(tmp_path)
    assert texts(draw(plugin)) == texts(draw(plugin))
    assert texts(draw(plugin)) != texts(draw(plugin, trial=1))


def test_a_short_article_is_used_whole_and_its_questions_come_round_again(tmp_path: Path) -> None:
    path = squad(tmp_path / "one.json", article("Salt", ("Salt.", ["Why?"])))
    plugin = SquadGsm8k(
        squad_paths=(path,),
        gsm8k_path=gsm8k(tmp_path / "g.jsonl", 3),
        num_requests=3,
        sharing=1.0,
        gsm8k_share=0.0,
        num_examples=1,
        tokenizer=None,
    )
    assert set(texts(draw(plugin))) == {"Salt.\n\n\n\nQuestion: Why?\nAnswer:"}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (
            {"num_requests": 12, "gsm8k_share": 0.0},
            r"workload\.num_requests: found .*SQuAD contexts; expected at most 4",
        ),
        (
            {"num_requests": 12, "gsm8k_share": 1.0},
            r"examples and 12 questions of .*; expected at most its 12 problems",
        ),
    ],
)
def test_more_requests_than_the_files_can_ask_are_refused(
    tmp_path: Path, changes: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ScenarioError, match=complaint):
        draw(workload(tmp_path, **changes))


def test_squad_is_read_in_both_versions_and_stripped(tmp_path: Path) -> None:
    old = squad(tmp_path / "v1.json", BREAD)
    unanswerable = {"id": "q", "question": "Why?", "answers": [], "is_impossible": True}
    bare = {"id": "r", "question": "Which count ", "is_impossible": True}
    new = {"title": "Salt", "paragraphs": [{"context": " Salt.\n", "qas": [unanswerable, bare]}]}
    articles = read_squad([old, squad(tmp_path / "v2.json", new, version="v2.0"), old])
    assert [a.paragraphs for a in articles] == [("Bread is baked.", "Crust is hard."), ("Salt.",)]
    assert articles[0].questions[:2] == (Question("What is baked?", "Bread"), Question("Who bakes?", "Bread"))
    assert articles[1].questions == (Question("Why?", None), Question("Which count", None))


def test_squads_mistakes_are_named_by_key(tmp_path: Path) -> None:
    path = save(tmp_path / "a.json", {"data": [{"paragraphs": [{"context": "Salt.", "qas": [{"question": 7}]}]}]})
    with pytest.raises(ScenarioError, match=r"a\.json: data\[0\]\.paragraphs\[0\]\.qas\[0\]\.question: found 7"):
        read_squad([path])
    with pytest.raises(ScenarioError, match=r'b\.json: data: found nothing; expected the key "data"'):
        read_squad([save(tmp_path / "b.json", {"articles": []})])
    with pytest.raises(ScenarioError, match="no article with a question"):
        read_squad([save(tmp_path / "c.json", {"data": []})])


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    assert len(read_gsm8k(gsm8k(tmp_path / "g.jsonl", 3))) == 3
    assert len(read_gsm8k(gsm8k(tmp_path / "g.jsonl", 5))) == 5


def test_gsm8ks_mistakes_are_named_by_line_and_key(tmp_path: Path) -> None:
    path = gsm8k(tmp_path / "g.jsonl", 2)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"question": "  ", "answer": "1"}) + "\n")
    with pytest.raises(ScenarioError, match=r"g\.jsonl:3: question: found .*; expected a text"):
        read_gsm8k(path)
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match="no problems"):
        read_gsm8k(path)


@needs_shared
def test_real_mixshare_50_has_the_papers_prefixes() -> None:
    demand = draw(SquadGsm8k(squad_paths=SQUAD_FILES, gsm8k_path=SHARED / "gsm8k/train.jsonl"))
    assert len(demand.prompts) == 1024
    assert demand.facts["few_shot_prefix_tokens"] == 1119
    assert 1000 < demand.facts["mean_prompt_tokens"] < 1300
    assert 0.45 < demand.facts["sharing"] < 0.5  # 15 of 16 contexts of half the prompts
    assert np.bincount(demand.cluster).tolist() == [16] * 32 + [1] * 512
