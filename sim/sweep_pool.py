"""Who runs the cells of a sweep: this process, worker processes of this machine, or a Ray cluster.

Cells come back as they finish, by key and error; what they measured is in their files. Every worker computes with one
thread, so the sums of a cell, and its bytes, do not depend on how many work beside it.
"""

from __future__ import annotations

import functools
import itertools
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sim.errors import BackendError, ScenarioError
from sim.sweep_cell import CellTask, note_failure, run_cell

__all__ = ["Finished", "in_process", "in_workers", "on_ray"]

#: A cell's key, and why it failed if it did.
Finished = tuple[str, str | None]

#: How often a worker looks whether the process that started it still lives.
WATCH_S = 0.5
#: Cells given to Ray at a time, per job: a new portion starts when the last one is done.
PORTION = 8


def in_process(tasks: Iterable[CellTask]) -> Iterator[Finished]:
    """One after another, here: what a live server needs."""
    return map(run_cell, tasks)


def in_workers(tasks: Iterable[CellTask], jobs: int) -> Iterator[Finished]:
    """`jobs` worker processes through joblib (loky).

    When a worker dies (killed, out of memory), those under way at that moment are run again at the end, each in a
    process of its own: who dies again has failed, the others were bystanders.
    """
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    waiting, suspects = iter(tasks), []
    while True:
        under_way: dict[str, CellTask] = {}
        try:
            yield from _loky(_noted(waiting, under_way), jobs, under_way)
            break
        except TerminatedWorkerError:
            suspects += list(under_way.values())
    for task in suspects:
        try:
            yield from _loky([task], 1, {})
        except TerminatedWorkerError:
            died = BackendError("the worker process was killed; out of memory? Fewer --jobs need less of it.")
            yield task.key, note_failure(task, died)


def on_ray(tasks: Iterable[CellTask], jobs: int | None, address: str | None) -> Iterator[Finished]:
    """A Ray cluster through joblib's Ray backend: the one at `address`, else one started on this machine for the call.

    `jobs` None = as many as the cluster has processors.

    Raises
    ------
    ScenarioError
        Ray is not installed, or there is no cluster at `address`.
    """
    from joblib import Parallel, delayed, effective_n_jobs, parallel_config

    waiting = iter(tasks)
    with _ray(jobs, address), parallel_config(backend="ray"):
        width = jobs or effective_n_jobs(-1)
        while portion := list(itertools.islice(waiting, PORTION * width)):
            yield from Parallel(n_jobs=width, batch_size=1)(map(delayed(run_cell), portion))


@contextmanager
def _ray(jobs: int | None, address: str | None) -> Iterator[None]:
    """A connection to Ray."""
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        hint = "Install it with: pip install -e '.[ray]'"
        raise ScenarioError("--executor ray", "no Ray in this environment", "the package ray", hint) from None
    size = {"num_cpus": jobs} if address is None else {}
    try:
        ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level="error", **size)
    except ConnectionError as error:
        found = f"no cluster at {address} ({error})"
        raise ScenarioError("--address", found, "the address of a Ray cluster that runs") from error
    try:
        register_ray()
        yield
    finally:
        ray.shutdown()


def _noted(waiting: Iterator[CellTask], under_way: dict[str, CellTask]) -> Iterator[CellTask]:
    for task in waiting:
        under_way[task.key] = task
        yield task


def _loky(tasks: Iterable[CellTask], jobs: int, under_way: dict[str, CellTask]) -> Iterator[Finished]:
    from joblib import Parallel, delayed, parallel_config

    run = delayed(functools.partial(_run_in_worker, os.getpid()))
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=jobs, batch_size=1, pre_dispatch=jobs, return_as="generator_unordered")
        results: Any = pool(map(run, tasks))
        try:
            for key, error in results:
                under_way.pop(key, None)
                yield key, error
        finally:
            results.close()


def _run_in_worker(parent: int, task: CellTask) -> Finished:
    _become_worker(parent)
    return run_cell(task)


@functools.cache
def _become_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, who ends us; and end when the parent is gone, however it went."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        pause = threading.Event()
        while os.getppid() == parent:
            pause.wait(WATCH_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
