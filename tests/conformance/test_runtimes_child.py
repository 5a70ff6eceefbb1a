"""Whatever a runtime does to its process, there is an answer, and the next question has one too."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conformance.runtimes_support import (
    EVIL,
    LIES,
    F,
    alive,
    clip_question,
    conv_question,
    deed,
    echo,
    ends,
    every_type,
)
from tests.loops import for_each

from sonnx import TensorType, same_bits
from sonnx.conformance.runtimes import pipes
from sonnx.conformance.runtimes.answer import Answer, seconds_text
from sonnx.conformance.runtimes.child import Child
from sonnx.conformance.runtimes.question import Question
from sonnx.conformance.runtimes.runtime import UnavailableError

SUPPORT = "tests.conformance.runtimes_support"
MEMORY = 2**28
MOMENT = 0.7
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    with Child(EVIL, memory=MEMORY) as made:
        yield made


def process_of(child: Child) -> int:
    """The runtime's process: on Linux the first that the one above it has started."""
    assert child._worker is not None
    above = child._worker._process.pid
    below = Path(f"/proc/{above}/task/{above}/children")
    return int(below.read_text(encoding="ascii").split()[0]) if below.exists() else above


def goes_on(child: Child) -> bool:
    """Tell whether a question is answered, and rightly."""
    answer = child.ask(clip_question(1, 2))
    return answer.kind == "outputs" and same_bits(answer.outputs[0], np.array([1, 2], F))


def test_every_bit_of_an_array_comes_back_from_a_child(child: Child) -> None:
    arrays = every_type()
    answer = child.ask(echo(**arrays))
    assert answer.kind == "outputs"
    for sent, found in zip(arrays.values(), answer.outputs, strict=True):
        assert same_bits(sent, found)
        assert sent.dtype == np.dtype(object) or found.tobytes() == sent.tobytes()  # type: ignore[union-attr]  # an array


def test_inputs_and_constants_reach_the_runtime(child: Child) -> None:
    asked = conv_question("B")
    answer = child.ask(asked)
    expected = [*asked.inputs.values(), *asked.constants.values()]
    assert all(same_bits(a, b) for a, b in zip(answer.outputs, expected, strict=True))


def test_a_child_has_the_name_of_its_runtime_made_printable(child: Child) -> None:
    assert (child.name, child.version) == ("evil\\x1b[31m", "6.6")


def test_what_a_runtime_does_not_know_is_unsupported(child: Child) -> None:
    answer = child.ask(Question("xla.collapse", {}, {}, {}, {}))
    assert answer.text == "unsupported"


# What is done, and the answer in words.
DEATHS = {
    "abort": "crashed: signal 6 (SIGABRT)",
    "segfault": "crashed: signal 11 (SIGSEGV)",
    "exit": "crashed: exit code 3",
    "sys.exit": "crashed: exit code 4",
    "eat": "too large",
    "die of hunger": "too large: signal 6 (SIGABRT)",
    "fork unseen and die": "crashed: signal 6 (SIGABRT)",
    "close pipes": "crashed: it closed its pipes and lived on",
    "hang": f"late: no answer within {MOMENT:g} seconds",
    "spin": f"late: no answer within {MOMENT:g} seconds",
}


@pytest.mark.parametrize("name", DEATHS)
def test_a_death_is_an_answer_and_the_next_question_has_one_too(child: Child, name: str) -> None:
    seconds = MOMENT if DEATHS[name].startswith("late") else 20.0
    assert goes_on(child)
    before = process_of(child)
    assert child.ask(deed(name), seconds).text == DEATHS[name]
    assert not alive(before)
    assert goes_on(child)
    assert process_of(child) != before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody keeps processes")
@pytest.mark.parametrize("name", ["abort", "segfault", "exit", "fork unseen and die", "close pipes"])
def test_a_death_is_told_rightly_where_nobody_has_the_time_to_see_it(
    child: Child, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipes, "_TO_END", 0.0)
    assert goes_on(child)
    assert child.ask(deed(name), 20.0).text == DEATHS[name]
    assert goes_on(child)


# What is done without harm to the process: the kind of the answer, and what the outputs are.
HARMLESS: dict[str, tuple[str, list[str]]] = {
    "print rubbish": ("outputs", ["float[]"]),
    "flood stderr": ("outputs", ["float[]"]),
    "wrong type": ("outputs", ["double[1]"]),
    "wrong shape": ("outputs", ["float[7,1]"]),
    "no outputs": ("outputs", []),
    "three outputs": ("outputs", ["float[]"] * 3),
    "objects": ("outputs", ["NumPy object[2]"]),
    "a list": ("outputs", ["Python list"]),
    "float8": ("outputs", ["NumPy float8_e4m3fn[3]"]),
    "nothing at all": ("outputs", ["nothing, where a list is wanted"]),
    "a bare array": ("outputs", ["array, where a list is wanted"]),
    "a bare number": ("outputs", ["array, where a list is wanted"]),
    "text": ("outputs", ["Python str, where a list is wanted"]),
    "outputs by name": ("outputs", ["Python dict, where a list is wanted"]),
    "a generator": ("outputs", ["Python generator, where a list is wanted"]),
    "a tuple": ("outputs", ["float[]"]),
    "raise what cannot be printed": ("refused", []),
}


