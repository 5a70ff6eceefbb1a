"""Programs given by their command lines: where they work, what they print, and those that stay alive."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.conformance.runtimes_support import F, clip_question

from sonnx import same_bits
from sonnx.cli import main
from sonnx.conformance.runtimes.child import Child
from sonnx.conformance.runtimes.program import RunningProgram
from sonnx.conformance.runtimes.runtime import LateError, named

ECHO = """#!/bin/sh
echo mine >litter
cp "$2/input_0.pb" "$3/output_0.pb"
"""


def script(path: Path, text: str) -> Path:
    path.write_text(text, encoding="ascii")
    path.chmod(0o755)
    return path


def test_a_program_of_the_callers_folder_is_found_and_writes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "echo.sh", ECHO)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    lines = ("./echo.sh {model} {inputs} {outputs}", "sh echo.sh {model} {inputs} {outputs}")
    runtimes = [named("command", line=line)() for line in lines]
    monkeypatch.chdir(tmp_path / "elsewhere")
    for runtime in runtimes:
        (found,) = runtime.run(clip_question(7, 8))
        assert same_bits(found, np.array([7, 8], F))
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["echo.sh", "elsewhere"]


def test_words_that_name_files_hold_in_any_folder_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("shown.py", "net.bin", "run"):
        (tmp_path / name).write_text("import sys; sys.exit('\\n'.join(sys.argv[1:]))", encoding="ascii")
    monkeypatch.chdir(tmp_path)
    words = "run net.bin --net=./net.bin --far=no/such.bin . {here}/run"
    runtime = named("command", line=f"{sys.executable} -S -m shown {words} {{model}} {{outputs}}")()
    monkeypatch.chdir("/")
    with pytest.raises(RuntimeError) as refused:
        runtime.run(clip_question())
    # What is said shows words as they were typed.
    monkeypatch.setattr(runtime, "_typed", ())
    with pytest.raises(RuntimeError) as bare:
        runtime.run(clip_question())
    wanted = ["run", f"{tmp_path}/net.bin", f"--net={tmp_path}/net.bin", "--far=no/such.bin", str(tmp_path)]
    wanted += [f"{tmp_path}/run", "{model}", "{outputs}"]
    assert str(bare.value) == f"exit code 1: {' / '.join(wanted)}"
    assert "run / net.bin / --net=net.bin / " in str(refused.value)


def test_of_what_a_program_prints_the_end_is_kept_and_no_file(tmp_path: Path) -> None:
    flood = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo last >&2; exit 5"
    program = RunningProgram(["sh", "-c", flood], tmp_path, os.environ, talks=False)
    assert program.code(60) == 5
    program.close()
    assert program.said == b"x" * (2**14 - 5) + b"last\n"
    assert list(tmp_path.iterdir()) == []


def test_whoever_keeps_the_pipe_of_a_program_is_not_waited_for(tmp_path: Path) -> None:
    program = RunningProgram(["sh", "-c", "sleep 1000 & echo $! >&2"], tmp_path, os.environ, talks=False)
    assert program.code(60) == 0
    program.close()
    os.kill(int(program.said), 9)
    quiet = RunningProgram(["sh", "-c", "exec 2>&-; exec sleep 1000"], tmp_path, os.environ, talks=False)
    with pytest.raises(LateError, match=r"within 0\.05 seconds"):
        quiet.code(0.05)
    quiet.close()


# Which way each case goes is told by its number: after a crash another process goes on with the next.
ALIVE = """
here=$1; shift
tab=$(printf '\\t')
while IFS="$tab" read -r model inputs outputs; do
    echo $$ >>"$here/processes"
    eval way=\\${$(($(wc -l <"$here/processes")))}
    echo mine >litter
    case $way in
        ok) cp "$inputs/input_0.pb" "$outputs/output_0.pb"; echo ok ;;
        flood) head -c 300000 /dev/zero >&2; cp "$inputs/input_0.pb" "$outputs/output_0.pb"; echo ok ;;
        refused) echo "refused no Clip in $model" ;;
        noise) printf 'hel\\033lo\\n' ;;
        twice) cp "$inputs/input_0.pb" "$outputs/output_0.pb"; printf 'ok\\nok\\n' ;;
        endless) head -c 30000 /dev/zero | tr '\\0' x ;;
        exit) echo "a last word" >&2; exit 3 ;;
        script) exit 139 ;;
        crash) kill -SEGV $$ ;;
        hungry) echo "std::bad_alloc" >&2; kill -ABRT $$ ;;
        mute) exec >&-; exec sleep 1000 ;;
        hang) exec sleep 1000 ;;
    esac
