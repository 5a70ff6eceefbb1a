"""`sonnx conformance` beside streams that are closed, and signals that end it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.conformance.test_reduction import asking
from tests.conformance.test_search import as_specified

from sonnx.cli.progress import ended_by_signals
from sonnx.conformance.campaign import Outcome
from sonnx.conformance.search import searched
from sonnx.conformance.subjects import subject_named
from sonnx.model.dtype import DType
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.long

QUICK = "--operator xla.Collapse --type int8 --type uint8 --examples 0"


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize(("closed", "jobs"), [("<&-", 1), ("2>&-", 1), ("<&- >&- 2>&-", 1), ("<&- 2>&-", 2)])
def test_a_standard_stream_that_is_closed_changes_no_verdict(closed: str, jobs: int) -> None:
    done = shell(f'"{sys.executable}" -m sonnx conformance reference {QUICK} --jobs {jobs} {closed}')
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stderr


# A script of anybody's, which does not prepare its streams as the command does.
ASKING = """
from tests.conformance.runtimes_support import EVIL, clip_question
from sonnx.conformance.runtimes.child import Child

with Child(EVIL) as child:
    raise SystemExit(child.ask(clip_question()).kind != "outputs")
"""


@pytest.mark.parametrize("closed", ["<&-", "<&- >&- 2>&-"])
def test_a_child_answers_whatever_its_parent_has_closed(closed: str) -> None:
    assert shell(f"'{sys.executable}' -c '{ASKING}' {closed}").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_the_search_ends_it_with_its_code(number: int) -> None:
    """Hypothesis would catch what it takes for a fault of the runtime, and try it again."""
    ask, asked = asking("clip", DType.FLOAT, as_specified), []

    def ended(trial: Trial) -> Outcome:
        asked.append(trial)
        os.kill(os.getpid(), number)
        return ask(trial)

    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as end, ended_by_signals():
        searched(subject_named("clip"), DType.FLOAT, ended, (), examples=9, seed=0, seconds=None)
    assert (end.value.code, len(asked)) == (128 + number, 1)
    assert signal.getsignal(number) == before


def test_a_signal_is_not_lost_with_what_hypothesis_throws_away() -> None:
    ask, asked = asking("clip", DType.FLOAT, as_specified), []

    class Last:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)

    def ended(trial: Trial) -> Outcome:
        asked.append(Last())
        asked.clear()  # what is raised here is told to sys.unraisablehook, and to nobody else
        return ask(trial)

    lost: list[object] = []
    before, sys.unraisablehook = sys.unraisablehook, lost.append
    try:
        with pytest.raises(SystemExit) as end, ended_by_signals():
            searched(subject_named("clip"), DType.FLOAT, ended, (), examples=9, seed=0, seconds=None)
    finally:
        sys.unraisablehook = before
    assert (end.value.code, len(lost)) == (143, 1)


def test_whoever_ends_a_search_in_this_process_sees_no_traceback(tmp_path: Path) -> None:
    only = ("--operator", "xla.Collapse", "--type", "int8", "--seconds", "60", "--jobs", "1")
    with subprocess.Popen(
        [sys.executable, "-m", "sonnx", "conformance", "reference", *only],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
    ) as process:
        # The search has a folder of its own.
        while not list(tmp_path.glob("sonnx-search-*")) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (143, "", "")
    assert list(tmp_path.iterdir()) == []
