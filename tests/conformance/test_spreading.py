"""Work is spread over processes and machines; who does it cannot be told from the results."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.campaign_support import HERE as HERE_RUNTIMES
from tests.conformance.spread_support import alive, always_lost, lost_once, refused, squared, unavailable

from sonnx.conformance.all_cells import judged
from sonnx.conformance.cells import Plan
from sonnx.conformance.reporting.reports_json import report_json
from sonnx.conformance.result import Cell
from sonnx.conformance.runtimes.runtime import UnavailableError
from sonnx.conformance.spreading import HERE, Spread, SpreadError, _undisturbed, over_dask, over_processes
from sonnx.conformance.subjects import units
from sonnx.conformance.vectors import parts, write_vectors

NUMBERS = [(number,) for number in range(20)]
SQUARES = [number * number for number in range(20)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as made:
        yield made


def spreads(cluster: Any) -> dict[str, Spread]:
    return {"here": HERE, "processes": over_processes(2), "dask": over_dask(cluster.scheduler_address)}


@pytest.mark.parametrize("kind", ["here", "processes", "dask"])
def test_results_come_in_the_order_of_the_work(kind: str, cluster: Any) -> None:
    assert list(spreads(cluster)[kind](squared, NUMBERS)) == SQUARES
    assert list(spreads(cluster)[kind](squared, [])) == []


def test_one_job_needs_no_other_process() -> None:
    assert over_processes(1) is HERE


def test_the_work_of_a_lost_process_is_done_again(tmp_path: Path) -> None:
    marker = tmp_path / "lost"
    work = [(number, str(marker)) for number in range(20)]
    assert list(over_processes(2)(lost_once, work)) == SQUARES
    assert marker.exists()


def test_work_that_loses_every_process_is_given_up() -> None:
    with pytest.raises(SpreadError, match="lost 3 times"):
        list(over_processes(2)(always_lost, NUMBERS))


@pytest.mark.parametrize("kind", ["here", "processes"])
def test_what_work_raises_is_raised_here(kind: str, cluster: Any) -> None:
    with pytest.raises(ZeroDivisionError, match="no 0"):
        list(spreads(cluster)[kind](refused, NUMBERS))


def test_what_work_raises_on_a_cluster_is_told_with_its_name(cluster: Any) -> None:
    with pytest.raises(SpreadError, match=r"ZeroDivisionError: no \d+; every worker needs"):
        list(over_dask(cluster.scheduler_address)(refused, NUMBERS))


def test_what_cannot_be_had_on_a_cluster_is_told_to_be_there(cluster: Any) -> None:
    with pytest.raises(UnavailableError, match=r"^on a worker of the cluster: bad cannot be imported$"):
        list(over_dask(cluster.scheduler_address)(unavailable, NUMBERS))


def test_whoever_takes_no_more_results_leaves_no_process(tmp_path: Path) -> None:
    results = over_processes(2)(alive, [(number, str(tmp_path)) for number in range(4)])

    def interrupt() -> None:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("*.pid"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    # What a shell starts in the background ignores interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    waiting = threading.Thread(target=interrupt)
    waiting.start()
    with pytest.raises(KeyboardInterrupt):
        next(results)
    waiting.join()
    signal.signal(signal.SIGINT, before)
    processes = [int(file.read_text()) for file in tmp_path.glob("*.pid")]
    assert len(processes) == 2
    for process in processes:
        _gone(process)


def _gone(process: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError(f"{process} is still there")


def test_a_lost_worker_costs_nothing(cluster: Any, tmp_path: Path) -> None:
    marker = tmp_path / "lost"
    work = [(number, str(marker)) for number in range(20)]
    assert list(over_dask(cluster.scheduler_address)(lost_once, work)) == SQUARES
    assert marker.exists()


@pytest.mark.long
def test_a_campaign_is_the_same_wherever_it_runs_and_whatever_is_lost(cluster: Any) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    plan = Plan(f"{HERE_RUNTIMES}:LosesZeros", examples=3)
    chosen = units(["xla.broadcast"], ["bool", "int8", "int16", "float", "uint8"])
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        workers = list(client.run(os.getpid).values())
    killed: list[int] = []

    def kill(done: int, total: int, cell: Cell) -> None:
        if done == 1:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    spread = judged(plan, chosen, over_dask(cluster.scheduler_address), kill)
    local = judged(plan, chosen, over_processes(2))
    alone = judged(plan, chosen)
    assert killed
    assert alone.verdict == "departs"
    for other in (spread, local):
        assert report_json(replace(other, seconds=0.0)) == report_json(replace(alone, seconds=0.0))


def test_vectors_are_the_same_wherever_they_are_made(cluster: Any, tmp_path: Path) -> None:
    work = parts(units(["xla.broadcast"], ["bool", "float16"]))
    digests = {
        name: write_vectors(tmp_path / name, work, run=spread).digest
        for name, spread in spreads(cluster).items()
    }
    assert len(digests) == 3
    assert len(set(digests.values())) == 1


def test_where_no_scheduler_answers_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("sonnx.conformance.spreading._CONNECT", "1s")
    with pytest.raises(SpreadError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        over_dask("tcp://127.0.0.1:1")
    with pytest.raises(SpreadError, match="no Dask scheduler answers at nonsense:"):
        over_dask("nonsense://x")


# How a client ends that was never connected shows when it is thrown away.
NO_ADDRESSES = """
import gc, pytest
from sonnx.conformance.spreading import SpreadError, over_dask
for address in ("foo://bar", "not an address", "tls://127.0.0.1:1"):
    with pytest.raises(SpreadError, match="no Dask scheduler answers at"):
        over_dask(address)
    gc.collect()
"""


def test_what_is_no_address_leaves_nothing_that_complains() -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    done = subprocess.run([sys.executable, "-c", NO_ADDRESSES], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_a_cluster_without_workers_is_refused() -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with (
        distributed.LocalCluster(
            n_workers=0, processes=True, dashboard_address=":0", silence_logs=50
        ) as empty,
        pytest.raises(SpreadError, match="has no workers"),
    ):
        over_dask(empty.scheduler_address)


def test_without_dask_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(UnavailableError, match=r'pip install "distributed>=2024.1"'):
        over_dask("tcp://127.0.0.1:1")


def test_a_signal_waits_until_a_process_is_started() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        with _undisturbed():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)
            assert heard == []
        assert heard == [signal.SIGTERM]
        with pytest.raises(KeyboardInterrupt):
            interrupted(heard)
        assert heard == [signal.SIGTERM, 0]
    finally:
        signal.signal(signal.SIGTERM, before)


def interrupted(heard: list[int]) -> None:
    with _undisturbed():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        heard.append(0)


def test_other_threads_leave_signals_alone() -> None:
    before = signal.getsignal(signal.SIGINT)

    def look() -> object:
        with _undisturbed():
            return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(look).result() is before
