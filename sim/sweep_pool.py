"""Who runs the cells of a sweep: this process, worker processes of this machine, or a Ray cluster.

Cells come back as they finish, by key and error; what they measured is in their files. Every worker computes with one
thread, so the sums of a cell, and its bytes, do not depend on how many work beside it.
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager

from sim.errors import BackendError, ScenarioError
from sim.sweep_cell import CellTask, cell_file, note_failure, run_cell

__all__ = ["Finished", "in_process", "in_workers", "on_ray"]

#: A cell's key, and why it failed if it did.
Finished = tuple[str, str | None]

#: Sums in several threads differ in their last bits from sums in one.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)
#: How often a worker looks whether the process that started it still lives.
WATCH_S = 0.5
#: Cells given to Ray at a time, per job: a new portion starts when the last one is done.
PORTION = 8


def in_process(tasks: Iterable[CellTask]) -> Iterator[Finished]:
    """One after another, here: what a live server needs."""
    return map(run_cell, tasks)


def in_workers(tasks: Iterable[CellTask], jobs: int) -> Iterator[Finished]:
    """`jobs` worker processes of joblib's loky; one is a process of its own too, so that its sums are the same.

    When a worker dies (killed, out of memory), the cells under way at that moment are run again at the end, each in a
    process of its own: who dies again has failed, the others were bystanders.
    """
    waiting, suspects = iter(tasks), []
    while True:
        try:
            with _pool(jobs) as pool:
                yield from _keep_busy(pool, waiting, jobs)
            break
        except _WorkersDiedError as died:
            suspects += died.under_way
    for task in suspects:
        try:
            with _pool(1) as pool:
                yield from _keep_busy(pool, iter([task]), 1)
        except _WorkersDiedError:
            error = BackendError("the worker process was killed; out of memory? Fewer --jobs need less of it.")
            yield task.key, note_failure(task, error)


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
            finished = Parallel(n_jobs=width, batch_size=1)(map(delayed(run_cell), portion))
            for task, (key, error) in zip(portion, finished, strict=True):
                if error is None and not cell_file(task.folder, key).exists():
                    far = BackendError(f"a machine of the cluster wrote it where this one sees no {task.folder}")
                    error = note_failure(task, far)
                yield key, error


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
        _knock(address)
        ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level="error", **size)
    except OSError as error:
        found = f"no cluster at {address} ({error})"
        raise ScenarioError("--address", found, "the address of a Ray cluster that runs") from error
    try:
        register_ray()
        yield
    finally:
        ray.shutdown()


def _knock(address: str | None) -> None:
    """OSError where nobody listens at a host:port; Ray itself would try for a minute and then end our process."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=10).close()


class _WorkersDiedError(Exception):
    """Some worker died; `under_way` are the cells that were being run, one of which did it."""

    def __init__(self, under_way: list[CellTask]) -> None:
        super().__init__("a worker process died")
        self.under_way = under_way


@contextmanager
def _pool(jobs: int) -> Iterator[Executor]:
    """Worker processes that are ended with the block, whatever they do."""
    from joblib.externals.loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(jobs, env=ONE_THREAD, initializer=_become_worker, initargs=(os.getpid(),))
    try:
        yield pool
    finally:
        pool.shutdown(kill_workers=True)


def _keep_busy(pool: Executor, waiting: Iterator[CellTask], jobs: int) -> Iterator[Finished]:
    """Give every worker one cell at a time."""
    under_way: dict[Future[Finished], CellTask] = {}
    while True:
        for task in itertools.islice(waiting, jobs - len(under_way)):
            under_way[pool.submit(run_cell, task)] = task
        if not under_way:
            return
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            try:
                finished = future.result()
            except BrokenExecutor:
                raise _WorkersDiedError(list(under_way.values())) from None
            del under_way[future]
            yield finished


def _become_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, who ends us; and end when the parent is gone, however it went."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        pause = threading.Event()
        while os.getppid() == parent:
            pause.wait(WATCH_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
