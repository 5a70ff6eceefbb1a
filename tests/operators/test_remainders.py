"""Mod of floats against integers and fractions alone: reference, native code, plain C, and XLA."""

from collections.abc import Iterator
from fractions import Fraction
from math import copysign, isfinite, isnan, nan, trunc
from typing import Any

import numpy as np
import pytest
from tests.budgets import thinned
from tests.derive.plain_walk import COMPILERS, needs_compiler, run_each
from tests.native.support import Array, model, node, value

import sonnx
from sonnx.derive.evaluate import evaluate
from sonnx.operators import operator
from sonnx.vocabulary.special_values import special_values

FLOATS = ("float16", "float32", "float64")
OF_ONNX = {"float16": "float16", "float32": "float", "float64": "double"}


def left(a: float, b: float) -> float:
    """What C's fmod gives, by fractions."""
    if isnan(a) or isnan(b) or not isfinite(a) or b == 0:
        return nan
    if not isfinite(b):
        return a
    x, y = Fraction(a), Fraction(b)
    exact = x - y * trunc(x / y)
    assert Fraction(float(exact)) == exact  # nothing is rounded
    return copysign(float(exact), a)


def special(dtype: str) -> Array:
    """Every special value beside every other, neighbours of powers of two among them."""
    info = np.finfo(dtype)
    known = [*special_values(sonnx.DType(OF_ONNX[dtype])).values()]
    tiny, normal = info.smallest_subnormal, info.smallest_normal
    more: list[Any] = [
        tiny,
        3 * tiny,
        normal,
        normal - tiny,
        normal + tiny,
        3 * normal,
        info.max,
        info.max / 3,
    ]
    more += [1, 1 + info.eps, 2 - info.eps, 3, 5.5, 10, 0.1, 7]
    return np.array([*(each.item() for each in known), *more, *(-each for each in more)], dtype)


def pairs(dtype: str) -> tuple[Array, Array]:
    """Special values, any bits, numbers of usual sizes, and dividends that are nearly multiples."""
    random, every = np.random.default_rng(29), special(dtype)
    count, width = 1500, np.dtype(dtype).itemsize
    bits = [random.integers(0, 256, count * width, np.uint8).view(dtype) for _ in range(2)]
    usual = [(random.standard_normal(count) * size).astype(dtype) for size in (300, 1)]
    multiples = (usual[1] * random.integers(-40, 40, count)).astype(dtype)
    beside = np.nextafter(multiples, random.choice(np.array([-6e4, 6e4], dtype), count))
    a = (np.repeat(every, every.size), bits[0], usual[0], multiples, beside.astype(dtype))
    b = (np.tile(every, every.size), bits[1], usual[1], usual[1], usual[1])
    return np.concatenate(a), np.concatenate(b)


def see(found: Array, a: Array, b: Array) -> None:
    """The same bits, any NaN for a NaN."""
    asked = zip(a.tolist(), b.tolist(), strict=True)
    wanted = np.array([left(x, y) for x, y in asked]).astype(a.dtype)
    assert found.dtype == a.dtype
    same = (found == wanted) & (np.signbit(found) == np.signbit(wanted)) | np.isnan(found) & np.isnan(wanted)
    wrong = np.flatnonzero(~same)
    told = [f"{a[k]!r} by {b[k]!r} gives {found[k]!r}, not {wanted[k]!r}" for k in wrong[:5]]
    assert not told, (wrong.size, told)


def graph(dtype: str, count: int) -> sonnx.Graph:
    ends = {each: value(each, OF_ONNX[dtype], (count,)) for each in "aby"}
    return model([node("Mod", ("a", "b"), "y", fmod=1)], [ends["a"], ends["b"]], [ends["y"]])


def test_fractions_know_remainders_that_were_worked_out_by_hand() -> None:
    asked = [(5.5, 2.0), (-5.5, 2.0), (5.5, -2.0), (1e38, 3.0), (6.0, 3.0), (2.0**-149, 3.0)]
    # 1e38 is 10^38 rounded to a double: its bits say by which multiple of 3 it is less.
    rest = float(int(1e38) % 3)
    assert [left(*each) for each in asked] == [1.5, -1.5, 1.5, rest, 0.0, 2.0**-149]
    assert str([left(-6.0, 3.0), left(-0.0, 3.0), left(0.0, -3.0)]) == "[-0.0, -0.0, 0.0]"
    assert all(map(isnan, (left(1.0, 0.0), left(float("inf"), 2.0), left(nan, 1.0), left(1.0, nan))))
    assert left(-2.5, float("inf")) == -2.5


