"""What a sweep prints of its points: readable numbers, what ± means, and which points failed."""

from typing import Any

import pytest
from rich.console import Console

from sim.sweep_table import sweep_table


def cell(*labels: str) -> dict[str, Any]:
    moments = {"hit_rate": {"mean": 0.5, "se": 0.01}, "welfare_pct_over_random": {"mean": -1.25, "se": 0.5}}
    return {"summary": {"schedules": dict.fromkeys(labels, moments)}}


def printed(settings: list[dict[str, Any]], cells: list[dict[str, Any] | None], **options: Any) -> str:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(sweep_table(settings, cells, **options))
    return captured.get()


def test_it_says_what_plus_minus_is() -> None:
    said = printed([{"batching.size": 8}], [cell("lpm")])
    assert "50.0 ± 1.0" in said
    assert "Mean ± one standard error over trials." in said


@pytest.mark.parametrize(
    ("value", "told"), [(0.123456789, "0.123457"), (-0.5, "−0.5"), (-3, "−3"), (123456, "123456"), (None, "null")]
)
def test_axis_values_are_for_readers(value: Any, told: str) -> None:
    row = printed([{"x": value}], [cell("lpm")]).splitlines()[3]
    assert row.split("│")[1].strip() == told
    assert "−1.2 ± 0.5" in row


def test_a_point_that_failed_is_told_from_one_that_was_not_run() -> None:
    settings = [{"schedule": name, "batching.size": 8} for name in ("lpm", "fcfs", "dfs-bid")]
    said = printed(settings, [cell("lpm"), None, None], failed={1: "told to"})
    assert "fcfs: failed" in said
    assert "dfs-bid: not run" in said


def test_points_beyond_the_settings_given_are_counted() -> None:
    said = printed([{"x": place} for place in range(50)], [cell("lpm")] * 3000)
    assert "… and 2,960 more points" in said
