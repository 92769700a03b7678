"""Which scenario stands for which shape: of synthetic text, or of the real text in a folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sim.errors import ScenarioError
from sim.tokenizer import load_tokenizer

__all__ = ["SYNTHETIC", "TextSource", "real_text"]

#: Shape → shipped scenario.
_SYNTHETIC = {
    "stars": "mixshare-sweep",
    "chains": "chains",
    "short-tree": "short-tree",
    "long-tree": "long-tree",
    "one-cluster": "one-cluster",
    "pacing-stars": "pacing-60",
    "pacing-chains": "pacing-60-chains",
    "pacing-trees": "pacing-60-trees",
}
#: What `--data` must hold, by the name used below.
_FILES = {
    "squad_dev": "squad/dev-v2.0.json",
    "squad_test": "squad/test-v2.0.json",
    "gsm8k": "gsm8k/train.jsonl",
    "swe_agent": "sweagent",
    "swe_smith": "swesmith",
    "game_of_24": "tot/gpt-4_0.7_propose1_value3_greedy5_start900_end1000.json",
}
#: Requests of 60 auctions of 64, and clusters so large that every auction holds some of each, as in pacing-60.
_PACING = {"num_requests": 3840, "output_tokens": 1}


@dataclass(frozen=True)
class TextSource:
    """What the prompts are made of.

    Attributes
    ----------
    words : for the pages.
    data : the folder of real text; None = synthetic.
    scenarios : shape → (shipped scenario, overrides).
    """

    words: str
    data: Path | None
    scenarios: dict[str, tuple[str, tuple[str, ...]]]


SYNTHETIC = TextSource(
    words="synthetic text: lengths and sharing as stated in the paper's §5, first tokens shared by accident as real "
    "text shares them",
    data=None,
    scenarios={shape: (name, ()) for shape, name in _SYNTHETIC.items()},
)


def real_text(folder: Path) -> TextSource:
    """The paper's workloads on SQuAD, GSM8K, SWE-agent and Game of 24, read from `folder`.

    Raises
    ------
    ScenarioError
        A file is missing, or the `text` extra is not installed.
    """
    for name in _FILES.values():
        if not (folder / name).exists():
            raise ScenarioError(f"--data {folder}", f"no {name}", f"the data sets {', '.join(_FILES.values())}")
    load_tokenizer("o200k")
    at = {name: str((folder / path).resolve()) for name, path in _FILES.items()}
    squad, agents = [at["squad_dev"], at["squad_test"]], [at["swe_agent"], at["swe_smith"]]
    stars = _paths(squad_paths=squad, gsm8k_path=at["gsm8k"])
    pacing = {
        "pacing-stars": {"kind": "squad-gsm8k", "squad_paths": squad, "gsm8k_path": at["gsm8k"], "cluster_size": 240},
        "pacing-chains": {"kind": "swe-agent", "paths": agents, "private_runs": True},
        "pacing-trees": {"kind": "tree-of-thought", "variant": "short", "path": at["game_of_24"], "depth": 4},
    }
    return TextSource(
        words="real text: SQuAD 2.0 and GSM8K (stars), trajectories of SWE-agent and SWE-smith (chains), a search log "
        "of Game of 24 (short trees), SQuAD articles (long trees)",
        data=folder,
        scenarios={
            "stars": ("real-mixshare-50", stars),
            "chains": ("real-chains", _paths(paths=agents)),
            "short-tree": ("real-short-tree", _paths(path=at["game_of_24"])),
            "long-tree": ("real-long-tree", _paths(squad_paths=squad)),
            "one-cluster": ("real-mixshare-50", (*stars, "values.only_cluster=0")),
            **{
                shape: (_SYNTHETIC[shape], (f"workload={json.dumps({**block, **_PACING})}",))
                for shape, block in pacing.items()
            },
        },
    )


def _paths(**keys: str | list[str]) -> tuple[str, ...]:
    return tuple(f"workload.{key}={json.dumps(value)}" for key, value in keys.items())
