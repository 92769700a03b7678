"""From a scenario and a trial number to the requests everybody is given: workload, owners, values, arrivals."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from mechanism.prompts import FloatArray, IntArray, Prompts
from sim.arrivals import Sessions
from sim.errors import ScenarioError
from sim.quantities import MOST_MONEY
from sim.requests import Demand, RequestTable
from sim.rng import stream
from sim.scenario import Scenario
from sim.session_turns import previous_turns
from sim.values import Drawn, FromTrace, Values

__all__ = ["Population", "check_pages", "make_requests"]


class Population:
    """The requests of a scenario, trial after trial.

    What a workload gives without drawing anything, as a trace does, is the same in every trial: it is kept, so that
    its file is read once.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._fixed: Demand | None = None

    def requests(self, trial: int) -> tuple[RequestTable, Demand]:
        """The requests of one trial; see `make_requests`."""
        return _requests(self._scenario, trial, self._fixed or self._demand(trial))

    def _demand(self, trial: int) -> Demand:
        drawn = False

        def streams(name: str) -> np.random.Generator:
            nonlocal drawn
            drawn = True
            return stream(self._scenario.seed, trial, name)

        demand = self._scenario.workload.generate(streams)
        self._fixed = None if drawn else demand
        return demand


def make_requests(scenario: Scenario, trial: int) -> tuple[RequestTable, Demand]:
    """The requests of one trial, sorted by (arrival, file order), and what the workload said of them.

    The demand carries the warnings and the counts of dropped records; it shares the table's prompts.

    Owners, values and arrivals are drawn in file order from streams of their own ("users", "values", "arrivals"):
    nothing that a mechanism, a sweep cell or a worker does can move them.

    Raises
    ------
    ScenarioError
        An empty workload, a file that breaks its format, or pages that do not divide the workload's blocks.
    """
    return Population(scenario).requests(trial)


def _requests(scenario: Scenario, trial: int, demand: Demand) -> tuple[RequestTable, Demand]:
    streams = partial(stream, scenario.seed, trial)
    n = len(demand.prompts)
    if n == 0:
        dropped = f" ({demand.dropped})" if demand.dropped else ""
        raise ScenarioError(f"{scenario.path}: workload", f"no requests{dropped}", "at least one request")
    check_pages(demand.prompts, getattr(scenario.backend.config, "page_tokens", 1))
    ids = demand.request_id or tuple(map(str, range(n)))
    user, user_names = scenario.users.owners(demand, ids, streams("users"))
    value = _values(scenario.values, demand, user, streams)
    bid = value if demand.bid is None else demand.bid
    _check_money(scenario, value, bid, ids)
    arrival_ns = scenario.arrivals.times_ns(demand, streams("arrivals"))
    table = RequestTable(
        request_id=ids,
        prompts=demand.prompts,
        prompt_tokens=demand.prompts.num_tokens,
        output_tokens=demand.output_tokens,
        output_ids=demand.output_ids,
        output_recorded=demand.output_recorded,
        session=demand.session,
        turn=demand.turn,
        cluster=demand.cluster,
        arrival_ns=arrival_ns,
        user=user,
        user_names=user_names,
        value=value,
        stated_bid=bid,
        refused=demand.refused,
        think_ns=scenario.arrivals.pauses_ns(demand) if isinstance(scenario.arrivals, Sessions) else None,
    )
    if (np.diff(arrival_ns) < 0).any():
        warning = "arrival times were not sorted: requests were sorted by them, ties in file order"
        return _in_sessions(_sort(table)), replace(demand, warnings=(*demand.warnings, warning))
    return _in_sessions(table), demand


def check_pages(prompts: Prompts, page_tokens: int) -> None:
    """Refuse KV-cache pages that do not divide every block of the workload but the last of a prompt.

    Prompts of single tokens fit any page.
    """
    if page_tokens == 1 or prompts.lengths is None:
        return
    final = np.zeros(len(prompts.symbols), dtype=np.bool_)
    final[prompts.indptr[1:][np.diff(prompts.indptr) > 0] - 1] = True
    odd = np.flatnonzero(~final & (prompts.lengths % page_tokens != 0))
    if len(odd):
        found = f"{page_tokens} over a block of {prompts.lengths[odd[0]]} tokens"
        raise ScenarioError("backend.page_tokens", found, "a page that divides every block but a prompt's last")


def _check_money(scenario: Scenario, value: FloatArray, bid: FloatArray, ids: tuple[str, ...]) -> None:
    """Refuse money whose sums and squares are no doubles."""
    for key, money in (("values", value), ("workload", bid)):
        if len(money) and not money.max() <= MOST_MONEY:
            most = int(money.argmax())
            found = f'{money[most]:g} for request "{ids[most]}"'
            drawn = key == "values" and not isinstance(scenario.values, FromTrace)
            hint = "Draw from a law with a lighter tail." if drawn else ""
            raise ScenarioError(f"{scenario.path}: {key}", found, f"values and bids of at most {MOST_MONEY:g}", hint)


def _values(values: Values, demand: Demand, user: IntArray, streams: partial[np.random.Generator]) -> FloatArray:
    if isinstance(values, FromTrace):
        if demand.value is None:
            raise ScenarioError("values.kind", "from-trace", "a workload that records values")
        drawn = demand.value
    elif values.per != "request":
        group = user if values.per == "user" else demand.cluster
        drawn = _draw(values, np.arange(int(group.max()) + 1), streams)[group]
    else:
        drawn = _draw(values, demand.cluster, streams)
    if values.only_cluster is None:
        return drawn
    if not (demand.cluster == values.only_cluster).any():
        expected = f"a cluster from 0 to {demand.cluster.max()}"
        raise ScenarioError("values.only_cluster", str(values.only_cluster), expected)
    return np.where(demand.cluster == values.only_cluster, drawn, 0.0)


def _draw(values: Drawn, cluster: IntArray, streams: partial[np.random.Generator]) -> FloatArray:
    with np.errstate(over="ignore"):  # what is no double is refused with its request's name
        return values.draw(cluster, streams)


def _sort(table: RequestTable) -> RequestTable:
    """The table by (arrival, file order)."""
    order = np.argsort(table.arrival_ns, kind="stable")
    rows = order.tolist()
    return RequestTable(
        request_id=tuple(table.request_id[r] for r in rows),
        prompts=table.prompts.take(order),
        prompt_tokens=table.prompt_tokens[order],
        output_tokens=table.output_tokens[order],
        output_ids=None if table.output_ids is None else table.output_ids.take(order),
        output_recorded=None if table.output_recorded is None else table.output_recorded[order],
        session=None if table.session is None else tuple(table.session[r] for r in rows),
        turn=None if table.turn is None else table.turn[order],
        cluster=table.cluster[order],
        arrival_ns=table.arrival_ns[order],
        user=table.user[order],
        user_names=table.user_names,
        value=table.value[order],
        stated_bid=table.stated_bid[order],
        refused=None if table.refused is None else table.refused[order],
        think_ns=None if table.think_ns is None else table.think_ns[order],
    )


def _in_sessions(table: RequestTable) -> RequestTable:
    """The table with what each turn waits for, where its users think between turns."""
    if table.think_ns is None:
        return table
    assert table.session is not None
    assert table.turn is not None
    return replace(table, follows=previous_turns(table.session, table.turn))
