"""Drawn trials: legal, small, of every kind, and the simplest where all choices are."""

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.loops import for_each
from tests.operators.support import bits
from tests.operators.test_trials import (
    CASES,
    MOVERS,
    NAMES,
    elements,
    fingerprint,
    may_be_empty,
    module,
    on_trial,
    others,
    outputs,
    ranks_of,
    results,
)

from sonnx.model.dtype import IEEE, SIGNED, UNSIGNED, XLA_NAMES, DType
from sonnx.numeric.arrays import held_type
from sonnx.vocabulary.draws import (
    MOST_ELEMENTS,
    choice,
    drawn_array,
    drawn_from,
    drawn_shape,
    simple_values,
    whole_values,
)
from sonnx.vocabulary.special_values import special_vector
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured

FLOATS = (*IEEE, DType.BFLOAT16)
# Types that are drawn often; of the others a few trials are enough to see that they are legal.
OFTEN = (DType.FLOAT, DType.INT8)


class Simplest:
    """Always chooses the simplest."""

    def integer(self, low: int, high: int) -> int:
        assert low <= high < low + 256
        return low

    def codes(self, count: int) -> bytes:
        assert count <= MOST_ELEMENTS
        return bytes(count)


class Seeded(Simplest):
    """Chooses at random."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        super().integer(low, high)
        return self.random.randint(low, high)

    def codes(self, count: int) -> bytes:
        super().codes(count)
        return self.random.randbytes(count)


class Written(Simplest):
    """Chooses what is written down: integers in their order, and codes."""

    def __init__(self, integers: Iterator[int], codes: bytes = b"") -> None:
        self._integers, self._codes = integers, codes

    def integer(self, low: int, high: int) -> int:
        super().integer(low, high)
        return next(self._integers, low)

    def codes(self, count: int) -> bytes:
        return self._codes[:count].ljust(count, b"\0")


@cache
def drawn(name: str, dtype: DType, seed: int) -> Trial:
    found: Trial = module(name).drawn(Seeded(seed), dtype)
    return found


def several(name: str, dtype: DType, count: int) -> list[Trial]:
    return [drawn(name, dtype, seed) for seed in range(count)]


each_name = pytest.mark.parametrize("name", NAMES)
each_case = for_each(("name", "dtype"), CASES, ids=[f"{n}-{d}" for n, d in CASES])


# --- every operator ----------------------------------------------------------------------------------------


@pytest.mark.no_cover
@each_case
def test_every_drawn_trial_obeys_every_rule_and_has_a_result_that_its_clauses_cover(
    name: str, dtype: DType
) -> None:
    for trial in several(name, dtype, 25 if dtype in OFTEN else 3):
        for output, array in outputs(name, trial).items():
            left = np.ones(array.shape, bool)
            for clause in module(name).clauses(trial.inputs, trial.attributes, output):
                left &= ~clause.mask
            assert not left.any(), output


@each_case
def test_drawn_trials_hold_small_plain_arrays_of_the_type_on_trial(name: str, dtype: DType) -> None:
    for trial in several(name, dtype, 5):
        assert trial.name == "drawn"
        assert trial.shows
        for operand, array in trial.inputs.items():
            assert type(array) is np.ndarray
            assert array.flags.c_contiguous
            assert array.size <= MOST_ELEMENTS
            assert operand in others(name) or held_type(array) is dtype
        assert trial.constants < set(trial.inputs)


@each_case
def test_the_simplest_choices_give_one_zero_and_no_constants(name: str, dtype: DType) -> None:
    trial = module(name).drawn(Simplest(), dtype)
    for operand, array in trial.inputs.items():
        if operand in others(name) and operand in trial.constants:
            assert set(array.tolist()) <= {0, 1}
            assert name != "expand" or array.shape == (0,)
        else:
            assert array.size == 1
            assert elements(array) == elements(simple_values(held_type(array))[:1])
    assert trial.constants == on_trial(name).contract.settled
    numbers = [value for value in trial.attributes.values() if isinstance(value, tuple)]
    assert all(set(value) <= {0, 1} for value in numbers)


@each_name
def test_equal_choices_give_equal_trials(name: str) -> None:
    first = [fingerprint(trial) for trial in several(name, DType.FLOAT, 5)]
    assert [fingerprint(drawn.__wrapped__(name, DType.FLOAT, seed)) for seed in range(5)] == first
    assert len({repr(each) for each in first}) == 5


@each_name
def test_every_special_value_is_drawn(name: str) -> None:
    found: set[Any] = set()
    for trial in several(name, DType.FLOAT, 150):
        for operand, array in trial.inputs.items():
            found |= elements(array) if operand not in others(name) else set()
    signalling = name in (*MOVERS, "clip", "xla.clamp", "xla.convert_element_type")
    assert elements(special_vector(DType.FLOAT, signalling=signalling)) <= found
    # Any bits at all.
    assert len(found) > 100


@each_name
def test_sizes_of_0_and_every_number_of_axes_are_drawn(name: str) -> None:
    drawn = several(name, DType.FLOAT, 200)
    first = [next(iter(trial.inputs.values())) for trial in drawn]
    assert any(array.size == 0 for array in first) == may_be_empty(name)
    if "conv" not in name or "convert" in name:
        assert any(50 < array.size <= MOST_ELEMENTS for array in first)
    ranks = {
        "conv": {4},
        **{each: {2, 3, 4} for each in ("xla.conv", "xla.conv_with_general_padding")},
        **{each: {1, 2, 3} for each in ("xla.collapse", "xla.concatenate")},
    }
    assert {array.ndim for array in first} == ranks.get(name, ranks_of(name))


@each_name
def test_trials_without_elements_obey_every_rule(name: str) -> None:
    empty = [
        each for each in several(name, DType.FLOAT, 200) if any(0 in a.shape for a in each.inputs.values())
    ]
    assert empty
    for trial in empty:
        results(name, trial)


# --- what one operator has ---------------------------------------------------------------------------------


def seen(name: str, look: Callable[[Trial], Any], dtype: DType = DType.FLOAT) -> set[Any]:
    return {look(trial) for trial in several(name, dtype, 200)}


@pytest.mark.parametrize(
    ("name", "held"),
    [
        *((name, [(), ("min",), ("max",), ("max", "min")]) for name in ("clip", "xla.clamp")),
        ("conv", [(), ("W",), ("B",), ("B", "W")]),
        *((name, [(), ("lhs",), ("rhs",)]) for name in ("xla.conv", "xla.conv_with_general_padding")),
        ("where", [(), ("X",), ("Y",), ("condition",), ("X", "Y"), ("X", "condition"), ("Y", "condition")]),
        (
            "xla.concatenate",
            [(), ("operands0",), ("operands1",), ("operands1", "operands2", "operands3")],
        ),
    ],
)
def test_operands_are_drawn_as_inputs_and_as_constants(name: str, held: list[tuple[str, ...]]) -> None:
    assert set(held) <= seen(name, lambda trial: tuple(sorted(trial.constants)))


def test_every_number_of_a_convolution_is_drawn() -> None:
    drawn = several("conv", DType.FLOAT, 200)
    for name, wanted in {"strides": {1, 2, 3}, "dilations": {1, 2}, "pads": {0, 1, 2}}.items():
        assert {value for trial in drawn for value in trial.attributes[name]} == wanted
    assert {(False, 1), (True, 1), (False, 3), (True, 3)} <= seen(
        "conv", lambda trial: ("B" in trial.inputs, trial.attributes["group"])
    )
    depthwise = [trial for trial in drawn if trial.attributes["group"] > 1]
    assert all(trial.inputs["W"].shape[1] == 1 for trial in depthwise)


def test_every_number_of_xla_convolutions_is_drawn() -> None:
    assert seen("xla.conv", lambda trial: trial.attributes["padding"]) == {"SAME", "VALID"}
    general = several("xla.conv_with_general_padding", DType.FLOAT, 200)
    ends = {end for trial in general for pair in trial.attributes["padding"] for end in pair}
    assert ends == {-2, -1, 0, 1, 2}
    assert {each for trial in general for each in trial.attributes["lhs_dilation"]} == {1, 2, 3}
    assert {each for trial in general for each in trial.attributes["rhs_dilation"]} == {1, 2}


def test_convolutions_are_drawn_of_whole_numbers_of_fractions_of_unlike_sizes_and_of_any_bits() -> None:
    kinds = set()
    for trial in several("conv", DType.FLOAT, 60):
        X = trial.inputs["X"].astype(np.float64)
        with np.errstate(all="ignore"):
            whole, finite = bool((X % 1 == 0).all()), bool(np.isfinite(X).all())
            wide = bool((np.abs(X[X != 0]) > 2.0**20).any())
        kinds.add((whole, finite, wide))
    assert {(True, True, False), (False, True, False), (False, True, True), (False, False, True)} <= kinds


def test_conversions_are_drawn_to_every_type_and_beside_its_edges() -> None:
    targets = seen("xla.convert_element_type", lambda trial: trial.attributes["new_element_type"])
    assert targets == set(XLA_NAMES.values())
    number = list(XLA_NAMES).index(DType.INT8)
    found: set[float] = set()
    for first in (0, 36, 72):
        # A vector of 36 elements beside the edges.
        draw = Written(iter([number, 1, 36, 0, 0, 1]), bytes(range(first, first + 36)))
        trial = module("xla.convert_element_type").drawn(draw, DType.FLOAT)
        assert trial.attributes["new_element_type"] == "s8"
        found |= {float(value) for value in trial.inputs["operand"]}
    # The last numbers that are kept and the first that are not, and their middle.
    assert {0.0, 127.0, 127.5, 128.0, -128.0, -127.5} <= found


def test_conditions_are_drawn_of_bytes_other_than_0_and_1() -> None:
    found = [set(t.inputs["condition"].view(np.uint8).reshape(-1)) for t in several("where", DType.INT8, 60)]
    assert any(each <= {0, 1} and len(each) == 2 for each in found)
    assert {0, 1, 2, 127, 128, 254, 255} <= set().union(*found)


def test_bounds_of_clamp_are_drawn_as_scalars_and_as_arrays() -> None:
    kinds = seen("xla.clamp", lambda t: tuple(t.inputs[name].ndim > 0 for name in ("operand", "min", "max")))
    assert {(True, low, high) for low in (False, True) for high in (False, True)} <= kinds


def test_expand_is_drawn_with_sizes_missing_repeated_and_0() -> None:
    pairs = seen("expand", lambda t: (t.inputs["input"].shape, tuple(t.inputs["shape"].tolist())))
    assert any(given != asked and 1 in given for given, asked in pairs)
    assert any(len(given) < len(asked) for given, asked in pairs)
    assert any(len(given) > len(asked) > 0 for given, asked in pairs)
    assert any(0 in given and 0 in asked for given, asked in pairs)


def test_one_to_four_operands_are_concatenated() -> None:
    assert seen("xla.concatenate", lambda trial: len(trial.inputs)) == {1, 2, 3, 4}
    dimensions = seen("xla.concatenate", lambda t: (t.inputs["operands0"].ndim, t.attributes["dimension"]))
    assert dimensions == {(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)}


# --- pieces ------------------------------------------------------------------------------------------------


def test_the_first_option_is_the_simplest_and_each_can_be_chosen() -> None:
    assert choice(Simplest(), "abc") == "a"
    assert [choice(Written(iter([number])), "abc") for number in range(3)] == ["a", "b", "c"]


def test_a_shape_has_the_drawn_sizes() -> None:
    assert drawn_shape(Written(iter([3, 2, 1, 3, 0]))) == (2, 1, 3)
    assert drawn_shape(Written(iter([2, 5, 6, 15, 1]))) == (5, 0)
    # Neither is a size 0, nor rarely: then the last is larger by 7.
    assert drawn_shape(Written(iter([3, 2, 1, 3, 0, 15, 7]))) == (2, 1, 10)
    assert drawn_shape(Simplest()) == ()
    assert drawn_shape(Simplest(), least=1) == (1,)


def test_codes_count_through_the_values_of_a_vector() -> None:
    values = np.array([5, 6, 7], np.int16)
    drawn = drawn_from(Written(iter(()), bytes([0, 2, 1, 3, 255])), values, (5, 1))
    assert drawn.tolist() == [[5], [7], [6], [5], [5]]


def test_codes_of_an_array_are_simple_values_or_any_bits() -> None:
    table = simple_values(DType.FLOAT)
    drawn = drawn_array(Written(iter([7, 8]), bytes([0, 1, 2, 207, 208, 255])), DType.FLOAT, (6,))
    assert bits(drawn[:4]) == bits(table[[0, 1, 2, 207 % len(table)]])
    others = drawn_array(Written(iter([7, 9]), bytes([0, 1, 2, 207, 208, 255])), DType.FLOAT, (6,))
    assert bits(others[:4]) == bits(drawn[:4])
    assert bits(others[4:]) != bits(drawn[4:])


def test_simple_values_begin_with_0_and_1_and_hold_every_special_value_once() -> None:
    for dtype in DType:
        if dtype is DType.REAL:
            continue
        for signalling in (False, True):
            table = simple_values(dtype, signalling=signalling)
            assert elements(special_vector(dtype, signalling=signalling)) <= elements(table)
            assert len(elements(table)) == len(table)
        if dtype in (*FLOATS, *SIGNED, *UNSIGNED):
            assert [float(value) for value in table[:2]] == [0, 1]
    assert simple_values(DType.STRING)[:2].tolist() == ["", "a"]
    assert simple_values(DType.BOOL).tolist() == [False, True]
    assert simple_values(DType.COMPLEX64)[:3].tolist() == [0j, 1 + 0j, 2 + 0j]


def test_whole_numbers_are_those_that_the_type_has() -> None:
    for dtype in (*FLOATS, *SIGNED):
        assert [float(value) for value in whole_values(dtype)] == [0, 1, 2, 3, -1, -2]
        assert held_type(whole_values(dtype)) is dtype
    for dtype in UNSIGNED:
        assert [int(value) for value in whole_values(dtype)] == [0, 1, 2, 3]