done
"""
WANTED = "where the line `ok` or `refused` and why is wanted"
# What each case is, its answer in words, and whether the process lives on.
CASES = [
    ("ok", "1 outputs", True),
    ("flood", "1 outputs", True),
    ("refused", "refused: RuntimeError: no Clip in {model}", True),
    ("ok", "1 outputs", True),
    ("noise", f"crashed: it answered 'hel\\\\x1blo', {WANTED}", False),
    ("twice", "1 outputs", True),
    ("", f"crashed: it printed to its standard output before it was asked, {WANTED}", False),
    ("endless", f"crashed: it answered with a line of more than 16,384 bytes, {WANTED}", False),
    ("exit", "crashed: exit code 3", False),
    ("ok", "1 outputs", True),
    ("crash", "crashed: signal 11 (SIGSEGV)", False),
    ("script", "crashed: signal 11 (SIGSEGV)", False),
    ("hungry", "too large: signal 6 (SIGABRT)", False),
    ("mute", "crashed: signal 9 (SIGKILL)", False),
    ("ok", "1 outputs", True),
    ("hang", "late: no answer within 0.7 seconds", False),
    ("ok", "1 outputs", True),
]


def test_a_program_that_stays_alive_is_asked_by_lines_and_started_anew_where_it_must_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "alive.sh", ALIVE)
    monkeypatch.chdir(tmp_path)
    ways = " ".join(way for way, _, _ in CASES if way)
    with Child("command", line=f"sh ./alive.sh {{here}} {ways}", alive=True) as child:
        found = []
        for number, (way, _, _) in enumerate(CASES):
            answer = child.ask(clip_question(number), 0.7 if way == "hang" else 60)
            found.append(answer)
        assert [answer.text for answer in found] == [text for _, text, _ in CASES]
        outputs = [(number, answer.outputs) for number, answer in enumerate(found) if answer.outputs]
        assert all(same_bits(output, np.array([number], F)) for number, (output,) in outputs)
        assert found[[way for way, _, _ in CASES].index("exit")].said == ("a last word",)
    processes = (tmp_path / "processes").read_text(encoding="ascii").split()
    lives = [lives for way, _, lives in CASES if way]
    # Before the case that is not reached, the process has said too much.
    lives[[way for way, _, _ in CASES].index("twice")] = False
    same = [first == second for first, second in pairwise(processes)]
    assert same == lives[:-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alive.sh", "processes"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("reference", "--alive"), "--alive is about the program of --command"),
        (("--command", "sh {model} {outputs}", "--alive"), "reads its paths: leave out {model}"),
        (("--command", "sh"), "with --alive the program alone"),
        (("--command", "sh ./nope.sh", "--alive"), "sh cannot be started: exit code"),
        (("--command", "sh", "--option", "alive=maybe"), "`alive` is true or false, not 'maybe'"),
    ],
)
def test_alive_is_about_programs_that_read_their_paths(arguments: tuple[str, ...], said: str) -> None:
    only = ("--operator", "Clip", "--type", "float", "--jobs", "1")
    result = CliRunner().invoke(main, ["conformance", *arguments, *only])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_a_program_that_a_question_ends_crashes_with_its_last_line(tmp_path: Path) -> None:
    # Without a question it ends well, so it is there.
    script(tmp_path / "dies.sh", "while read -r line; do printf 'a last \\033word\\n' >&2; exit 3; done")
    only = ("--operator", "Clip", "--type", "int8", "--jobs", "1", "--examples", "0")
    result = CliRunner().invoke(
        main, ["conformance", "--command", f"sh {tmp_path}/dies.sh", "--alive", *only]
    )
    assert result.exit_code == 1
    assert "crashed: exit code 3\n   it printed last: a last \\x1bword\n" in result.output


def test_without_fcntl_nothing_is_judged_and_one_line_says_so() -> None:
    code = """
import sys
for name in ("fcntl", "resource", "grp", "pwd", "termios"):
    sys.modules[name] = None
from sonnx.cli import main
main(["conformance", "reference", "--operator", "clip", "--type", "float", "--jobs", "1"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: a runtime cannot be judged on ")
    assert done.stderr.count("\n") == 1