def described(answer: Answer) -> list[str]:
    names = {"float32": "float", "float64": "double"}
    return [
        str(one)
        if isinstance(one, TensorType)
        else f"{names[one.dtype.name]}[{','.join(map(str, one.shape))}]"
        for one in answer.outputs
    ]


@for_each("name", HARMLESS)
def test_what_a_runtime_gives_is_returned_right_or_wrong(child: Child, name: str) -> None:
    assert goes_on(child)
    before = process_of(child)
    answer = child.ask(deed(name))
    assert (answer.kind, described(answer)) == HARMLESS[name]
    assert goes_on(child)
    assert process_of(child) == before


@pytest.mark.parametrize("name", ["endless outputs", "a vast view", "say that memory is out"])
def test_what_is_too_large_is_said_to_be(child: Child, name: str) -> None:
    assert child.ask(deed(name)).kind == "too large"
    assert goes_on(child)


def test_a_refusal_has_the_error_printable_and_cut(child: Child) -> None:
    answer = child.ask(deed("raise"))
    assert (answer.kind, answer.error) == ("refused", "ValueError")
    assert answer.message.startswith("bad \\x1b[31m news xxx")
    assert len(answer.message) < 2100
    assert answer.text.isprintable()


def test_a_crash_has_the_last_words_of_the_process(child: Child) -> None:
    answer = child.ask(deed("flood and die"))
    assert answer.kind == "crashed"
    assert answer.said[-1] == "a last \\x1b[31mword"
    assert sum(map(len, answer.said)) < 5000


def test_a_forked_process_does_not_answer_as_well(child: Child) -> None:
    assert goes_on(child)
    for _ in range(2):
        (number,) = child.ask(deed("fork and come back")).outputs
        assert same_bits(number, np.array(process_of(child), np.int64))
    assert goes_on(child)


@pytest.mark.parametrize("name", ["fork and look", "fork and reopen"])
def test_a_forked_process_has_no_pipes_and_writes_nothing(child: Child, name: str) -> None:
    (number,) = child.ask(deed(name)).outputs
    assert same_bits(number, np.array(0, np.int64))
    assert goes_on(child)


@needs_proc
def test_a_forked_process_ends_with_the_child() -> None:
    with Child(EVIL) as own:
        (numbers,) = own.ask(deed("fork and stay")).outputs
        assert isinstance(numbers, np.ndarray)
        worker, forked = numbers.tolist()
        assert alive(worker)
        assert alive(forked)
    assert ends(forked)
    assert not alive(worker)


@pytest.mark.parametrize("name", ["other bytes", "endless arrays", "deep json", "another number", "real"])
def test_a_child_that_lies_is_ended(child: Child, name: str) -> None:
    assert name in LIES
    assert goes_on(child)
    before = process_of(child)
    answer = child.ask(deed(name), 10)
    assert answer.kind == "crashed"
    assert answer.message.startswith("what it sent cannot be read: ")
    assert not alive(before)
    assert goes_on(child)


def test_many_answers_are_in_the_order_of_the_questions(child: Child) -> None:
    asked = [clip_question(number) for number in range(300)]
    answers = list(child.ask_many(asked))
    assert [float(answer.outputs[0][0]) for answer in answers] == list(range(300))  # type: ignore[index]  # arrays


def test_large_questions_and_answers_do_not_block_each_other(child: Child) -> None:
    large = [echo(x=np.full(200_000, number, np.float64)) for number in range(4)]
    answers = list(child.ask_many(large))
    assert all(same_bits(a.outputs[0], q.inputs["x"]) for a, q in zip(answers, large, strict=True))


def test_a_crash_amid_many_questions_is_the_answer_to_one(child: Child) -> None:
    asked: list[Question] = [clip_question(number) for number in range(30)]
    asked[7], asked[8], asked[20] = deed("abort"), deed("raise"), deed("hang")
    kinds = [answer.kind for answer in child.ask_many(asked, MOMENT)]
    assert (kinds[7], kinds[8], kinds[20]) == ("crashed", "refused", "late")
    assert [kind for index, kind in enumerate(kinds) if index not in (7, 8, 20)] == ["outputs"] * 27


