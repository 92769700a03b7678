"""Dates as people and loggers write them → integer nanoseconds."""

from __future__ import annotations

import re
from datetime import date
from functools import cache

from sim.json_rows import Row

__all__ = ["date_ns"]

_DATE = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)?", re.ASCII)


def date_ns(row: Row, key: str) -> int:
    """A date in UTC under `key`, ns since 1970; up to nine digits of a second, more than a double or `%f` holds."""
    text = row.word(key).strip()
    found = _DATE.fullmatch(text)
    if found is None:
        raise row.problem(key, f'"{text}"', "a date in UTC such as 2023-11-16 18:15:46.6805900")
    day, hours, minutes, seconds, fraction = found.groups("")
    try:
        days = _day(day)
    except ValueError:
        raise row.problem(key, f'"{text}"', "a day between 1970 and 2261") from None
    if not (hours < "24" and minutes < "60" and seconds <= "60"):  # 60 is a leap second
        raise row.problem(key, f'"{text}"', "a time of the day")
    whole_s = ((days * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(seconds)
    return whole_s * 1_000_000_000 + int(fraction.ljust(9, "0"))


@cache
def _day(text: str) -> int:
    """Days since 1970."""
    day = date.fromisoformat(text)
    if not 1970 <= day.year <= 2261:  # what 64 bits of nanoseconds reach
        raise ValueError(text)
    return day.toordinal() - date(1970, 1, 1).toordinal()
