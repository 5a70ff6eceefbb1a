"""`sonnx conformance` beside streams that are closed, and signals that end it."""

import subprocess
import sys

import pytest

QUICK = "--operator xla.Collapse --type int8 --type uint8 --examples 0"


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize(
    ("closed", "jobs"), [("<&-", 1), ("2>&-", 1), ("<&- >&- 2>&-", 1), ("<&- 2>&-", 2)]
)
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
