"""Operators that give truths: every pair of 8 bits, special values and neighbours, by the bits' own order."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.catalogue import Asked, Engine, complaints, emitted, native, reference
from tests.emit.support import needs_gcc
from tests.native.support import quick_compiler

import sonnx
from sonnx.conformance.runtimes.question import graph, question
from sonnx.conformance.subjects import subject_named
from sonnx.operators import NODE_OPERATORS
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured

Array = Any
# What each comparison says of the places of two elements in their order.
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Less": lambda a, b: a < b,
    "LessOrEqual": lambda a, b: a <= b,
    "Greater": lambda a, b: a > b,
    "GreaterOrEqual": lambda a, b: a >= b,
    "Equal": lambda a, b: a == b,
}
TABLES = {"And": "0001", "Or": "0111", "Xor": "0110", "Equal": "1001"}
FORMATS = {"float16": (10, 5), "float32": (23, 8), "float64": (52, 11)}
SIGNS = [(negative, positive) for negative in (0, 1) for positive in (0, 1)]


def asked(name: str, given: dict[str, Array], expected: Array, **attributes: int) -> Asked:
    """A question to an engine: an operator, its operands, and bytes worked out here."""
    operator = NODE_OPERATORS[name]
    model = question(operator, Trial("by hand", given, (), "by hand", attributes))
    (output,) = operator.contract.outputs
    subject = subject_named(operator.identifier)
    right = {output.name: np.asarray(expected).astype(np.uint8).view(np.bool_)}
    kind = next(iter(given.values())).dtype
    return Asked(f"{name}, {kind}", subject, graph(model), model.inputs, "bits", expected=right)


def order(x: Array) -> tuple[Array, Array]:
    """The places of floats in their order, by their bits; and which of them are NaNs."""
    digits, exponent = FORMATS[x.dtype.name]
    pattern = x.view(f"u{x.itemsize}").astype(object)
    size = pattern % 2 ** (digits + exponent)
    place = np.where(pattern >= 2 ** (digits + exponent), -size, size)
    return place, size > (2**exponent - 1) * 2**digits


def encodings(dtype: str) -> Array:
    """Ends, zeros, the smallest numbers, infinities, NaNs of either sign, and what lies beside each."""
    digits, exponent = FORMATS[dtype]
    endless = (2**exponent - 1) * 2**digits
    places = (0, 2**digits, 2 ** (digits + exponent - 1) - 2**digits, endless, endless + 2 ** (digits - 1))
    near = {place + step for place in places for step in (-2, -1, 0, 1, 2)} - {-2, -1}
    sign = 2 ** (digits + exponent)
    bits = sorted(near | {each + sign for each in near} | {sign - 1, 2 * sign - 1})
    return np.array(bits, f"u{np.dtype(dtype).itemsize}").view(dtype)


def pairs(values: Array) -> tuple[Array, Array]:
    """Every value beside every other."""
    return np.repeat(values, len(values)), np.tile(values, len(values))


def of_integers() -> Iterator[Asked]:
    """All pairs of 8 bits; of wider ones the ends and what lies beside them."""
    for dtype in (np.int8, np.uint8, np.int64, np.uint64):
        info = np.iinfo(dtype)
        near = [info.min, info.min + 1, -1, 0, 1, 2**31, 2**63 - 1, 2**63, info.max - 1, info.max]
        wide = sorted({each for each in near if info.min <= each <= info.max})
        A, B = pairs(np.array(range(info.min, info.max + 1) if info.bits == 8 else wide, dtype))
        for name, compared in COMPARISONS.items():
            right = [compared(int(a), int(b)) for a, b in zip(A, B, strict=True)]
            yield asked(name, {"A": A, "B": B}, right)


def of_floats() -> Iterator[Asked]:
    """Special values beside each other, and every float16 beside its neighbour in the order of the bits."""
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    several = [pairs(encodings(dtype)) for dtype in FORMATS] + [(every, np.roll(every, 1))]
    for A, B in several:
        (a, nan_a), (b, nan_b) = order(A), order(B)
        for name, compared in COMPARISONS.items():
            yield asked(name, {"A": A, "B": B}, compared(a, b) & ~nan_a & ~nan_b)


def of_truths() -> Iterator[Asked]:
    """Every byte beside every other: all but 0 are true."""
    a, b = pairs(np.arange(256, dtype=np.uint8))
    given = {"A": a.view(np.bool_), "B": b.view(np.bool_)}
    places = 2 * (a > 0).astype(int) + (b > 0)
    for name, table in TABLES.items():
        yield asked(name, given, [table[place] == "1" for place in places])
    bytes_ = np.arange(256, dtype=np.uint8)
    yield asked("Not", {"X": bytes_.view(np.bool_)}, [byte == 0 for byte in bytes_])


def of_one_float() -> Iterator[Asked]:
    """Every float16, and special values of the others."""
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    for X in (every, encodings("float32"), encodings("float64")):
        place, nan = order(X)
        digits, exponent = FORMATS[X.dtype.name]
        endless = (2**exponent - 1) * 2**digits
        yield asked("IsNaN", {"X": X}, nan)
        for negative, positive in SIGNS:
            right = ((place == -endless) & (negative == 1)) | ((place == endless) & (positive == 1))
            yield asked("IsInf", {"X": X}, right, detect_negative=negative, detect_positive=positive)


def every() -> list[Asked]:
    """All questions."""
    return [*of_integers(), *of_floats(), *of_truths(), *of_one_float()]


def test_the_definitions_give_the_truths_that_bits_and_tables_say() -> None:
    assert complaints(every(), "separate", reference) == []


def test_kernels_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path))
    assert complaints(every(), "separate", native) == []


@needs_gcc
def test_plain_c_gives_the_same_bytes(tmp_path: Path) -> None:
    run: Engine = emitted(
        tmp_path, "plain", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"
    )
    assert complaints(every(), "separate", run) == []


def test_reals_are_compared_exactly() -> None:
    numbers = [Fraction(1, 3), Fraction(-1, 3), Fraction(0), Fraction(10**30 + 1, 10**30), Fraction(1)]
    numbers += [Fraction(n, 7) for n in range(-8, 8)]
    A, B = pairs(np.array(numbers, object))
    for name, compared in COMPARISONS.items():
        function = getattr(sonnx, NODE_OPERATORS[name].folder)
        found = function(sonnx.real(A.tolist()), sonnx.real(B.tolist()))
        assert found.tolist() == [compared(a, b) for a, b in zip(A, B, strict=True)], name


def test_no_real_is_a_nan_or_infinite() -> None:
    X = sonnx.real([Fraction(1, 3), Fraction(-(10**400))])
    assert sonnx.is_nan(X).tolist() == [False, False]
    for negative, positive in SIGNS:
        found = sonnx.is_inf(X, detect_negative=negative, detect_positive=positive)
        assert found.tolist() == [False, False]


def test_strings_are_equal_where_all_their_characters_are() -> None:
    texts = ["", "a", "A", "a ", "ab", "\u00e9", "e\u0301", "a\0", "\0"]
    A, B = pairs(np.array(texts, object))
    found = sonnx.equal(A, B)
    assert found.tolist() == [list(map(ord, a)) == list(map(ord, b)) for a, b in zip(A, B, strict=True)]
    assert found.dtype == np.bool_


def test_the_order_of_the_bits_is_that_of_the_numbers() -> None:
    x = np.array([-np.inf, -1.5, -1, -(2.0**-149), -0.0, 2.0**-149, 1, 1.5, np.inf], np.float32)
    place, nan = order(x)
    assert all(a < b for a, b in pairwise(place))
    assert not nan.any()
    assert order(np.array([np.nan, -np.nan], np.float32))[1].all()
