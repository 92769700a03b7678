"""Every recording of a real SGLang server, 0.5.9 and 0.5.23, reproduced pass by pass.

The recordings (`sglang-*/*.json.gz`) were made by a logging hook on an unmodified server: arrivals and passes in
order. Fed the same arrivals before each pass and nothing else, the engine must decide the same every time. Those with
priorities were made by 0.5.23's own scheduler without a model (`tests/live/own_scheduler`).
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from replay_kit import check_reproduced

RECORDINGS = sorted(Path(__file__).parent.glob("sglang-*/*.json.gz"))


def test_all_recordings_are_here() -> None:
    assert Counter(path.parent.name for path in RECORDINGS) == {"sglang-0.5.9": 55, "sglang-0.5.23": 59}


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}")
def test_recording_is_reproduced(path: Path) -> None:
    with gzip.open(path) as file:
        check_reproduced(json.load(file))