@pytest.mark.measured
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_definition_leaves_what_fractions_leave(dtype: str) -> None:
    a, b = pairs(dtype)
    with np.errstate(all="ignore"):
        (found,) = evaluate(operator("Mod"), {"A": a, "B": b}, {"fmod": 1}).values()
    see(found, a, b)


@needs_compiler
@pytest.mark.parametrize("dtype", FLOATS)
def test_native_code_leaves_what_fractions_leave(dtype: str) -> None:
    a, b = pairs(dtype)
    see(graph(dtype, a.size).compile(threads=1)({"a": a, "b": b})["y"], a, b)


@needs_compiler
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_plain_c_leaves_what_fractions_leave(dtype: str, compiler: str) -> None:
    a, b = pairs(dtype)
    definition = operator("Mod").definition
    assert definition is not None
    kinds, held = {"A": OF_ONNX[dtype], "B": OF_ONNX[dtype]}, {"A": a, "B": b}
    (found,) = run_each([definition], held, kinds, (OF_ONNX[dtype], a.shape), compiler, fmod=1)
    see(found, a, b)


@pytest.mark.parametrize("dtype", FLOATS)
def test_xla_leaves_what_fractions_leave_of_normal_numbers(dtype: str) -> None:
    a, b = pairs(dtype)
    normal = np.finfo(dtype).smallest_normal
    kept = (abs(b) >= normal) | np.isnan(b) | (b == 0)
    kept &= (abs(a) >= normal) | np.isnan(a) | (a == 0)
    a, b = a[kept], b[kept]
    see(graph(dtype, a.size).run({"a": a, "b": b}, engine="xla")["y"], a, b)


def every_float16() -> Iterator[tuple[Array, Array]]:
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    for bits in thinned(range(1, 2**15, 977)):
        yield every, np.full(every.shape, bits, np.uint16).view(np.float16)


def test_every_float16_by_a_few_is_what_integers_leave() -> None:
    """In units of 2^-24 every finite float16 is an integer."""
    for a, b in every_float16():
        with np.errstate(all="ignore"):
            (found,) = evaluate(operator("Mod"), {"A": a, "B": b}, {"fmod": 1}).values()
        finite = np.isfinite(a) & np.isfinite(b)
        x, y = (np.where(finite, each, 1).astype(float) * 2**24 for each in (a, b))
        whole = np.abs(x).astype(np.int64) % np.abs(y).astype(np.int64)
        wanted = np.copysign(whole / 2**24, x)
        right = np.where(np.isinf(b) & np.isfinite(a), a, np.where(finite, wanted, np.nan))
        assert np.array_equal(found, right, equal_nan=True)
        assert np.array_equal(np.signbit(found[finite]), np.signbit(right[finite]))


@pytest.mark.measured
def test_reals_leave_fractions_and_enclosures() -> None:
    a, b = sonnx.real(["11/2", "-11/2", "1/3", -7, 0]), sonnx.real([2, 2, "-1/7", "7/2", 5])
    found = sonnx.mod(a, b, fmod=1)
    assert found.tolist() == [Fraction(3, 2), Fraction(-3, 2), Fraction(1, 21), 0, 0]
    two = sonnx.sqrt(sonnx.real([2]))
    rest = sonnx.mod(sonnx.real([10]), two, fmod=1)[0]  # 10 is 7 times 1.41 and a rest
    assert abs(rest - (10 - 7 * two[0])) < Fraction(1, 10**30)
    small: Any = sonnx.mod(two, sonnx.real([-3]), fmod=1)[0]
    assert small is two[0]
    with pytest.raises(sonnx.DomainError, match="not decided"):  # 2·√2 by √2
        sonnx.mod(two + two, two, fmod=1)
    with pytest.raises(sonnx.DomainError, match="divisor is not 0"):
        sonnx.mod(a, sonnx.real([1, 1, 0, 1, 1]), fmod=1)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "real"])
def test_floats_and_reals_have_no_sign_of_the_divisor(dtype: str) -> None:
    one = sonnx.real([1]) if dtype == "real" else np.ones(1, dtype)
    with pytest.raises(sonnx.RuleError, match=r"mod\.fmod\.D2") as caught:
        sonnx.mod(one, one, fmod=0)
    assert "must be 1 unless the elements are integers" in str(caught.value)
    assert "write 1; 0 is for integers alone" in str(caught.value)
