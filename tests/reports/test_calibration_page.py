"""What the calibration page says, from the profile alone."""

from pathlib import Path
from typing import Any

import pytest
from fidelity_kit import profile_of

from reports.calibration_page import write_calibration_page


@pytest.fixture(scope="module")
def profile() -> dict[str, Any]:
    return profile_of()


def text_of(profile: dict[str, Any], folder: Path) -> str:
    return write_calibration_page(profile, folder / "page.html").read_text(encoding="utf-8")


def test_the_verdict_names_held_out_errors_and_the_servers_own(profile: dict[str, Any], tmp_path: Path) -> None:
    text = text_of(profile, tmp_path)
    errors = profile["held_out_error_percent"]["prefill"]
    assert f"time to first token of one prompt {errors['mean']:.1f} % off on average" in text
    assert f"± {profile['repeat_spread_percent']['prefill']:.1f} %" in text


def test_every_coefficient_and_every_gap_is_listed(profile: dict[str, Any], tmp_path: Path) -> None:
    text = text_of(profile, tmp_path)
    assert all(name in text for name in profile["latency"])
    assert "enters only in a sum with decode_base_ms" in text
    assert text.count("held out</td>") == sum(row["held_out"] for row in profile["measurements"])


def test_an_interrupted_calibration_says_so(profile: dict[str, Any], tmp_path: Path) -> None:
    cut = {**profile, "provenance": {**profile["provenance"], "status": "interrupted"}}
    cut["held_out_error_percent"] = {"prefill": None, "decode": None, "mixed": None}
    text = text_of(cut, tmp_path)
    assert "Interrupted: fitted to what was measured until then." in text
    assert "mixed: not measured on anything the fit had not seen" in text
