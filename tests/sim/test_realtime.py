"""The real-time clock: events in order of time, posts from other threads in between, an end only when closed."""

from __future__ import annotations

import threading

import pytest

from sim.clock import Kind, after
from sim.realtime import RealTimeEnvironment


def test_time_is_whole_nanoseconds_from_the_first_step() -> None:
    env, seen = RealTimeEnvironment(), []
    for delay in (2_000, 1_000):
        after(env, delay, Kind.ARRIVAL).callbacks.append(lambda _: seen.append(env.now))
    env.step()
    env.step()
    assert seen == [1_000, 2_000]
    assert all(isinstance(now, int) for now in seen)


def test_a_post_from_another_thread_wakes_a_clock_with_nothing_scheduled() -> None:
    env = RealTimeEnvironment()
    done, threads = env.event(), []

    def deliver() -> None:
        threads.append(threading.current_thread())
        done.succeed()

    poster = threading.Thread(target=env.post, args=(deliver,))
    poster.start()
    env.run(until=done)
    poster.join()
    assert threads == [threading.main_thread()]
    assert isinstance(env.now, int)


def test_a_post_comes_before_a_later_event_and_after_an_earlier_one() -> None:
    env, seen = RealTimeEnvironment(), []
    early, late = after(env, 0, Kind.ARRIVAL), after(env, 3_600 * 10**9, Kind.ARRIVAL)
    early.callbacks.append(lambda _: env.post(lambda: seen.append("post")))
    early.callbacks.append(lambda _: seen.append("early"))
    late.callbacks.append(lambda _: seen.append("late"))
    env.step()
    env.step()
    assert seen == ["early", "post"]
    assert 0 <= env.now < 3_600 * 10**9


def test_posts_are_delivered_in_the_order_they_were_made() -> None:
    env, seen = RealTimeEnvironment(), []
    for number in range(5):
        env.post(lambda number=number: seen.append(number))
    for _ in range(5):
        env.step()
    assert seen == [0, 1, 2, 3, 4]


def test_the_run_ends_only_when_it_is_closed() -> None:
    env = RealTimeEnvironment()
    env.post(lambda: None)
    env.close()
    env.run()
    with pytest.raises(RuntimeError, match="until"):
        env.run(until=env.event())


def test_an_error_in_a_post_reaches_whoever_runs_the_clock() -> None:
    env = RealTimeEnvironment()

    def broken() -> None:
        raise ValueError("the other thread died")

    env.post(broken)
    with pytest.raises(ValueError, match="died"):
        env.run()


def test_readings_of_the_monotonic_clock_are_on_the_same_scale() -> None:
    env = RealTimeEnvironment()
    assert env.elapsed_ns(12345) == 0
    env.post(lambda: None)
    env.step()
    assert env.elapsed_ns(10**18) - env.elapsed_ns(10**18 - 7) == 7
