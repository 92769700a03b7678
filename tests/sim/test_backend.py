import numpy as np
import pytest

from backends.simulated import Simulated
from sim.backend import Limits
from sim.errors import ScenarioError


@pytest.mark.parametrize(
    ("limits", "prompt", "output", "refused"),
    [
        (Limits(), 10**6, 10**6, False),
        (Limits(kv_tokens=100), 89, 10, False),  # 99 < 100
        (Limits(kv_tokens=100), 90, 10, True),  # 100 ≥ 100
        (Limits(kv_tokens=5000), 900, 10**6, False),  # at most 4096 tokens of output are reserved
        (Limits(kv_tokens=5000), 904, 10**6, True),
        (Limits(kv_tokens=100, page_tokens=16), 70, 10, False),  # five pages of the six that are whole
        (Limits(kv_tokens=100, page_tokens=16), 71, 10, True),  # 81 tokens are six pages
        (Limits(context_tokens=50), 40, 10, False),
        (Limits(context_tokens=50), 41, 10, True),
    ],
)
def test_what_never_fits_is_refused(limits: Limits, prompt: int, output: int, refused: bool) -> None:
    assert limits.refused(np.array([prompt]), np.array([output])).tolist() == [refused]


def test_a_chunk_is_whole_pages() -> None:
    with pytest.raises(ScenarioError, match="multiple of page_tokens, 16"):
        Simulated(page_tokens=16, chunked_prefill_tokens=100)
