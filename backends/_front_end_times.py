"""How long a live server's front end takes, told from its own timestamps and ours."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from backends._answers import Answer

__all__ = ["front_end_times"]

#: First tokens that the server dates within this time of the one before come of one pass, s.
ONE_PASS_S = 0.001


def front_end_times(answers: Sequence[Answer]) -> dict[str, float]:
    """Milliseconds by name; a name is absent where the server does not tell.

    `request_overhead_ms` is the median over requests of what their TTFT has beyond the time from the scheduler's door
    to the first token. `request_gap_ms` is the median over passes of the mean time between their first tokens, as
    they were read here. Both are differences of durations, so the server's clock need not agree with ours. Prompts
    that were sent in one list tell neither: the server reads the whole list first, and answers in one stream.

    >>> one = Answer(0, sent_ns=0, first_token_ns=9_000_000, entered_s=50.002, prefilled_s=50.006)
    >>> two = Answer(1, sent_ns=1_000_000, first_token_ns=9_500_000, entered_s=50.003, prefilled_s=50.006)
    >>> {name: round(ms, 3) for name, ms in front_end_times([one, two]).items()}  # (9 − 4 + 8.5 − 3) / 2; 9.5 − 9
    {'request_overhead_ms': 5.25, 'request_gap_ms': 0.5}
    """
    sent = Counter(answer.sent_ns for answer in answers)
    overheads, read = list[float](), list[tuple[float, int]]()
    for each in answers:
        if each.sent_ns is None or each.first_token_ns is None or each.prefilled_s is None or sent[each.sent_ns] > 1:
            continue
        read.append((each.prefilled_s, each.first_token_ns))
        if each.entered_s is not None:
            ttft_ms = (each.first_token_ns - each.sent_ns) / 1e6
            overheads.append(ttft_ms - 1e3 * (each.prefilled_s - each.entered_s))
    found = {"request_overhead_ms": overheads, "request_gap_ms": _gaps_ms(sorted(read))}
    return {name: max(0.0, statistics.median(values)) for name, values in found.items() if values}


def _gaps_ms(read: Sequence[tuple[float, int]]) -> list[float]:
    """For each pass of several first tokens their mean distance; from (server's date, s; ours, ns) in order."""
    passes: list[list[int]] = []
    last_s = float("-inf")
    for dated_s, read_ns in read:
        if dated_s - last_s > ONE_PASS_S:
            passes.append([])
        passes[-1].append(read_ns)
        last_s = dated_s
    return [(max(each) - min(each)) / (len(each) - 1) / 1e6 for each in passes if len(each) > 1]
