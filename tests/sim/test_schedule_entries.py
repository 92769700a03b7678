from pathlib import Path

import pytest
from scenario_kit import SMALL, load, refusal

from mechanism.pricing.pay_as_bid import PayAsBid
from mechanism.pricing.posted_tiers import PostedTiers
from mechanism.pricing.vcg import Vcg


def text(schedule: str, payment: str | None = None) -> str:
    wanted = SMALL.replace("[dfs-bid, no-sort]", schedule)
    return wanted if payment is None else f"{wanted}payment: {payment}\n"


def pairs(folder: Path, schedule: str, payment: str | None = None) -> list[tuple[str, str]]:
    return [(s.label, s.payment) for s in load(folder, text(schedule, payment)).schedules]


@pytest.mark.parametrize(
    ("schedule", "payment", "expected"),
    [
        ("dfs-bid", None, [("dfs-bid", "vcg")]),
        ("{use: bid-sort, label: b}", "default", [("b", "vcg")]),
        ("[bid-sort, no-sort, dfs-uniform]", None, [("bid-sort", "vcg"), ("no-sort", "free"), ("dfs-uniform", "free")]),
        ("[dfs-bid, no-sort]", "free", [("dfs-bid", "free"), ("no-sort", "free")]),
        ("[dfs-bid, no-sort]", "{use: pay-as-bid}", [("dfs-bid", "pay-as-bid"), ("no-sort", "pay-as-bid")]),
        ("[dfs-bid, no-sort]", "{dfs-bid: pay-as-bid}", [("dfs-bid", "pay-as-bid"), ("no-sort", "free")]),
        (
            "[{use: dfs-bid, label: a}, dfs-bid]",
            "{a: {use: free}, dfs-bid: default}",
            [("a", "free"), ("dfs-bid", "vcg")],
        ),
    ],
)
def test_every_schedule_has_its_payment(
    tmp_path: Path, schedule: str, payment: str | None, expected: list[tuple[str, str]]
) -> None:
    assert pairs(tmp_path, schedule, payment) == expected


def test_rules_are_instances(tmp_path: Path) -> None:
    entries = load(tmp_path, text("[dfs-bid, bid-sort]", "{bid-sort: pay-as-bid}")).schedules
    assert [entry.pricing for entry in entries] == [Vcg(), PayAsBid()]


def test_rules_of_your_own_are_named_module_and_class(tmp_path: Path) -> None:
    wanted = "{use: 'mechanism.scheduling.dfs_bid:DfsBid', label: mine}"
    assert pairs(tmp_path, wanted, "{mine: 'mechanism.pricing.free:Free'}") == [("mine", "mechanism.pricing.free:Free")]


@pytest.mark.parametrize(
    ("schedule", "payment", "message"),
    [
        ("[]", None, ":3: schedule: found an empty list; expected a schedule such as dfs-bid"),
        ("null", None, ":3: schedule: found nothing; expected a schedule such as dfs-bid"),
        (
            "dfs_bid",
            None,
            ':3: schedule: found "dfs_bid"; expected a name in mechanism.scheduling. Did you mean "dfs-bid"',
        ),
        ("[dfs-bid, dfs-bid]", None, ':3: schedule.1: found "dfs-bid" twice; expected labels that differ. Give one of'),
        ("[dfs-bid, {use: no-sort, label: dfs-bid}]", None, 'schedule.1: found "dfs-bid" twice'),
        ("[3]", None, "schedule.0: found 3; expected a schedule's name, or a block with the key use."),
        ("[{label: a}]", None, "schedule.0.use: found nothing; expected a name under use."),
        ("[{use: dfs-bid, label: 3}]", None, "expected a schedule's name"),
        ("[{use: dfs-bid, depth: 3}]", None, 'schedule.0.depth: found the unknown key "depth"'),
        ("dfs-bid", "vgc", ':5: payment: found "vgc"; expected a name in mechanism.pricing. Did you mean "vcg"?'),
        ("dfs-bid", "{dfs-bd: vcg}", ':5: payment.dfs-bd: found "dfs-bd"; expected a schedule\'s label. Did you mean'),
        ("dfs-bid", "3", ":5: payment: found 3; expected a name, or a block with the key use."),
        ("dfs-bid", "null", ":5: payment: found null; expected a name, or a block with the key use."),
        ("dfs-bid", "{use: free, price: 3}", ':5: payment.price: found the unknown key "price"'),
        ("dfs-bid", "no_such_module:Rule", ':5: payment: found "no_such_module:Rule"; expected module:Class'),
    ],
)
def test_wrong_blocks_are_refused(tmp_path: Path, schedule: str, payment: str | None, message: str) -> None:
    assert message in str(refusal(tmp_path, text(schedule, payment)))


@pytest.mark.parametrize(("payment", "where"), [("vcg", "payment"), ("{no-sort: vcg}", "payment.no-sort")])
def test_a_payment_that_is_not_defined_under_the_schedule_is_refused(tmp_path: Path, payment: str, where: str) -> None:
    error = refusal(tmp_path, text("no-sort", payment))
    assert str(error) == (
        f'{tmp_path}/scenario.yaml:5: {where}: found the payment "vcg" for the schedule "no-sort"; '
        "expected a payment that is defined under the schedule. The schedule's own is free."
    )


def test_a_schedules_own_payment_takes_its_parameters(tmp_path: Path) -> None:
    scenario = load(tmp_path, text("[{use: tiers, label: t2, tiers: 2, prices: [0.5]}, tiers]"))
    assert [s.pricing for s in scenario.schedules] == [PostedTiers(tiers=2, prices=(0.5,)), PostedTiers()]
    error = refusal(tmp_path, text("{use: tiers, tiers: 2}", "{use: posted-tiers, tiers: 4}"))
    assert "a payment that is defined under the schedule" in str(error)


def test_agents_with_a_budget_need_a_payment_within_what_is_bid(tmp_path: Path) -> None:
    budgets = "bidding: {use: pacing, budget: 1.0}\n"
    error = refusal(tmp_path, text("dfs-bid", "broken_rules:Surcharge") + budgets)
    assert 'agents with a budget under the payment "broken_rules:Surcharge"' in str(error)
    assert "bounds nothing where payments may exceed bids" in str(error)
    for schedule in ("tiers", "tree-tiers"):  # posted prices are never above the bid that chose them
        load(tmp_path, text(schedule) + budgets)
