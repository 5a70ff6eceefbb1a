"""The real XLA, given our text, gives the bits that the definitions give: no element is excluded.

XLA takes subnormal numbers for zero wherever it calculates. The operators here are written so that it only
moves bits and calculates with integers; so subnormal inputs and results are compared like all others.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples, thinned
from tests.stablehlo.xla_support import (
    FLOATS,
    HELD,
    INTEGERS,
    Array,
    Case,
    assert_equal_on_xla,
    case,
    dtype_of,
    on_xla,
    random_bits,
)

from sonnx.model.dtype import DType
from sonnx.operators import OPERATORS
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Operand, Operator, operand_names

CLIPPED = ("f16", "f32", "f64")
# Exponent and fraction bits.
FIELDS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}

SEEDS = st.integers(0, 2**32 - 1)
SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


def special(name: str) -> Array:
    """NaNs, quiet and not, infinities, zeros, ones, the greatest, the smallest, subnormals, of both signs."""
    exponent, fraction = FIELDS[name]
    infinity, one = (2**exponent - 1) << fraction, (2 ** (exponent - 1) - 1) << fraction
    positive = [
        infinity + 1,
        infinity + 2 ** (fraction - 1) + 5,
        infinity,
        0,
        one,
        one + 1,
        infinity - 1,
        1 << fraction,
        1,
        (1 << fraction) - 1,
    ]
    sign = 1 << (exponent + fraction)
    bits = [word | s for word in positive for s in (0, sign)]
    return np.array(bits, f"u{HELD[name].itemsize}").view(HELD[name])


def extreme(name: str) -> Array:
    info = np.iinfo(HELD[name])
    values = {info.min, info.min + 1, -1, 0, 1, 5, info.max - 1, info.max}
    return np.array([v for v in sorted(values) if v >= info.min], HELD[name])


def triples(values: Array) -> list[Array]:
    """Every choice of three values, as three arrays."""
    grids = np.meshgrid(values, values, values, indexing="ij")
    return [np.ascontiguousarray(grid).reshape(-1) for grid in grids]


@pytest.mark.parametrize("name", FLOATS)
def test_clamp_agrees_on_every_triple_of_special_values(name: str) -> None:
    x, low, high = triples(special(name))
    assert_equal_on_xla([case("xla.Clamp", {"operand": x, "min": low, "max": high})])


@pytest.mark.parametrize("name", [*INTEGERS, "pred"])
def test_clamp_agrees_on_every_triple_of_integers(name: str) -> None:
    x, low, high = triples(np.array([False, True]) if name == "pred" else extreme(name))
    assert_equal_on_xla([case("xla.Clamp", {"operand": x, "min": low, "max": high})])


def clips(values: Array, constants: Sequence[str]) -> list[Case]:
    return [
        case("Clip", {"input": values, "min": np.array(low), "max": np.array(high)}, {}, constants)
        for low, high in product(values, values)
    ]


@pytest.mark.parametrize("name", CLIPPED)
def test_clip_agrees_on_every_triple_of_special_values(name: str) -> None:
    # The bounds are inputs, so one compiled graph serves all of them.
    for one in clips(special(name), ()):
        assert_equal_on_xla([one])


@pytest.mark.parametrize("name", INTEGERS)
def test_clip_agrees_on_every_triple_of_integers(name: str) -> None:
    assert_equal_on_xla(clips(extreme(name), ()))


@pytest.mark.thinned
@pytest.mark.parametrize("name", CLIPPED)
def test_clip_agrees_where_the_bounds_are_constants(name: str) -> None:
    chosen = special(name)[thinned([0, 3, 5, 6, 7, 8, 13, 16], 5)]
    assert_equal_on_xla(clips(chosen, ("min", "max")))


@given(SHAPES, st.sampled_from((*FLOATS, *INTEGERS)), SEEDS, st.booleans(), st.booleans())
@settings(max_examples=examples(30), deadline=None)
def test_clamp_agrees_on_any_bits_and_shapes(
    shape: tuple[int, ...], name: str, seed: int, low_is_scalar: bool, high_is_scalar: bool
) -> None:
    x, low, high = (random_bits(name, shape, seed + number) for number in range(3))
    scalar = random_bits(name, (), seed + 3)
    bounds = {"min": scalar if low_is_scalar else low, "max": scalar if high_is_scalar else high}
    assert_equal_on_xla([case("xla.Clamp", {"operand": x, **bounds})])


@given(SHAPES, st.sampled_from((*CLIPPED, *INTEGERS)), SEEDS)
@settings(max_examples=examples(20), deadline=None)
def test_clip_agrees_on_any_bits_and_shapes(shape: tuple[int, ...], name: str, seed: int) -> None:
    low, high = (random_bits(name, (), seed + number) for number in (1, 2))
    x = random_bits(name, shape, seed)
    assert_equal_on_xla([case("Clip", {"input": x, "min": low, "max": high})])


@given(SHAPES, SHAPES, SEEDS)
@settings(max_examples=examples(15), deadline=None)
def test_broadcast_moves_any_bits_of_every_type(
    shape: tuple[int, ...], sizes: tuple[int, ...], seed: int
) -> None:
    assert_equal_on_xla(
        [
            case("xla.Broadcast", {"operand": random_bits(name, shape, seed)}, {"broadcast_sizes": sizes})
            for name in HELD
        ]
    )


@given(st.data(), SEEDS)
@settings(max_examples=examples(15), deadline=None)
def test_collapse_moves_any_bits_of_every_type(data: st.DataObject, seed: int) -> None:
    shape = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=5))
    first = data.draw(st.integers(0, len(shape) - 1))
    last = data.draw(st.integers(first, len(shape) - 1))
    dimensions = {"dimensions": tuple(range(first, last + 1))}
    assert_equal_on_xla(
        [case("xla.Collapse", {"operand": random_bits(name, shape, seed)}, dimensions) for name in HELD]
    )


@given(st.data(), SEEDS)
@settings(max_examples=examples(15), deadline=None)
def test_concatenate_moves_any_bits_of_every_type(data: st.DataObject, seed: int) -> None:
    shape = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    dimension = data.draw(st.integers(0, len(shape) - 1))
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    shapes = [(*shape[:dimension], size, *shape[dimension + 1 :]) for size in sizes]
    assert_equal_on_xla(
        [
            case(
                "xla.Concatenate",
                {f"operands{m}": random_bits(name, one, seed + m) for m, one in enumerate(shapes)},
                {"dimension": dimension},
            )
            for name in HELD
        ]
    )


@given(SHAPES, SEEDS)
@settings(max_examples=examples(15), deadline=None)
def test_where_moves_any_bits_of_every_type(shape: tuple[int, ...], seed: int) -> None:
    condition = random_bits("pred", shape, seed)
    assert_equal_on_xla(
        [
            case(
                "Where",
                {
                    "condition": condition,
                    "X": random_bits(name, shape, seed + 1),
                    "Y": random_bits(name, shape, seed + 2),
                },
            )
            for name in HELD
        ]
    )


@given(st.data(), SEEDS)
@settings(max_examples=examples(15), deadline=None)
def test_expand_moves_any_bits_of_every_type(data: st.DataObject, seed: int) -> None:
    wanted = data.draw(st.lists(st.integers(0, 3), max_size=4))
    # Each size is there once at least, in the input or in the written shape; 0 does not go with 1.
    pairs = [
        data.draw(st.sampled_from([(size, size), (1, size), (size, 1)] if size else [(0, 0)]))
        for size in wanted
    ]
    first = data.draw(st.integers(0, len([size for size, _ in pairs if size == 1])))
    shape = [size for size, _ in pairs]
    while first and shape[:1] == [1]:  # axes of size 1 in front may be left out
        shape, first = shape[1:], first - 1
    written = np.array([size for _, size in pairs], np.int64)
    assert_equal_on_xla(
        [
            case("Expand", {"input": random_bits(name, shape, seed), "shape": written}, {}, ("shape",))
            for name in HELD
        ]
    )


def widened(name: str) -> Array:
    """Numbers of a type that lie on, just above and just below what narrower types can hold or halve."""
    held = HELD[name]
    if name in INTEGERS:
        info = np.iinfo(held)
        width = held.itemsize * 8
        values = [
            sign * ((1 << place) + (odd << max(place - bits + 1, 0)) + (1 << max(place - bits, 0)) + more)
            for place, bits, odd, more, sign in product(
                range(width), (8, 11, 24, 53, 64), (0, 1), (-1, 0, 1), (1, -1)
            )
        ]
        return np.array([v for v in (*values, 0, info.min, info.max) if info.min <= v <= info.max], held)
    numbers = [
        sign * (1 + odd * 2.0 ** (1 - bits) + 2.0**-bits + more) * 2.0**place
        for place, bits, odd, more, sign in product(
            (
                -150,
                -149,
                -134,
                -127,
                -126,
                -26,
                -25,
                -24,
                -15,
                -14,
                -1,
                0,
                7,
                15,
                16,
                31,
                32,
                63,
                64,
                127,
                128,
            ),
            (8, 11, 24),
            (0, 1),
            (-(2.0**-40), 0, 2.0**-30),
            (1, -1),
        )
    ]
    with np.errstate(all="ignore"):
        return np.concatenate([np.array(numbers).astype(held), special(name)])


def everything(name: str) -> Array:
    """All values of a short type; hard ones and arbitrary bits of a long one."""
    held = HELD[name]
    if name == "pred":
        return np.array([False, True])
    if name[0] == "c":
        each = everything({"c64": "f32", "c128": "f64"}[name])
        return np.stack([each, np.random.default_rng(4).permutation(each)], axis=-1).view(held).reshape(-1)
    if held.itemsize <= 2:
        return np.arange(2 ** (8 * held.itemsize), dtype=f"u{held.itemsize}").view(held)
    return np.concatenate([widened(name), random_bits(name, (2000,), 7)])


def converted(source: str) -> list[Case]:
    targets = [name for name in HELD if source[0] != "c" or name[0] == "c" or name == "pred"]
    operand = everything(source)
    return [case("xla.ConvertElementType", {"operand": operand}, {"new_element_type": t}) for t in targets]


@pytest.mark.parametrize("source", HELD)
def test_conversions_to_every_type_agree(source: str) -> None:
    assert_equal_on_xla(converted(source), nan="any")


# What XLA's own conversion gets wrong, and right results by hand.
HARD: list[tuple[Array, str, Any]] = [
    (np.array([1 + 2.0**-11 + 2.0**-30]), "f16", 1 + 2.0**-10),
    (np.array([65519.9999999]), "f16", 65504.0),
    (np.array([1 + 2.0**-8 + 2.0**-40]), "bf16", 1 + 2.0**-7),
    (np.array([2.0**-126 - 2.0**-135]), "bf16", 2.0**-126),
    (np.array([2.0**-126 - 2.0**-150]), "f32", 2.0**-126),
    (np.array([1.0e-300]), "f32", 0.0),
    (np.array([2**24 + 2**16 + 1], np.int32), "bf16", 2.0**24 + 2.0**17),
    (np.array([2**24 + 2**16 + 1], np.uint32), "bf16", 2.0**24 + 2.0**17),
    (np.array([-(2**62) - 2**54 - 1], np.int64), "bf16", -(2.0**62) - 2.0**55),
    (np.array([2**63 + 2**55 + 1], np.uint64), "bf16", 2.0**63 + 2.0**56),
    (np.array([1j], np.complex64), "pred", True),
    (np.array([complex(-0.0, 0.0)]), "pred", False),
    (np.array([1e-45], np.float32), "pred", True),
    (np.array([-1e-45], np.float32), "f64", -(2.0**-149)),
]


@pytest.mark.parametrize(("given_array", "target", "right"), HARD)
def test_conversions_that_xla_gets_wrong_are_right(given_array: Array, target: str, right: Any) -> None:
    one = case("xla.ConvertElementType", {"operand": given_array}, {"new_element_type": target})
    (found,) = on_xla(*one)
    assert found.dtype == HELD[target]
    assert found[0] == right


# Operators of elements, whatever they do: nothing here names one.
ELEMENTWISE = {
    operator.name: operator
    for operator in OPERATORS
    if operator.definition is not None and operator.definition.elementwise and operator.dialect == "onnx"
}


def settings_of(operator: Operator, dtype: DType) -> Iterator[dict[str, Any]]:
    """Attributes as models may have them: all that are one of a few, and numbers that no type holds."""
    good = operator.contract.rules[0].passing.attributes
    asked = [each for each in operator.contract.attributes if not each.mode]
    values = [
        each.holds.of(dtype)
        if isinstance(each.holds, OneOf)
        else (0.3 if each.kind == "float" else good[each.name],)
        for each in asked
    ]
    for chosen in product(*values):
        yield dict(zip((each.name for each in asked), chosen, strict=True))


def numbers_in(held: np.dtype[Any], shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Numbers of all sizes whose sums and products are not subnormal: those XLA takes for zero."""
    if held.kind == "f":
        listed = [0.0, -0.0, 1.0, -1.5, np.nan, np.inf, -np.inf, 3.25, 0.1, -7.0, 1000.0]
    else:  # of unsigned integers those below zero are large ones
        listed = [0, 0, 1, -1, 3, -7, 32, 68, -93, 98, 127, -128]
    return np.asarray(random.choice(listed, shape)).astype(held)


