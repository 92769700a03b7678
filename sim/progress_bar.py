"""How far reading a file has come, as a bar on a terminal's stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.reading import Watcher, watching

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["counting_bar", "reading_bar", "reading_bars", "serving_bar"]


def reading_bars(bar: Progress) -> Watcher:
    """A watcher that gives every file a bar of its own, in bytes."""
    tasks: dict[str, Any] = {}

    def update(file: str, done: int, total: int) -> None:
        if file not in tasks:
            tasks[file] = bar.add_task(f"reading {Path(file).name}", total=total)
        bar.update(tasks[file], completed=done, visible=done < total)

    return update


@contextmanager
def reading_bar(*, show: bool) -> Iterator[None]:
    """Show what is read inside the block, if `show` and stderr is a terminal."""
    if not show or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar, watching(reading_bars(bar)):
        yield


@contextmanager
def serving_bar(trials: int, *, show: bool) -> Iterator[Callable[[int, int, str, int], None]]:
    """Show how many requests of every schedule and trial have left, and what is read, as `reading_bar` does.

    Yields a function of (requests that left, requests in all, schedule, trial).
    """
    if not show or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar, watching(reading_bars(bar)):
        tasks: dict[tuple[int, str], Any] = {}

        def update(left: int, total: int, label: str, trial: int) -> None:
            if (trial, label) not in tasks:
                tasks[trial, label] = bar.add_task(f"{label}, trial {trial + 1} of {trials}", total=total)
            if left % 256 == 0 or left == total:
                bar.update(tasks[trial, label], completed=left)

        yield update


@contextmanager
def counting_bar(what: str, *, show: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show how far each of several things has come. Yields a function of (name, done, all of it)."""
    if not show or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def update(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(f"{what} {name}", total=total)
            bar.update(tasks[name], completed=done)

        yield update
