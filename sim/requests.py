"""The requests of one trial: what every mechanism and every backend of that trial is given.

`Demand` is what a workload generates; `RequestTable` adds owners, values and arrivals. Both are struct of arrays,
one entry a request. The table is sorted by (arrival, file order); a request's index in it is its identity inside
a run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mechanism.prompts import FloatArray, IntArray, Prompts

__all__ = ["Demand", "RequestTable"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What a workload plugin returns: prompts and outputs, in file order.

    Attributes
    ----------
    prompts : n prompts.
    output_tokens : (n,) int64, each ≥ 1.
    cluster : (n,) int64 dense ids; a star, a chain, a tree or a session is one, a singleton is its own.
    request_id : n unique names; None means "0", "1", … in file order.
    session, turn : names and (n,) int64 turn numbers from 0, or None.
    arrival_ns : (n,) int64 recorded arrival times, or None where the workload has no clock.
    think_ns : (n,) int64 recorded pause between the answer to a session's previous turn and this one (0 for a first
        turn), or None.
    refused : (n,) bool, which requests the workload's own limit rejects on arrival; None = none.
    user, value, bid : recorded owners, values and bids, or None.
    output_ids : the recorded output tokens of each request, or None for private ones.
    output_recorded : (n,) bool, which rows of `output_ids` were recorded (the others are private); None = all.
    cached_tokens : (n,) what the recording server said it had cached, NaN where it said nothing; None = no column.
    dropped : reason → number of records left out.
    warnings : sentences for the person at the keyboard.
    facts : measured properties of the workload, e.g. ``{"sharing": 0.81}`` (see `sim.prefix_sharing`).
    """

    prompts: Prompts
    output_tokens: IntArray
    cluster: IntArray
    request_id: tuple[str, ...] | None = None
    session: tuple[str, ...] | None = None
    turn: IntArray | None = None
    arrival_ns: IntArray | None = None
    think_ns: IntArray | None = None
    refused: BoolArray | None = None
    user: tuple[str, ...] | None = None
    value: FloatArray | None = None
    bid: FloatArray | None = None
    output_ids: Prompts | None = None
    output_recorded: BoolArray | None = None
    cached_tokens: FloatArray | None = None
    dropped: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    facts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTable:
    """n requests sorted by (arrival, file order); the same for every mechanism of a trial.

    Attributes
    ----------
    request_id, prompts, output_tokens, session, turn, cluster, output_ids, output_recorded : as in `Demand`.
    prompt_tokens : (n,) int64.
    arrival_ns : (n,) int64, 0 for saturated arrivals.
    user : (n,) int64 index into `user_names`.
    user_names : the owners.
    value : (n,) what moving from the back of a cohort to its front is worth.
    stated_bid : (n,) the recorded bid (what `bidding: from-trace` says), the value where none was recorded.
    refused : as in `Demand`.
    follows : (n,) int64 request after whose end this one arrives, −1 for those that arrive by the clock; None = all
        arrive by the clock.
    think_ns : (n,) int64 pause between the two; None where `follows` is.
    """

    request_id: tuple[str, ...]
    prompts: Prompts
    prompt_tokens: IntArray
    output_tokens: IntArray
    output_ids: Prompts | None
    output_recorded: BoolArray | None
    session: tuple[str, ...] | None
    turn: IntArray | None
    cluster: IntArray
    arrival_ns: IntArray
    user: IntArray
    user_names: tuple[str, ...]
    value: FloatArray
    stated_bid: FloatArray
    refused: BoolArray | None = None
    follows: IntArray | None = None
    think_ns: IntArray | None = None

    def __len__(self) -> int:
        return len(self.request_id)
