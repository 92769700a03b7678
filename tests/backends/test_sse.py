"""Server-sent events come out the same however their bytes are cut."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from backends._sse import EventStream

BYTES = ': ping\n\ndata: {"é": 1}\n\nevent: x\r\ndata:two\r\ndata: lines\r\n\r\ndata: [DONE]\n\n'.encode()
EVENTS = ['{"é": 1}', "two\nlines", "[DONE]"]


@given(st.lists(st.integers(0, len(BYTES))))
def test_any_cut_gives_the_same_events(cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(BYTES)]
    stream = EventStream()
    chunks = [BYTES[start:stop] for start, stop in itertools.pairwise(bounds)]
    assert [event for chunk in chunks for event in stream.feed(chunk)] == EVENTS
    assert not stream.in_event


def test_an_event_cut_off_is_no_event() -> None:
    stream = EventStream()
    assert stream.feed(b'data: {"half": ') == []
    assert stream.in_event
    assert stream.feed(b"1}\n") == []
    assert stream.in_event
