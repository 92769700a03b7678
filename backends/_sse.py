"""Server-sent events, as far as model servers use them: the `data:` of each event, however the bytes are cut."""

from __future__ import annotations

__all__ = ["EventStream"]


class EventStream:
    """Takes bytes as they arrive and gives back the events that are complete.

    Comments (lines that start with a colon) and other fields are passed over; lines may end in CR LF.

    >>> stream = EventStream()
    >>> stream.feed(b': ping' + b'\\n\\ndata: {"a": 1}\\n\\nda'), stream.feed(b'ta: [DONE]\\r\\n\\r\\n')
    (['{"a": 1}'], ['[DONE]'])
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []

    @property
    def in_event(self) -> bool:
        """Whether an event has begun and not ended."""
        return bool(self._data or self._rest.strip())

    def feed(self, chunk: bytes) -> list[str]:
        """The data of the events that `chunk` completes."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        events = []
        for line in lines:
            text = line.removesuffix(b"\r").decode("utf-8", errors="replace")
            if text.startswith("data:"):
                self._data.append(text[5:].removeprefix(" "))
            elif not text and self._data:
                events.append("\n".join(self._data))
                self._data = []
        return events
