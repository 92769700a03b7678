"""What the fidelity page says first, and what it lists."""

from pathlib import Path

from calibration_kit import PassesForLive
from fidelity_kit import PROFILE, SERVER, validated

from reports.fidelity_page import write_fidelity_page


def test_a_pass_says_so_first_and_counts_equal_requests(tmp_path: Path) -> None:
    found = validated(tmp_path, PassesForLive(SERVER))
    text = write_fidelity_page(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<strong>Pass.</strong> All 10 thresholds hold, over 2 schedules and 2 live runs." in text
    assert "Of 160 requests, 160 found exactly as many cached tokens" in text
    assert "That is 100.0 %; two live runs agree on 100.0 %." in text
    assert "No request of the first run differs." in text


def test_a_failure_names_what_does_not_hold(tmp_path: Path) -> None:
    slow = {**PROFILE["latency"], "weights_ms": 60.0}
    found = validated(tmp_path, PassesForLive(SERVER), runs=1, latency=slow)
    text = write_fidelity_page(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<strong>Fail.</strong> 4 of 10 thresholds do not hold: dfs-bid: mean TTFT" in text
    assert "one run, no spread" in text


def test_a_server_that_does_not_repeat_itself_is_told_from_a_simulation_that_is_off(tmp_path: Path) -> None:
    found = validated(tmp_path, PassesForLive(SERVER, noise=0.5), "validation.ttft_mean_pct=0.01")
    text = write_fidelity_page(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "of them two runs of the server itself differ by more than the threshold." in text
    assert "does not hold: the server itself wanders" in text


def test_requests_that_differ_are_listed(tmp_path: Path) -> None:
    found = validated(tmp_path, PassesForLive(SERVER), runs=1)
    found.simulated[0] = found.simulated[0].with_columns(found.simulated[0]["cached_tokens"] + 1)
    text = write_fidelity_page(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Cached, simulated" in text


def test_a_silent_server_leaves_out_what_it_did_not_say(tmp_path: Path) -> None:
    found = validated(tmp_path, PassesForLive(SERVER, silent=True), runs=1)
    text = write_fidelity_page(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The server did not report cached tokens." in text
