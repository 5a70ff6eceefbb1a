import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from tests.prove.support import script

from sonnx.prove.running import Job, run_jobs, run_tool


def gone(file: Path) -> bool:
    """Whether the process whose number a file has ends within a while."""
    number = int(file.read_text(encoding="utf-8"))
    for _ in range(200):
        try:
            state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    os.kill(number, signal.SIGKILL)
    return False


def test_what_a_tool_prints_and_how_it_ends_is_known(tmp_path: Path) -> None:
    path = script(tmp_path / "tool", "#!/bin/sh\necho out $1 $SAID; pwd; echo err >&2; exit 3\n")
    ran = run_tool([path, "word"], seconds=60, folder=tmp_path, environment={"SAID": "more"})
    assert (ran.code, ran.out, ran.err, ran.stopped) == (3, f"out word more\n{tmp_path}\n", "err\n", "")
    assert ran.how == "exit code 3"


def test_a_tool_that_is_killed_says_so(tmp_path: Path) -> None:
    path = script(tmp_path / "tool", "#!/bin/sh\nkill -9 $$\n")
    assert run_tool([path], seconds=60, folder=tmp_path).how == "ended by signal 9"


@pytest.mark.parametrize(
    ("limit", "how"),
    [
        ("seconds", "did not end within {:g} seconds and was stopped"),
        ("silence", "printed nothing for {:g} seconds and was stopped"),
    ],
)
def test_a_tool_that_hangs_is_stopped_with_its_children(tmp_path: Path, limit: str, how: str) -> None:
    path = script(tmp_path / "tool", "#!/bin/sh\nsleep 600 & echo $! >child\necho before\nwait\n")
    # One that is stopped before it has said anything shows nothing: it gets more time then.
    for seconds in (0.5, 5.0, 50.0):
        limits = {"seconds": 600.0, limit: seconds}
        ran = run_tool([path], folder=tmp_path, **limits)  # type: ignore[arg-type]  # both are numbers
        assert ran.how == how.format(seconds)
        if ran.out:
            break
    assert ran.out == "before\n"
    assert gone(tmp_path / "child")


def test_a_tool_that_closes_its_output_and_stays_is_stopped(tmp_path: Path) -> None:
    path = script(tmp_path / "tool", "#!/bin/sh\nexec >&- 2>&-\nsleep 600\n")
    assert "was stopped" in run_tool([path], seconds=0.5, folder=tmp_path).how


def test_a_tool_that_prints_without_end_is_stopped(tmp_path: Path) -> None:
    path = script(tmp_path / "tool", "#!/bin/sh\nyes\n")
    ran = run_tool([path], seconds=60, folder=tmp_path, most=1000)
    assert ran.how == "printed more than 1000 bytes and was stopped"
    assert len(ran.out) < 200_000


def test_children_that_a_tool_leaves_are_ended(tmp_path: Path) -> None:
    path = script(tmp_path / "tool", "#!/bin/sh\nsleep 600 >/dev/null 2>&1 & echo $! >child\n")
    assert run_tool([path], seconds=60, folder=tmp_path).how == ""
    assert gone(tmp_path / "child")


def test_a_tool_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        run_tool([tmp_path / "none"], seconds=60, folder=tmp_path)


def test_results_come_in_the_order_of_the_jobs_and_each_is_watched() -> None:
    seen: list[tuple[int, int, str]] = []
    jobs = [Job(f"job {number}", partial(pow, number, 2)) for number in range(5)]
    assert run_jobs(jobs, 3, lambda *news: seen.append(news)) == [0, 1, 4, 9, 16]
    assert [(done, total) for done, total, _ in seen] == [(done, 5) for done in range(6)]
    assert {name for _, _, name in seen[1:]} == {f"job {number}" for number in range(5)}


def test_no_jobs_have_no_results() -> None:
    assert run_jobs([]) == []


def test_an_error_in_one_job_ends_the_tools_of_the_others_and_is_raised(tmp_path: Path) -> None:
    path = script(tmp_path / "tool", "#!/bin/sh\necho $$ >child\nsleep 600\n")
    after: list[str] = []

    def hang() -> None:
        run_tool([path], seconds=600, folder=tmp_path)
        run_tool([path], seconds=5, folder=tmp_path)
        after.append("a second tool was run")

    def fail() -> None:
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text(encoding="utf-8"):
            time.sleep(0.01)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_jobs([Job("hang", hang), Job("fail", fail)], 2)
    assert gone(tmp_path / "child")
    assert after == []
    assert run_tool(["true"], seconds=60, folder=tmp_path).how == ""


# Who starts tests in the background may have them ignore SIGINT.
PROGRAM = """
import signal
import sys
from pathlib import Path
from sonnx.prove.running import Job, run_jobs, run_tool
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = Path(sys.argv[1])
def work():
    return run_tool([folder / "tool"], seconds=600, folder=folder)
run_jobs([Job("a", work), Job("b", work)], 1)
"""


def test_a_user_who_interrupts_ends_the_tools(tmp_path: Path) -> None:
    script(tmp_path / "tool", "#!/bin/sh\necho $$ >child\nsleep 600\n")
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stderr=subprocess.PIPE) as process:
        while not (tmp_path / "child").exists():
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said
    assert gone(tmp_path / "child")


def test_heavy_jobs_begin_first_and_results_keep_their_order() -> None:
    begun: list[str] = []

    def job(name: str, weight: int) -> Job[str]:
        def work() -> str:
            begun.append(name)
            return name

        return Job(name, work, weight)

    assert run_jobs([job("light", 1), job("heavy", 9), job("middle", 5)], workers=1) == [
        "light",
        "heavy",
        "middle",
    ]
    assert begun == ["heavy", "middle", "light"]
