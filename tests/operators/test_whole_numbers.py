"""Floor, Ceil and Round against exact arithmetic: every float16 on every engine, floats beside ties."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import ceil, copysign, floor
from pathlib import Path

import numpy as np
import pytest
from tests.catalogue import Array, Asked, complaints, emitted, native, on_xla, reference
from tests.emit.support import needs_gcc
from tests.native.support import quick_compiler

import sonnx
from sonnx.conformance.runtimes.question import graph, question
from sonnx.conformance.subjects import subject_named
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured

# Python's own functions are exact on fractions; `round` takes ties to even.
MEANT: dict[str, Callable[[Fraction], int]] = {"floor": floor, "ceil": ceil, "round": round}
MANY = 1000


def expected(name: str, x: Array) -> Array:
    made = x.copy()
    for number, value in enumerate(x.tolist()):
        if np.isfinite(value):
            made[number] = copysign(MEANT[name](Fraction(value)), value)
    return made


def halves() -> Array:
    return np.arange(1 << 16).astype(np.uint16).view(np.float16)


def beside(dtype: type) -> Array:
    """Integers and ties of every size with their neighbours, and numbers of all sizes, of either sign."""
    bits = np.finfo(dtype).nmant
    at = np.concatenate([np.arange(0, 9) / 2, *(2.0**k + np.arange(-3, 4) / 2 for k in range(2, bits + 3))])
    at = at.astype(dtype)
    random = np.random.default_rng(18)
    drawn: Array = (random.random(MANY) * 2.0 ** random.integers(-4, bits + 3, MANY)).astype(dtype)
    every = np.concatenate([at, np.nextafter(at, dtype(np.inf)), np.nextafter(at, dtype(-np.inf)), drawn])
    special: Array = np.array(
        [np.inf, np.nan, np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max], dtype
    )
    return np.concatenate([every, -every, special, -special])


@cache
def every() -> tuple[Asked, ...]:
    return tuple(_every())


def _every() -> Iterator[Asked]:
    for x in (halves(), beside(np.float32), beside(np.float64)):
        for name in MEANT:
            subject = subject_named(name)
            asked = question(subject.operator, Trial("every", {"X": x}, (), name))
            right = {"Y": expected(name, x)}
            yield Asked(f"{name} {x.dtype}", subject, graph(asked), asked.inputs, "any", expected=right)


def test_every_float16_and_floats_beside_ties_become_the_integers_that_are_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path))
    asked = every()
    for engine in (reference, native, on_xla):
        assert complaints(asked, "separate", engine) == []


@needs_gcc
@pytest.mark.parametrize(
    "flags",
    [
        "-O0",
        pytest.param("-O2", marks=pytest.mark.long),
        pytest.param("-O2 -march=native", marks=pytest.mark.long),
    ],
)
def test_c_gives_them_with_and_without_an_instruction_for_it(tmp_path: Path, flags: str) -> None:
    asked = every()
    for kernels in ("plain", "fast"):
        (folder := tmp_path / kernels).mkdir()
        assert complaints(asked, "separate", emitted(folder, kernels, *flags.split())) == []


def test_reals_are_rounded_exactly_roots_too() -> None:
    numbers = [Fraction(-7, 2), Fraction(-1, 10**30), Fraction(0), Fraction(5, 2), Fraction(10**30 + 1, 3)]
    for name, meant in MEANT.items():
        found = getattr(sonnx, name)(sonnx.real(numbers))
        assert found.tolist() == [meant(each) for each in numbers]
        assert all(isinstance(each, Fraction) for each in found.tolist())
    two = sonnx.sqrt(sonnx.real([2, 3, 8]))
    assert [getattr(sonnx, name)(two).tolist() for name in MEANT] == [[1, 1, 2], [2, 2, 3], [1, 2, 3]]
