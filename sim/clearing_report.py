"""One batch file, one auction: what the `auction` command prints."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanism.clearing import clear, request_payments
from mechanism.model import Auction, Outcome, PricingRule, SchedulingRule
from mechanism.prompts import FloatArray, IntArray
from mechanism.radix_tree import build_tree
from mechanism.welfare import priority, unconstrained_optimum, welfare
from sim.batch_file import BatchFile
from sim.errors import ScenarioError
from sim.plugins import load

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["auction_table", "clear_batch", "named_rules"]


def clear_batch(batch: BatchFile, schedule: str, payment: str | None = None) -> dict[str, Any]:
    """Clear one auction over a batch, arrivals in file order.

    Parameters
    ----------
    schedule, payment : names of rules; no payment means the schedule's own.

    Returns
    -------
    The `auction` JSON of DESIGN.md: requests in schedule order with `position` from 0, users in order of first
    appearance; `welfare` = Σ v·x, `declared_value` = Σ b·x, `utility` = Σ v·x − payment, money in units of bids.

    Raises
    ------
    ScenarioError
        An unknown rule, one that needs parameters, or a payment that is not defined under the schedule.
    """
    payment, rule, pricing = named_rules(schedule, payment)
    names, users = _user_index(batch.user)
    auction = Auction(
        tree=build_tree(batch.prompts),
        bids=batch.bid,
        users=users,
        num_users=len(names),
        prompt_tokens=batch.prompts.num_tokens,
    )
    outcome = clear(auction, rule, pricing)
    return {
        "schedule": schedule,
        "payment": payment,
        "n": len(batch),
        "welfare": welfare(batch.value, outcome.order),
        "welfare_upper_bound": unconstrained_optimum(batch.value),
        "requests": _request_rows(batch, auction, outcome),
        "users": _user_rows(names, batch.value, auction, outcome),
        "revenue": float(outcome.payments.sum()),
    }


def named_rules(schedule: str, payment: str | None) -> tuple[str, SchedulingRule, PricingRule]:
    """The rules that `--schedule` and `--payment` name, and the payment's name; none means the schedule's own.

    Raises
    ------
    ScenarioError
        An unknown rule, one that needs parameters, or a payment that is not defined under the schedule.
    """
    rule = _rule("mechanism.scheduling", "--schedule", schedule)
    payment = payment or rule.default_payment
    pricing = _rule("mechanism.pricing", "--payment", payment)
    if not pricing.defined_for(rule):
        hint = f"The schedule's own is {rule.default_payment}."
        raise ScenarioError("--payment", f'"{payment}" for "{schedule}"', "a payment defined under the schedule", hint)
    return payment, rule, pricing


def auction_table(result: dict[str, Any]) -> Table:
    """The same for the eye: one line a request, in schedule order."""
    from rich.table import Table
    from rich.text import Text  # names are text, whatever they look like

    table = Table(
        "position",
        "id",
        "user",
        "bid",
        "priority",
        "payment",
        title=f"{result['schedule']}, payment {result['payment']}",
        caption=f"welfare {result['welfare']:.6g} of at most {result['welfare_upper_bound']:.6g}, "
        f"revenue {result['revenue']:.6g}",
    )
    for row in result["requests"]:
        numbers = (f"{row[key]:.6g}" for key in ("bid", "priority", "payment"))
        table.add_row(str(row["position"]), Text(row["id"]), Text(row["user"]), *numbers)
    return table


def _rule(folder: str, option: str, name: str) -> Any:
    rule = load(folder, name, where=option)
    needed = [field.name for field in fields(rule) if field.default is MISSING and field.default_factory is MISSING]
    if needed:
        expected = f"a rule that works without parameters; this one needs {', '.join(needed)}"
        raise ScenarioError(option, f'"{name}"', expected, "Use it in a scenario.")
    return rule()


def _user_index(user: tuple[str, ...]) -> tuple[list[str], IntArray]:
    """Names in order of first appearance, and each request's place among them."""
    index = {name: number for number, name in enumerate(dict.fromkeys(user))}
    return list(index), np.array([index[name] for name in user], dtype=np.int64)


def _request_rows(batch: BatchFile, auction: Auction, outcome: Outcome) -> list[dict[str, Any]]:
    shares, payments = priority(outcome.order), request_payments(auction, outcome)
    return [
        {
            "id": batch.request_id[request],
            "user": batch.user[request],
            "bid": float(batch.bid[request]),
            "position": position,
            "priority": float(shares[request]),
            "payment": float(payments[request]),
        }
        for position, request in enumerate(outcome.order.tolist())
    ]


def _user_rows(names: list[str], value: FloatArray, auction: Auction, outcome: Outcome) -> list[dict[str, Any]]:
    shares = priority(outcome.order)
    declared, obtained = (
        np.bincount(auction.users, weights=money * shares, minlength=len(names)) for money in (auction.bids, value)
    )
    columns = zip(names, declared.tolist(), obtained.tolist(), outcome.payments.tolist(), strict=True)
    return [
        {"user": name, "declared_value": said, "payment": paid, "utility": got - paid}
        for name, said, got, paid in columns
    ]