def within(operator: Operator, name: str, array: Array) -> Array:
    """The operand with other elements where integers have no result (D-ALL-11)."""
    assert operator.definition is not None
    domain = operator.definition.domain
    if domain is None or name not in domain.operands or array.dtype.kind not in "iu":
        return array
    inside, outside = (array.dtype.type(each) for each in domain.shown)
    return np.where(array == outside, inside, array)


@pytest.mark.thinned
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_every_operator_of_elements_agrees_on_numbers(name: str) -> None:
    operator, random = ELEMENTWISE[name], np.random.default_rng(11)
    given = [
        (each, operand)
        for operand in operator.contract.inputs
        for each in operand_names((operand,), 3 if operand.variadic else 1)
    ]

    def drawn(name: str, operand: Operand, held: np.dtype[Any]) -> Array:
        kind = HELD["pred"] if operand.types == (DType.BOOL,) else held
        array = numbers_in(kind, () if operand.form == "scalar" else (4, 33), random)
        return within(operator, name, array)

    types = [
        kind for kind in (*CLIPPED, *INTEGERS, "pred") if dtype_of(kind) in operator.contract.inputs[-1].types
    ]
    assert types
    asked = [(kind, attributes) for kind in types for attributes in settings_of(operator, dtype_of(kind))]
    cases = [
        case(name, {each: drawn(each, operand, HELD[kind]) for each, operand in given}, attributes)
        for kind, attributes in thinned(asked, 6)
    ]
    assert_equal_on_xla(cases, nan="any")
