"""The `audit` command: a batch file or a scenario's batches, every mechanism, every kind of lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechanism.audit.game import Game
from mechanism.audit.run import audit
from mechanism.model import PricingRule, SchedulingRule
from mechanism.radix_tree import build_tree
from sim.audit_report import AuditedBatch, AuditReport, BestLie, KindReport, MechanismReport
from sim.batch_file import read_batch
from sim.clearing_report import named_rules
from sim.population import make_requests
from sim.rng import stream
from sim.scenario import Scenario, load_scenario

__all__ = ["AuditSettings", "Rules", "audit_batch_file", "audit_batches", "audit_scenario"]

#: Called with (mechanism's label, batches done, batches in all).
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """How much is tried.

    Attributes
    ----------
    users : at most so many users, or pairs of users, for each kind of lie and batch.
    auctions : at most so many batches of a scenario.
    seed : of the choice of batches, users and random splits.
    """

    users: int = 12
    auctions: int = 2
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A pair of rules with the names they go by."""

    label: str
    schedule: str
    rule: SchedulingRule
    payment: str
    pricing: PricingRule


def audit_batch_file(
    path: Path, schedule: str, payment: str | None, tokenizer: str | None, settings: AuditSettings
) -> AuditReport:
    """Audit one batch file; the file's values are the truth (its bids, where it has none).

    Raises
    ------
    ScenarioError
        A file that breaks its format, an unknown rule, or a payment that is not defined under the schedule.
    """
    file = read_batch(path, tokenizer=tokenizer)
    payment, rule, pricing = named_rules(schedule, payment)
    names = tuple(dict.fromkeys(file.user))
    number = {name: index for index, name in enumerate(names)}
    batch = AuditedBatch(
        number=None,
        request_id=file.request_id,
        user_names=names,
        prompts=file.prompts,
        values=file.value,
        users=np.array([number[name] for name in file.user], dtype=np.int64),
    )
    rules = Rules(label=schedule, schedule=schedule, rule=rule, payment=payment, pricing=pricing)
    return audit_batches(str(path), [batch], [rules], settings)


def audit_scenario(
    path: str,
    overrides: Sequence[str],
    backend_types: Mapping[str, type[Any]],
    settings: AuditSettings,
    progress: Progress = lambda *_: None,
) -> AuditReport:
    """Audit every mechanism of a scenario on some batches of its first trial.

    Batches are consecutive requests by (arrival, file order), `batching.size` of each: those of a run whose requests
    all wait from the start. Values are the truth, whatever `bidding` says.

    Raises
    ------
    ScenarioError
        Whatever is wrong with the scenario.
    """
    scenario = load_scenario(path, backend_types, overrides=overrides)
    rules = [
        Rules(label=s.label, schedule=s.use, rule=s.rule, payment=s.payment, pricing=s.pricing)
        for s in scenario.schedules
    ]
    return audit_batches(path, _batches(scenario, settings), rules, settings, progress)


def audit_batches(
    source: str,
    batches: Sequence[AuditedBatch],
    mechanisms: Sequence[Rules],
    settings: AuditSettings,
    progress: Progress = lambda *_: None,
) -> AuditReport:
    """Audit every mechanism on every batch; the same users try the same lies under each of them."""
    reports = []
    for rules in mechanisms:
        kinds: dict[str, list[KindReport]] = {}
        summary = []
        for place, batch in enumerate(batches):
            progress(rules.label, place, len(batches))
            game = Game(
                tree=build_tree(batch.prompts),
                values=batch.values,
                users=batch.users,
                num_users=len(batch.user_names),
                schedule=rules.rule,
                pricing=rules.pricing,
                prompt_tokens=batch.prompts.num_tokens,
            )
            summary.append((batch.number, len(batch), len(batch.user_names), game.truth.welfare))
            rng = stream(settings.seed, batch.number or 0, "audit")
            for finding in audit(game, settings.users, rng):
                best = max(finding.deviations, key=lambda each: each.gain, default=None)
                report = KindReport(
                    kind=finding.kind,
                    tried=finding.tried,
                    shares=tuple(each.gain / game.worth(each.who) for each in finding.deviations),
                    welfare_changes=tuple(_change(each.welfare, game.truth.welfare) for each in finding.deviations),
                    best=None if best is None else BestLie.of(best, game, batch),
                )
                kinds.setdefault(finding.kind, []).append(report)
        progress(rules.label, len(batches), len(batches))
        reports.append(
            MechanismReport(
                label=rules.label,
                schedule=rules.schedule,
                payment=rules.payment,
                claims_truthful=rules.pricing.truthful,
                batches=tuple(summary),
                kinds=tuple(map(_together, kinds.values())),
            )
        )
    return AuditReport(source=source, seed=settings.seed, users_tried=settings.users, mechanisms=tuple(reports))


def _batches(scenario: Scenario, settings: AuditSettings) -> list[AuditedBatch]:
    requests, _ = make_requests(scenario, 0)
    kept = np.arange(len(requests)) if requests.refused is None else np.flatnonzero(~requests.refused)
    size = scenario.batching.size
    count = -(-len(kept) // size)
    chosen = np.sort(stream(settings.seed, 0, "audit-batches").permutation(count)[: settings.auctions])
    batches = []
    for number in chosen.tolist():
        rows = kept[number * size : (number + 1) * size]
        users, dense = np.unique(requests.user[rows], return_inverse=True)
        batches.append(
            AuditedBatch(
                number=number,
                request_id=tuple(requests.request_id[row] for row in rows),
                user_names=tuple(requests.user_names[user] for user in users),
                prompts=requests.prompts.take(rows),
                values=requests.value[rows],
                users=dense,
            )
        )
    return batches


def _change(welfare: float, truthful: float) -> float:
    return welfare / truthful - 1 if truthful > 0 else 0.0


def _together(parts: Sequence[KindReport]) -> KindReport:
    """One kind over all batches."""
    bests = [part.best for part in parts if part.best is not None]
    return KindReport(
        kind=parts[0].kind,
        tried=sum(part.tried for part in parts),
        shares=tuple(share for part in parts for share in part.shares),
        welfare_changes=tuple(change for part in parts for change in part.welfare_changes),
        best=max(bests, key=lambda each: each.gain, default=None),
    )
