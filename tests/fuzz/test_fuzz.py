"""A short run over mutated files, and the fuzzer itself put to the test."""

import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto
from tests.fuzz.__main__ import main
from tests.fuzz.corpus import MAKERS, Sample, samples
from tests.fuzz.harness import Answer, Settings, Summary, examine, keep
from tests.fuzz.mutations import BYTE_MUTATIONS, MODEL, MUTATIONS, mutated
from tests.loops import for_each

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited and measured as on Linux")


def answers(numbers: Sequence[int], *stages: str, seconds: float = 10.0, memory: int = 2**30) -> list[Answer]:
    named = tuple(f"tests.fuzz.planted:{stage}" for stage in stages)
    return list(examine(numbers, Settings(0, seconds, memory, 1, named)))


@pytest.mark.fuzz
def test_mutated_files_are_refused_or_judged_in_time_and_memory() -> None:
    # More time than `python -m tests.fuzz` gives: a slow machine is no fault of a file.
    summary = Summary(Settings(seed=2, seconds=60.0))
    for answer in examine(range(400), summary.settings):
        summary.add(answer)
    assert summary.failures == []
    assert sum(summary.kinds.values()) == 400
    # Mutations that left nothing to judge, or nothing to find, would test nothing.
    assert all(summary.kinds[kind] > 0 for kind in ("unreadable", "with findings", "conforming"))


@pytest.fixture(scope="module")
def readable() -> list[int]:
    found = [answer.number for answer in answers(range(20), "fine") if answer.kind != "unreadable"]
    assert len(found) > 3
    return found[:3]


def test_a_planted_exception_is_noticed(readable: list[int]) -> None:
    for answer in answers(readable, "raises"):
        assert answer.kind == "failed"
        assert answer.problem.startswith("IndexError: ")
        assert "planted.py" in answer.problem


def test_planted_raw_output_is_noticed(readable: list[int]) -> None:
    for answer in answers(readable, "escapes"):
        assert answer.problem.startswith("WrongError: ")
        assert r"\x1b[2J" in answer.problem
        assert "\x1b" not in answer.problem


@pytest.mark.fuzz
def test_a_planted_hang_is_noticed_and_the_next_file_is_still_examined(readable: list[int]) -> None:
    found = answers(readable[:2], "spins", seconds=1.0)
    assert [answer.problem for answer in found] == ["more than 1 s in the stage spins"] * 2
    assert [answer.number for answer in found] == readable[:2]


@pytest.mark.fuzz
def test_a_process_that_waits_for_ever_is_noticed(readable: list[int]) -> None:
    assert [answer.problem for answer in answers(readable[:1], "sleeps", seconds=1.0)] == [
        "more than 1 s in the stage sleeps"
    ]


def test_a_planted_hunger_for_memory_is_noticed(readable: list[int]) -> None:
    assert [answer.problem.split(":")[0] for answer in answers(readable[:1], "grows")] == ["MemoryError"]


def test_a_planted_death_is_noticed_and_the_next_file_is_still_examined(readable: list[int]) -> None:
    found = answers(readable[:2], "dies")
    assert [answer.problem for answer in found] == ["the process died with exit code 3 in the stage dies"] * 2


def test_a_fault_is_printed_with_its_number_kept_and_answered_with_1(
    readable: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number = readable[0]
    options = ["--files", "1", "--first", str(number), "--seed", "0", "--keep", str(tmp_path)]
    assert main([*options, "--stage", "tests.fuzz.planted:raises"]) == 1
    printed = capsys.readouterr().out
    assert f"seed 0, file {number}: IndexError" in printed
    assert "1 files: 0 unreadable, 0 with findings, 0 conforming, 1 failed" in printed
    kept = tmp_path / f"seed0-{number}"
    assert (kept / MODEL).read_bytes() == mutated(0, number)[MODEL]
    assert "IndexError" in (kept / "problem.txt").read_text(encoding="utf-8")


def test_a_run_without_faults_is_answered_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--files", "3", "--processes", "1", "--keep", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("3 files: ")
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_cannot_start_stops_the_run() -> None:
    with pytest.raises(RuntimeError, match="could not start"):
        answers([0], "not there")


def test_all_files_of_a_failure_are_kept(tmp_path: Path) -> None:
    number = next(number for number in range(200) if len(mutated(0, number)) > 1)
    place = keep(0, Answer(number, "failed", "why"), tmp_path)
    assert {file.name for file in place.iterdir()} == {MODEL, "w.bin", "problem.txt"}


# The files themselves.


def test_the_same_seed_and_number_give_the_same_files() -> None:
    assert [mutated(5, number) for number in range(30)] == [mutated(5, number) for number in range(30)]


def test_other_seeds_and_numbers_give_other_files() -> None:
    contents = [mutated(seed, number)[MODEL] for seed in (0, 1) for number in range(100)]
    assert len(set(contents)) > 180


def test_mutating_leaves_the_corpus_alone() -> None:
    before = [sample.model.SerializeToString() for sample in samples()]
    for number in range(200):
        mutated(7, number)
    assert [sample.model.SerializeToString() for sample in samples()] == before


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_mutation_starts_from_models_that_onnx_accepts(make: Callable[[], Sample], tmp_path: Path) -> None:
    sample = make()
    for name, content in {**sample.beside, MODEL: sample.model.SerializeToString()}.items():
        (tmp_path / name).write_bytes(content)
    onnx.checker.check_model(tmp_path / MODEL)


@for_each("index", range(len(MUTATIONS)), ids=lambda index: MUTATIONS[index].__name__)
def test_every_mutation_of_messages_changes_some_model(index: int) -> None:
    from random import Random

    changed = 0
    for sample in samples():
        model = ModelProto()
        model.CopyFrom(sample.model)
        for attempt in range(5):
            MUTATIONS[index](model, Random(attempt))
        changed += model.SerializeToString() != sample.model.SerializeToString()
    assert changed > 0


@pytest.mark.parametrize(
    "index", range(len(BYTE_MUTATIONS)), ids=lambda index: BYTE_MUTATIONS[index].__name__
)
def test_every_mutation_of_bytes_changes_bytes(index: int) -> None:
    from random import Random

    content = samples()[0].model.SerializeToString()
    results = [BYTE_MUTATIONS[index](content, Random(attempt)) for attempt in range(20)]
    assert any(one != other for one, other in pairwise([content, *results]))
    assert isinstance(BYTE_MUTATIONS[index](b"", Random(0)), bytes)
