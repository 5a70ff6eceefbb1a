"""Operators on bits against integers of Python, in two's complement: all of 8 bits, on every engine."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.catalogue import Array, Asked, complaints, emitted, native, on_xla, reference
from tests.emit.support import needs_gcc
from tests.native.support import quick_compiler

from sonnx.conformance.runtimes.question import graph, question
from sonnx.conformance.subjects import subject_named
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured

BINARY: dict[str, Callable[[int, int], int]] = {
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
}


def whole(dtype: str) -> range:
    info = np.iinfo(dtype)
    return range(int(info.min), int(info.max) + 1)


# Every number of places, and more than there are.
SHIFTS: dict[str, Callable[[int, int], int]] = {
    "LEFT": lambda x, places: x * 2**places % 256,
    "RIGHT": lambda x, places: x // 2**places,
}


def asked(name: str, given: dict[str, Array], expected: Array, **attributes: str) -> Asked:
    subject = subject_named(name)
    (output,) = subject.operator.contract.outputs
    model = question(subject.operator, Trial("every", given, (), name, attributes))
    return Asked(name, subject, graph(model), model.inputs, "bits", expected={output.name: expected})


def every() -> Iterator[Asked]:
    for dtype in ("int8", "uint8"):
        numbers = list(whole(dtype))
        a, b = ([x for x in numbers for _ in numbers], numbers * len(numbers))
        for name, meant in BINARY.items():
            made = [meant(x, y) for x, y in zip(a, b, strict=True)]
            yield asked(name, {"A": np.array(a, dtype), "B": np.array(b, dtype)}, np.array(made, dtype))
        # -1 - x is every bit the other way; of numbers without a sign it is taken modulo 256.
        turned = [-1 - x if dtype == "int8" else 255 - x for x in numbers]
        yield asked("bitwise_not", {"X": np.array(numbers, dtype)}, np.array(turned, dtype))


def shifted() -> Iterator[Asked]:
    numbers = list(whole("uint8"))
    x, places = ([each for each in numbers for _ in numbers], numbers * len(numbers))
    for direction, meant in SHIFTS.items():
        made = [meant(one, many) for one, many in zip(x, places, strict=True)]
        given = {"X": np.array(x, np.uint8), "Y": np.array(places, np.uint8)}
        yield asked("bit_shift", given, np.array(made, np.uint8), direction=direction)
    for bits in (16, 32, 64):
        most, kind = 2**bits - 2, f"u{bits // 8}"
        counts = [0, 1, bits // 2, bits - 1, bits, bits + 1, 2 * bits]
        right = {"LEFT": [most * 2**n % 2**bits for n in counts], "RIGHT": [most // 2**n for n in counts]}
        given = {"X": np.full(8, most, kind), "Y": np.array([*counts, 2**bits - 1], kind)}
        for direction, made in right.items():
            yield asked("bit_shift", given, np.array([*made, 0], kind), direction=direction)


def test_the_definitions_and_kernels_turn_every_pair_of_bytes_as_integers_of_python_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path))
    questions = [*every(), *shifted()]
    for engine in (reference, native, on_xla):
        assert complaints(questions, "separate", engine) == []


@needs_gcc
def test_plain_c_turns_every_pair_of_bytes_as_integers_of_python_do(tmp_path: Path) -> None:
    assert (
        complaints([*every(), *shifted()], "separate", emitted(tmp_path, "plain", "-O0", "-Wall", "-Werror"))
        == []
    )