def test_answers_that_nobody_takes_are_not_taken_for_others(child: Child) -> None:
    answers = child.ask_many(clip_question(number) for number in range(100))
    next(answers)
    with pytest.raises(RuntimeError, match="have not all been taken"):
        child.ask(clip_question(5))
    answers.close()  # type: ignore[attr-defined]  # a generator
    assert goes_on(child)


def test_an_error_among_the_questions_ends_the_process(child: Child) -> None:
    def questions() -> Iterator[Question]:
        yield clip_question(1)
        raise KeyboardInterrupt

    assert goes_on(child)
    before = process_of(child)
    with pytest.raises(KeyboardInterrupt):
        list(child.ask_many(questions()))
    assert not alive(before)
    assert goes_on(child)


def test_a_process_that_dies_idle_is_no_answer_to_anything(child: Child) -> None:
    assert goes_on(child)
    os.kill(process_of(child), signal.SIGKILL)
    worker = child._worker
    assert worker is not None
    while not worker.gone:
        time.sleep(0.01)
    assert goes_on(child)


def test_the_files_of_a_child_are_its_own_and_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Child(EVIL) as own:
        (where,) = own.ask(deed("litter")).outputs
        folder = Path(own._folder.name)
        assert same_bits(where, np.array(os.path.realpath(folder), object))
        assert (folder / "litter").is_file()
        refused = own.ask(deed("write without end"))
    assert (refused.kind, refused.error) == ("refused", "OSError")
    assert "File too large" in refused.message
    assert not folder.exists()
    assert list(tmp_path.iterdir()) == []
    own.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a daemon lives on")
def test_a_process_that_detaches_itself_ends_with_the_child() -> None:
    with Child(EVIL) as own:
        first = int(own.ask(deed("detach")).outputs[0])  # type: ignore[arg-type]  # an array
        assert alive(first)
        died = own.ask(deed("detach and die"))
        assert died.text == "crashed: signal 6 (SIGABRT)"
        assert not any(map(alive, (first, int(died.said[-1]))))
        third = int(own.ask(deed("detach")).outputs[0])  # type: ignore[arg-type]  # (same)
        assert own._worker is not None
        os.kill(own._worker._process.pid, signal.SIGSTOP)  # whoever ends it all may have been halted
    assert not alive(third)


@pytest.mark.parametrize(
    ("runtime", "options", "message"),
    [
        (f"{SUPPORT}:CannotBeMade", {}, f"{SUPPORT}:CannotBeMade cannot be made: KeyError: 'no such thing'"),
        ("reference", {"accumulate": "twice"}, "^accumulate must be"),
        (f"{SUPPORT}:CannotBeMade", {"way": "unprintable"}, "CannotBeMade cannot be made: UnprintableError$"),
        (f"{SUPPORT}:CannotBeMade", {"way": "die"}, r"ended while it started, with signal 11.*a last word"),
        (f"{SUPPORT}:CannotBeMade", {"way": "hang"}, r"did not start within 0\.5 seconds"),
        ("no_such_module:runtime", {}, "no_such_module cannot be imported"),
    ],
)
def test_a_runtime_that_cannot_be_had_is_an_error(
    runtime: str, options: dict[str, Any], message: str
) -> None:
    start = 0.5 if options.get("way") == "hang" else 60.0
    with (
        Child(runtime, start_seconds=start, **options) as own,
        pytest.raises(UnavailableError, match=message),
    ):
        own.ask(clip_question())


@pytest.mark.parametrize(("seconds", "words"), [(1, "1 second"), (0.5, "0.5 seconds"), (20.0, "20 seconds")])
def test_one_second_is_one(seconds: float, words: str) -> None:
    assert seconds_text(seconds) == words


def test_options_that_cannot_be_sent_are_refused() -> None:
    with pytest.raises(ValueError, match="text, numbers and truth values"):
        Child(EVIL, folder=Path("x"))


PARENT = f"""
from {SUPPORT} import EVIL, deed
from sonnx.conformance.runtimes.child import Child

with Child(EVIL) as child:
    worker, forked = child.ask(deed("fork and stay")).outputs[0].tolist()
    print(worker, forked, child.ask(deed("detach")).outputs[0], child._folder.name, flush=True)
    child.ask(deed("spin"), 1000)
"""


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_child_outlives_its_parent(number: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    assert parent.stdout is not None
    folder = ""
    try:
        worker, forked, detached, folder = parent.stdout.readline().split()
        time.sleep(0.2)
        assert alive(int(worker))
        assert alive(int(forked))
        parent.send_signal(number)
        assert ends(int(worker))
        assert ends(int(forked))
        assert sys.platform != "linux" or ends(int(detached))
        assert parent.wait(20) != 0
        assert number == signal.SIGKILL or not Path(folder).exists()
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)  # which nobody was left to remove
