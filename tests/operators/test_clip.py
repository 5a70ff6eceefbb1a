"""Clip: laws, special values, and a second definition one element at a time."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.operators.support import (
    CLIPPED,
    FLOATS,
    INTEGERS,
    LAYOUTS,
    Array,
    array_of,
    arrays,
    bits,
    elements_of,
    special_values,
)

import sonnx
from sonnx.numeric.arrays import describe
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.vocabulary.call import Call

LAWS = settings(deadline=None, max_examples=examples(20))
SHAPES = st.sampled_from([(), (0,), (1,), (7,), (2, 3), (2, 0, 3), (1, 2, 1, 3)])


def clip_one(x: Any, low: Any, high: Any) -> Any:
    """D-CLIP-1 for one element, case by case, with Python's own comparisons."""
    if x != x:  # noqa: PLR0124  only a NaN differs from itself
        return x
    lowest, highest = low == low, high == high  # noqa: PLR0124  a NaN bound does not bound
    if lowest and highest and low > high:
        return high
    if lowest and x < low:
        return low
    if highest and x > high:
        return high
    return x


def agrees_with_the_cases(name: str, result: Array, given_one: Array, low: Any, high: Any) -> bool:
    """Tell whether a result is, bit for bit, what the definition by cases gives."""
    expected = [clip_one(x, low, high) for x in np.asarray(given_one).reshape(-1)]
    return bits(result) == bits(array_of(name, np.shape(given_one), expected))


def scalar(name: str, value: Any) -> Array:
    return array_of(name, (), [value])


@pytest.mark.parametrize("name", CLIPPED)
@LAWS
@given(data=st.data())
def test_clip_is_its_definition_by_cases_for_every_type_and_any_bits(name: str, data: st.DataObject) -> None:
    array = data.draw(arrays(name, data.draw(SHAPES)))
    low, high = (scalar(name, data.draw(elements_of(name))) for _ in range(2))
    before = bits(array)
    result = sonnx.clip(array, low, high)
    assert agrees_with_the_cases(name, result, array, low[()], high[()])
    assert bits(array) == before
    assert isinstance(result, sonnx.RealArray) == (name == "real")


@pytest.mark.parametrize("name", CLIPPED)
def test_clip_of_all_special_values_between_all_special_bounds(name: str) -> None:
    values = special_values(name)
    array = array_of(name, (len(values),), values)
    for low in values:
        for high in values:
            result = sonnx.clip(array, scalar(name, low), scalar(name, high))
            assert agrees_with_the_cases(name, result, array, low, high)


@pytest.mark.parametrize("name", CLIPPED)
@LAWS
@given(data=st.data())
def test_clip_is_idempotent(name: str, data: st.DataObject) -> None:
    array = data.draw(arrays(name, (5,)))
    low, high = (scalar(name, data.draw(elements_of(name))) for _ in range(2))
    once = sonnx.clip(array, low, high)
    # Also where min > max: every number becomes max then, and max becomes max.
    assert bits(sonnx.clip(once, low, high)) == bits(once)


@pytest.mark.parametrize("name", CLIPPED)
@LAWS
@given(data=st.data())
def test_clip_is_monotone_in_its_input(name: str, data: st.DataObject) -> None:
    one, other = data.draw(arrays(name, (8,))), data.draw(arrays(name, (8,)))
    low, high = (scalar(name, data.draw(elements_of(name))) for _ in range(2))
    below = np.asarray(one <= other, bool)  # false for a NaN
    clipped = np.asarray(sonnx.clip(one, low, high) <= sonnx.clip(other, low, high), bool)
    assert clipped[below].all()


@pytest.mark.parametrize("name", CLIPPED)
@LAWS
@given(data=st.data())
def test_clip_gives_the_input_or_a_bound_and_lies_between_them(name: str, data: st.DataObject) -> None:
    array = data.draw(arrays(name, (6,)))
    low, high = (scalar(name, data.draw(elements_of(name))) for _ in range(2))
    result = sonnx.clip(array, low, high)
    for x, y in zip(array, result, strict=True):
        assert bits(scalar(name, y)) in [bits(scalar(name, e)) for e in (x, low[()], high[()])]
        if low <= high and x == x:  # noqa: PLR0124  only a NaN differs from itself
            assert low <= y <= high


