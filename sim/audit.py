"""The `audit` command: a batch file or a scenario's batches, every mechanism, every kind of lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechanism.audit.game import Game
from mechanism.audit.pen import SymbolPen
from mechanism.audit.run import Finding, audit
from mechanism.model import PricingRule, SchedulingRule
from sim.audit_lie import AuditedBatch, BestLie
from sim.audit_notes import file_notes, scenario_notes
from sim.audit_report import AuditReport, KindReport, MechanismReport
from sim.audit_source import AuditSettings, AuditSource
from sim.audit_text import texts_of
from sim.batch_file import BatchFile, read_batch
from sim.clearing_report import named_rules
from sim.errors import ScenarioError
from sim.population import make_requests
from sim.quantities import MOST_MONEY
from sim.rng import stream
from sim.scenario import Scenario, load_scenario

__all__ = ["Rules", "audit_batch_file", "audit_batches", "audit_scenario"]

#: Called with (mechanism's label, users or pairs done, users or pairs in all).
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A pair of rules with the names they go by."""

    label: str
    schedule: str
    rule: SchedulingRule
    payment: str
    pricing: PricingRule


def audit_batch_file(
    path: Path,
    schedule: str,
    payment: str | None,
    tokenizer: str | None,
    settings: AuditSettings,
    progress: Progress = lambda *_: None,
) -> AuditReport:
    """Audit one batch file; the file's values are the truth (its bids, where it has none).

    Raises
    ------
    ScenarioError
        A file that breaks its format, a value so large that no multiple of it can be bid, an unknown rule, or a payment
        that is not defined under the schedule.
    """
    file = read_batch(path, tokenizer=tokenizer)
    payment, rule, pricing = named_rules(schedule, payment)
    _check_values(path, file)
    names = tuple(dict.fromkeys(file.user))
    number = {name: index for index, name in enumerate(names)}
    batch = AuditedBatch(
        number=None,
        request_id=file.request_id,
        user_names=names,
        prompts=file.prompts,
        values=file.value,
        users=np.array([number[name] for name in file.user], dtype=np.int64),
        pen=texts_of(path, tokenizer) or SymbolPen(file.prompts, whole_blocks=True),
    )
    rules = Rules(label=schedule, schedule=schedule, rule=rule, payment=payment, pricing=pricing)
    options = {"--schedule": schedule, "--payment": payment, "--tokenizer": tokenizer}
    source = AuditSource.of(str(path), options, settings, notes=file_notes(file, rule))
    return audit_batches(source, [batch], [rules], settings, progress)


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
    options: dict[str, Any] = {"--set": list(overrides), "--auctions": settings.auctions}
    source = AuditSource.of(path, options, settings, notes=scenario_notes(scenario), config_hash=scenario.config_hash)
    return audit_batches(source, _batches(scenario, settings), rules, settings, progress)


def audit_batches(
    source: AuditSource,
    batches: Sequence[AuditedBatch],
    mechanisms: Sequence[Rules],
    settings: AuditSettings,
    progress: Progress = lambda *_: None,
) -> AuditReport:
    """Audit every mechanism on every batch; the same users try the same lies under each of them.

    At a KeyboardInterrupt the report holds what was found so far, and says that it is partial. One that comes before
    anything was tried passes through.
    """
    reports: list[MechanismReport] = []
    complete = True
    for rules in mechanisms if batches else ():
        audited: list[_Audited] = []
        for place, batch in enumerate(batches):
            try:
                audited.append(_audit_one(rules, batch, settings, _steps(progress, rules.label, place, len(batches))))
            except KeyboardInterrupt:
                if not reports and not audited:
                    raise
                complete = False
                break
            if any(each.tried < each.planned for each in audited[-1].kinds):
                complete = False
                break
        if audited:
            reports.append(_mechanism(rules, audited))
        if not complete:
            break
    return AuditReport(source=source, mechanisms=tuple(reports), complete=complete)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Audited:
    """One mechanism on one batch: the batch's line in the report, and what was found of each kind."""

    line: tuple[int | None, int, int, float]
    kinds: tuple[KindReport, ...]


def _audit_one(
    rules: Rules, batch: AuditedBatch, settings: AuditSettings, progress: Callable[[int, int], None]
) -> _Audited:
    game = Game(
        prompts=batch.prompts,
        values=batch.values,
        users=batch.users,
        num_users=len(batch.user_names),
        schedule=rules.rule,
        pricing=rules.pricing,
        pen=batch.pen,
    )
    findings = audit(game, settings.users, stream(settings.seed, batch.number or 0, "audit"), progress=progress)
    return _Audited(
        line=(batch.number, len(batch), len(batch.user_names), game.truth.welfare),
        kinds=tuple(_kind(each, game, batch) for each in findings),
    )


def _kind(finding: Finding, game: Game, batch: AuditedBatch) -> KindReport:
    lies = [BestLie.of(each, game, batch) for each in finding.deviations]
    return KindReport(
        kind=finding.kind,
        planned=finding.planned,
        tried=finding.tried,
        shares=tuple(each.counted_share for each in lies),
        welfare_changes=tuple(each.welfare_change for each in lies),
        best=max(lies, key=lambda each: each.counted, default=None),
        largest_share=max(lies, key=lambda each: each.counted_share, default=None),
    )


def _mechanism(rules: Rules, audited: Sequence[_Audited]) -> MechanismReport:
    kinds = zip(*(each.kinds for each in audited), strict=True)
    return MechanismReport(
        label=rules.label,
        schedule=rules.schedule,
        payment=rules.payment,
        claims_truthful=rules.pricing.truthful,
        batches=tuple(each.line for each in audited),
        kinds=tuple(map(KindReport.together, kinds)),
    )


def _steps(progress: Progress, label: str, place: int, count: int) -> Callable[[int, int], None]:
    """Progress over all batches of a mechanism, each taken to be as long as this one."""
    return lambda done, total: progress(label, place * total + done, count * total)


def _check_values(path: Path, file: BatchFile) -> None:
    """ScenarioError for a value whose multiples an audit could not bid."""
    large = np.flatnonzero(file.value > MOST_MONEY)
    if len(large):
        first = int(large[0])
        key = "value" if file.has_value[first] else "bid"
        raise ScenarioError(
            f"{path}:{file.lines[first]}: {key}",
            f"{file.value[first]:g}",
            f"at most {MOST_MONEY:g} in an audit, which also tries bids of a hundred times the value and more",
            "State money in a larger unit.",
        )


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
        prompts = requests.prompts.take(rows)
        batches.append(
            AuditedBatch(
                number=number,
                request_id=tuple(requests.request_id[row] for row in rows),
                user_names=tuple(requests.user_names[user] for user in users),
                prompts=prompts,
                values=requests.value[rows],
                users=dense,
                pen=SymbolPen(prompts),
            )
        )
    return batches
