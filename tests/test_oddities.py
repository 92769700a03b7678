"""Every record of `data/oddities/oddities.jsonl` is a test: here is which."""

import json
import re
from pathlib import Path

from trace_kit import SHARED, needs_shared

TESTS = Path(__file__).resolve().parent

#: Tests of the paper's workloads are named for what they show.
NAMED_OTHERWISE = {
    "O22": "test_real_elided_observations_break_the_prefix_where_the_agent_did",
    "O23": "test_real_content_is_a_text_or_a_list_of_parts",
    "O34": "test_squad_is_read_in_both_versions_and_stripped",
}


@needs_shared
def test_every_oddity_has_a_test() -> None:
    records = (SHARED / "oddities" / "oddities.jsonl").read_text(encoding="utf-8").splitlines()
    ids = [json.loads(line)["id"] for line in records if line.strip()]
    assert len(ids) == 23
    names = {name for path in TESTS.rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())}
    for each in ids:
        number = each.lower()
        found = [name for name in names if f"oddity_{number}" in name or f"_and_{number}" in name]
        assert found or NAMED_OTHERWISE.get(each) in names, f"no test for {each}"