def test_clip_keeps_the_bits_of_an_input_inside_the_bounds() -> None:
    """D-CLIP-2: -0 stays -0 beside a bound +0, and D-ALL-4: a NaN keeps payload and sign."""
    raw = np.array([0x80000000, 0x00000000, 0x7FC12345, 0xFFC00001, 0x7F800001, 0x00000001], np.uint32)
    zero, one = np.float32(0), np.float32(1)
    assert sonnx.clip(raw.view(np.float32), zero, one).view(np.uint32).tolist() == raw.tolist()
    assert sonnx.clip(raw.view(np.float32), one, zero).view(np.uint32).tolist() == [
        0,
        0,
        *raw.tolist()[2:5],
        0,
    ]


@pytest.mark.parametrize("name", INTEGERS)
def test_clip_reaches_the_ends_of_every_integer_type(name: str) -> None:
    info = np.iinfo(INTEGERS[name])
    ends = np.array([info.min, 0, info.max], INTEGERS[name])
    low, high = INTEGERS[name].type(info.min), INTEGERS[name].type(info.max)
    assert sonnx.clip(ends, low, high).tolist() == [info.min, 0, info.max]
    assert sonnx.clip(ends, high, high).tolist() == [info.max] * 3
    assert sonnx.clip(ends, low, low).tolist() == [info.min] * 3
    assert sonnx.clip(ends, high, low).tolist() == [info.min] * 3


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("name", FLOATS)
def test_clip_looks_at_elements_however_they_lie_in_memory(name: str, layout: Any) -> None:
    array = layout(np.arange(-6, 6).reshape(3, 4).astype(FLOATS[name]))
    result = sonnx.clip(array, FLOATS[name].type(-2), FLOATS[name].type(3))
    assert result.tolist() == [[-2, -2, -2, -2], [-2, -1, 0, 1], [2, 3, 3, 3]]
    assert result.dtype == FLOATS[name]


def test_clip_of_more_elements_than_one_block_treats_every_element() -> None:
    many = np.arange(-40_000, 60_000, dtype=np.int32)
    result = sonnx.clip(many, np.int32(-10), np.int32(10))
    assert (result == np.where(many < -10, -10, np.where(many > 10, 10, many))).all()


def test_clip_does_not_care_for_the_error_state_of_numpy() -> None:
    array = np.array([0x7F800001, 0x7FC00000, 0x3F800000], np.uint32).view(np.float32)
    with np.errstate(all="raise"):
        result = sonnx.clip(array, np.float32("nan"), np.float32("inf"))
    assert bits(result) == bits(array)


@pytest.mark.parametrize("name", CLIPPED)
@LAWS
@given(data=st.data())
def test_the_shape_rule_of_clip_tells_type_and_shape_without_data(name: str, data: st.DataObject) -> None:
    array = data.draw(arrays(name, data.draw(SHAPES)))
    bound = scalar(name, special_values(name)[0])
    kinds = {
        operand: describe(value)[0]
        for operand, value in zip(("input", "min", "max"), (array, bound, bound), strict=True)
    }
    foretold = CLIP.contract.output_types(Call("Clip", kinds))["output"]
    assert foretold == describe(sonnx.clip(array, bound, bound))[0]


MUTANTS: dict[str, Any] = {
    "NumPy's clip loses the payload rule for NaN bounds": np.clip,  # noqa: TID251  the wrong definition is the point
    "min wins over max": lambda x, low, high: np.where(x < low, low, np.where(x > high, high, x)),
    "≤ replaces -0 by +0": lambda x, low, high: np.where(x <= low, low, np.where(x > high, high, x)),
    "a NaN input becomes min": lambda x, low, high: np.where(x >= low, np.where(x > high, high, x), low),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_comparison_with_the_cases_catches_wrong_definitions(mutant: str) -> None:
    values = special_values("float")
    array = array_of("float", (len(values),), values)
    verdicts = {
        agrees_with_the_cases(
            "float", np.asarray(MUTANTS[mutant](array, low, high), np.float32), array, low, high
        )
        for low in values
        for high in values
    }
    assert False in verdicts


def hostile(x: Array, low: Array, high: Array, out: Array | None) -> Array:
    """Clipping as NumPy might do it elsewhere: bounds win ties, and a NaN becomes `low`."""
    raised = np.where(x > low, x, low)
    found = np.where(raised < high, raised, high)
    if out is None:
        return found
    out[...] = found
    return out


@pytest.mark.parametrize("name", FLOATS)
def test_clip_does_not_depend_on_what_numpy_does_with_nan_and_zeros(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-CLIP-1 and D-CLIP-2 hold on every machine, whatever its vector instructions prefer."""
    module = import_module("sonnx.numeric.limiting")
    elsewhere = SimpleNamespace(clip=hostile, asarray=np.asarray, inf=np.inf)
    monkeypatch.setattr(module, "np", elsewhere)
    test_clip_of_all_special_values_between_all_special_bounds(name)
