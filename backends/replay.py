"""A recorded run answers again: every request as it was answered then, counted from its dispatch now."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import simpy
from pydantic import Field

from sim.backend import EngineSteps, Limits, Notes, Served
from sim.clock import Kind, after, seconds_to_ns
from sim.errors import BackendError
from sim.requests import RequestTable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Replay"]

COLUMNS = (
    "request_id", "status", "error", "dispatch_s", "admitted_s", "first_token_s", "finish_s", "cached_tokens",
    "output_tokens", "num_retractions",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Replay:
    """Answers from a run folder, in simulated time.

    A request takes as long from dispatch to first token and to finish as it took then, whatever else is running, and
    has the cached tokens it had then: what changes is the market around it.

    Attributes
    ----------
    run : the run folder; a relative path starts at the current directory.
    schedule : whose records answer; null = those of the schedule with the same label.
    trial : which trial's; null = that of the same number.
    """

    run: str
    schedule: str | None = None
    trial: Annotated[int, Field(ge=0)] | None = None

    def open(self) -> AbstractContextManager[Replay]:
        """A folder needs no server."""
        return nullcontext(self)

    def environment(self) -> simpy.Environment:
        """Simulated time."""
        return simpy.Environment()

    def card(self) -> dict[str, Any] | None:
        """No profile: the latencies are the recorded run's."""
        return None

    def create(self, requests: RequestTable, schedule: str = "", trial: int = 0) -> ReplayBackend:
        """The recorded answers to these requests, found by request_id."""
        label = schedule if self.schedule is None else self.schedule
        number = trial if self.trial is None else self.trial
        answers = {row["request_id"]: row for row in _rows(Path(self.run), label, number)}
        return ReplayBackend(
            [answers.get(name) for name in requests.request_id], f"{self.run}: {label}, trial {number}"
        )


class ReplayBackend:
    """One recorded trial (see `sim.backend.Backend`); `answers` by table index, None = was not recorded."""

    def __init__(self, answers: Sequence[dict[str, Any] | None], source: str) -> None:
        self.limits = Limits()
        self.engine_steps: EngineSteps = []
        self.notes = Notes(facts={"replayed": source})
        self._answers = answers

    def start(self, env: simpy.Environment, on_event: Callable[[Served], None]) -> None:
        """Ready at once."""
        self._env, self._on_event = env, on_event

    def submit(self, requests: Sequence[int]) -> None:
        """Schedule each recorded end."""
        for index in requests:
            served = self._served(index)
            times = (served.finish_ns, served.first_token_ns, served.admitted_ns)
            now = int(self._env.now)
            end = next((at for at in times if at is not None), now)
            event = after(self._env, end - now, Kind.PASS)
            assert event.callbacks is not None
            event.callbacks.append(functools.partial(self._tell, served))

    def close(self) -> None:
        """Nothing to let go of."""

    def _tell(self, served: Served, _: simpy.Event) -> None:
        self._on_event(served)

    def _served(self, index: int) -> Served:
        answer = self._answers[index]
        if answer is None:
            return Served(index=index, status="error", error="the recorded run has no answer to this request")
        dispatched, now = answer["dispatch_s"], int(self._env.now)

        def again(name: str) -> int | None:
            recorded = answer[name]
            missing = recorded is None or dispatched is None
            return None if missing else now + seconds_to_ns(recorded) - seconds_to_ns(dispatched)

        return Served(
            index=index,
            status=answer["status"],
            error=answer["error"],
            admitted_ns=again("admitted_s"),
            first_token_ns=again("first_token_s"),
            finish_ns=again("finish_s"),
            cached_tokens=answer["cached_tokens"],
            output_tokens=answer["output_tokens"],
            num_retractions=answer["num_retractions"],
        )


def _rows(run: Path, schedule: str, trial: int) -> list[dict[str, Any]]:
    """The records of one cell; BackendError where there are none."""
    import polars as pl

    file = run / "requests.parquet"
    if not file.is_file():
        raise BackendError(f"{run} (backend.run) is no run folder: it has no requests.parquet.")
    records: pl.DataFrame = pl.read_parquet(file, columns=[*COLUMNS, "schedule", "trial"])
    rows = records.filter((pl.col("schedule") == schedule) & (pl.col("trial") == trial)).to_dicts()
    if not rows:
        cells = ", ".join(f"{name} {number}" for name, number in records.select("schedule", "trial").unique().rows())
        raise BackendError(f"{run} has no records of {schedule}, trial {trial}; it has {cells}.")
    return rows
