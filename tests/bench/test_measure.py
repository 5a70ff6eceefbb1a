"""The harness measures what it says: turns, orders, repetitions, cores."""

import hashlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
from bench.measure import CORES, Contestant, Timing, interleaved, pin, repetitions, sample, settle, takes_part

from bench import measure


class Clock:
    """A clock that moves only when something takes time."""

    def __init__(self) -> None:
        self.now = 0.0

    def takes(self, seconds: float) -> Callable[[], None]:
        def run() -> None:
            self.now += seconds

        return run


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "perf_counter", lambda: made.now)
    monkeypatch.setattr(measure, "settle", lambda: None)
    return made


def log_of(rounds: int, seed: int | None, **own: int | None) -> list[str]:
    log: list[str] = []
    contestants = {name: Contestant(partial(log.append, name), rounds=few) for name, few in own.items()}
    interleaved(contestants, rounds, warm=False, seed=seed)
    return log


def test_everybody_runs_once_a_round() -> None:
    log = log_of(4, 1, a=None, b=None, c=None)
    assert [sorted(log[k : k + 3]) for k in range(0, 12, 3)] == [["a", "b", "c"]] * 4


def test_without_a_seed_the_order_is_the_given_one() -> None:
    assert log_of(2, None, b=None, a=None) == ["b", "a", "b", "a"]


def test_with_a_seed_nobody_always_follows_the_same_neighbour() -> None:
    log = log_of(15, 5, a=None, b=None, c=None, d=None)
    followed = {name: {before for before, after in pairwise(log) if after == name} for name in "abcd"}
    assert all(len(found) >= 3 for found in followed.values())
    assert log == log_of(15, 5, a=None, b=None, c=None, d=None)


def test_a_warm_up_round_is_not_counted(clock: Clock) -> None:
    calls: list[float] = []

    def slow_at_first() -> None:
        calls.append(clock.now)
        clock.now += 8.0 if len(calls) == 1 else 2.0

    assert interleaved({"a": Contestant(slow_at_first)}, 3)["a"] == Timing(2.0, 2.0, 3)
    assert len(calls) == 4


@pytest.mark.parametrize(("rounds", "own"), [(9, 3), (15, 3), (10, 4), (7, 7), (3, 5), (5, 1)])
def test_who_takes_part_in_fewer_rounds_has_them_spread_evenly(rounds: int, own: int) -> None:
    laps = [lap for lap in range(rounds) if takes_part(lap, rounds, own)]
    assert len(laps) == min(rounds, own)
    gaps = {after - before for before, after in pairwise(laps)}
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_the_fewer_rounds_of_one_do_not_touch_the_others() -> None:
    assert Counter(log_of(9, 2, quick=None, slow=3)) == {"quick": 9, "slow": 3}


def test_a_sample_is_the_mean_of_its_repetitions(clock: Clock) -> None:
    assert sample(Contestant(clock.takes(0.5), repetitions=4)) == 0.5
    assert clock.now == 2.5  # one more goes before, for the caches


def test_a_single_call_is_not_preceded_by_another(clock: Clock) -> None:
    assert sample(Contestant(clock.takes(0.5))) == 0.5
    assert clock.now == 0.5


@pytest.mark.parametrize(("seconds", "count"), [(0.5, 4), (0.75, 3), (2.0, 1), (8.0, 1)])
def test_as_many_repetitions_as_last_long_enough(clock: Clock, seconds: float, count: int) -> None:
    assert repetitions(clock.takes(seconds), 2.0) == (count, seconds)


def test_before_every_sample_all_other_threads_come_to_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    monkeypatch.setattr(measure, "settle", lambda: log.append("settle"))
    interleaved({"a": Contestant(lambda: log.append("run"))}, 2, warm=False)
    assert log == ["settle", "run"] * 2


def test_minimum_and_median_are_over_all_rounds() -> None:
    assert Timing.of([4.0, 1.0, 3.0]) == Timing(1.0, 3.0, 3)


needs_affinity = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system does not let a program choose its cores"
)


@needs_affinity
def test_a_contestant_runs_on_its_cores_and_all_are_free_afterwards() -> None:
    seen: list[set[int]] = []
    wanted = CORES[-1:]
    interleaved({"a": Contestant(lambda: seen.append(set(os.sched_getaffinity(0))), wanted)}, 2, warm=False)
    assert seen == [set(wanted)] * 2
    assert tuple(sorted(os.sched_getaffinity(0))) == CORES


@needs_affinity
def test_threads_that_were_there_before_are_pinned_too() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        pin(CORES[:1])
        assert os.sched_getaffinity(thread.native_id or 0) == set(CORES[:1])
    finally:
        pin(CORES)
        end.set()
        thread.join()


@pytest.mark.skipif(not measure.TASKS.is_dir(), reason="this system does not list the threads of a process")
def test_nobody_starts_while_a_thread_of_another_is_busy() -> None:
    begun, done = threading.Event(), threading.Event()
    data = bytes(60_000_000)

    def busy() -> None:
        begun.set()
        hashlib.sha256(data)  # leaves the interpreter free meanwhile
        done.set()

    thread = threading.Thread(target=busy)
    thread.start()
    begun.wait()
    settle(limit=60)
    try:
        assert done.is_set()
    finally:
        thread.join()
