"""The reading, case by case."""

import pytest
from kappa_kit import FOUR, priced

from sim.kappa_report import KappaReport, report_kappa
from sim.kappa_words import node_name, percent, prefix_name, reading

TRUTHFUL = [{**row, "bid": row["value"]} for row in FOUR]


def of_file(rows: list, **labels: object) -> KappaReport:
    return report_kappa("b.jsonl", [priced(rows, **labels)], is_run=False)


def of_run(*batches: tuple[str, bool, list]) -> KappaReport:
    found = [
        priced(rows, schedule=schedule, trial=0, batch=number, by_average_bid=by)
        for number, (schedule, by, rows) in enumerate(batches)
    ]
    return report_kappa("run", found, is_run=True)


def test_one_batch() -> None:
    assert reading(of_file(FOUR)) == [
        "46.4 % guaranteed, 78.6 % realised; 53 % of the possible loss sits at one node: the prefix of 1 token, where "
        "3 branches with 3 requests compete and multipliers are up to 2 times apart. Looked at pair by pair (our "
        "tighter bound), 67.9 % is guaranteed."
    ]


def test_a_hole_is_said() -> None:
    rows = [{**row, "bid": 0.0} if row["user"] == "u2" else row for row in FOUR]
    (said,) = reading(of_file(rows))
    assert "compete and κ is infinite" in said
    assert "Nothing is guaranteed at 1 node with 57.1 % of the welfare" in said


def test_loss_that_is_spread() -> None:
    """A chain of ten pairs, each at 1 and ½, worth the less the deeper."""
    rows = [
        {"user": "u", "bid": 1.0 if last else 0.5, "value": 1.0, "tokens": [0] * depth + [1 + last]}
        for depth in range(10)
        for last in (0, 1)
    ]
    (said,) = reading(of_file(rows))
    assert "; the possible loss is spread: the 5 worst of 10 nodes hold " in said


def test_nothing_to_lose() -> None:
    (said,) = reading(of_file(TRUTHFUL))
    assert said.startswith("100 % guaranteed and realised:")
    (said,) = reading(of_file([{**row, "bid": 0.7 * row["value"]} for row in FOUR]))
    assert said.startswith("100 % guaranteed and realised:")
    (said,) = reading(of_file(FOUR[:1]))
    assert said == "nobody competes: one request waits alone, so there is no welfare to lose."
    (said,) = reading(of_run(("dfs-bid", True, FOUR[:1]), ("dfs-bid", True, FOUR[1:2])))
    assert said.startswith("dfs-bid, 2 auctions: nobody competes: requests wait one at a time")
    (said,) = reading(of_file([{**row, "value": 0.0} for row in FOUR]))
    assert said.startswith("no order is worth more than another")


def test_multipliers_beyond_a_double_are_no_missing_bids() -> None:
    rows = [{**row, "bid": 1e-300 if row["user"] == "u2" else 1e300 * row["bid"]} for row in FOUR]
    (said,) = reading(of_file(rows))
    assert "Nothing is guaranteed at 1 node with 57.1 % of the welfare: multipliers there are further apart" in said
    rows[3] = {**rows[3], "bid": 0.0}
    (said,) = reading(of_file(rows))
    assert "or a bid and no value; at 1 of them, multipliers there are further apart" in said


def test_a_file_without_values() -> None:
    assert reading(of_file(TRUTHFUL, has_values=False))[-1].startswith("The file states no values")


def test_a_run_over_its_batches() -> None:
    """Equal batches, one of them truthful: (6.5 + 14)/28 guaranteed, (11 + 14)/28 realised."""
    (said,) = reading(of_run(("dfs-bid", True, FOUR), ("dfs-bid", True, TRUTHFUL)))
    assert said.startswith(
        "dfs-bid, 2 auctions: 73.2 % guaranteed, 89.3 % realised (at worst 46.4 % and 78.6 %, in batch 0"
    )
    assert "47 % of the possible loss sits at the root" in said


def test_the_schedule_with_the_largest_possible_loss_comes_first() -> None:
    worse = [{**row, "bid": 0.0} if row["user"] == "u2" else row for row in FOUR]
    report = of_run(
        ("truthful", True, TRUTHFUL), ("ours", True, FOUR), ("silent", True, worse), ("other", False, worse)
    )
    assert [group.schedule for group in report.groups] == ["silent", "ours", "truthful", "other"]
    assert report.shown is not None
    assert report.shown.found.priced.schedule == "silent"
    assert [part.shown.found.priced.schedule for part in report.parts] == ["silent", "ours", "truthful", "other"]


def test_schedules_that_serve_otherwise_come_last_and_unread() -> None:
    report = of_run(("no-sort", False, FOUR), ("dfs-bid", True, TRUTHFUL))
    assert [group.schedule for group in report.groups] == ["dfs-bid", "no-sort"]
    (said,) = reading(report)
    assert said.startswith("dfs-bid, 1 auction: 100 %")
    said = reading(of_run(("no-sort", False, FOUR)))[-1]
    assert said.startswith("No schedule of this run serves by average bid")


def test_a_run_without_an_auction() -> None:
    assert reading(report_kappa("run", [], is_run=True)) == ["The run held no auction: there is nothing to guarantee."]


def test_users_are_summed_over_batches() -> None:
    (group,) = of_run(("dfs-bid", True, FOUR), ("dfs-bid", True, TRUTHFUL)).groups
    users = {user.name: user for user in group.users()}
    assert [user.name for user in group.users()] == ["u2", "u4", "u1", "u3"]
    assert (users["u2"].num_requests, users["u2"].value, users["u2"].bid) == (2, 4, 3)
    assert users["u2"].cost == pytest.approx(3 / 28)


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.5, "50.0 %"), (1 - 1e-13, "100 %"), (1 - 1e-5, "99.999 %"), (1e-9, "nearly 0 %"), (1 - 1e-9, "nearly 100 %")],
)
def test_percent_says_neither_nothing_nor_all_of_what_is_not(share: float, said: str) -> None:
    assert percent(share) == said


def test_names_of_nodes() -> None:
    assert (node_name(0, 0), node_name(4, 300)) == ("root", "node 5")
    assert (prefix_name(0), prefix_name(1), prefix_name(2000)) == (
        "the root",
        "the prefix of 1 token",
        "the prefix of 2,000 tokens",
    )
