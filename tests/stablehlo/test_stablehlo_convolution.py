"""Convolutions on the real XLA: exact on integers, within the bound for any order of summation on floats.

The bound is the operator's own for sums of any order, plus what flushing subnormal products and sums may add;
the exact result comes from the domain of the reals. Inputs hold no subnormal numbers.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples, thinned
from tests.loops import for_each
from tests.stablehlo.xla_support import (
    FLOATS,
    HELD,
    INTEGERS,
    Array,
    assert_equal_on_xla,
    case,
    defined,
    dtype_of,
    exact,
    on_xla,
    random_bits,
)

from sonnx import xla
from sonnx.derive.bound import bound as derived_bound
from sonnx.model.dtype import XLA_TYPES
from sonnx.model.graph import Graph, Node, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.bits import same_bits
from sonnx.operators import operator
from sonnx.operators.shared.convolution_accuracy import flushed
from sonnx.stablehlo import engine
from sonnx.stablehlo.module import ExportError, stablehlo

pytestmark = pytest.mark.measured

SEEDS = st.integers(0, 2**32 - 1)
GENERAL = "xla.ConvWithGeneralPadding"


def general(
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
) -> dict[str, Any]:
    ones = (1,) * len(strides)
    return {
        "window_strides": tuple(strides),
        "padding": tuple(padding),
        "lhs_dilation": tuple(lhs_dilation or ones),
        "rhs_dilation": tuple(rhs_dilation or ones),
    }


@st.composite
def geometries(draw: st.DrawFn, spatial: int) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    """Shapes of both operands and attributes; nothing needs to fit, and sizes may be 0."""
    batch, features, outputs = (draw(st.integers(*ends)) for ends in ((1, 2), (1, 3), (1, 3)))
    most = {1: 9, 2: 6, 3: 4}[spatial]
    base = [draw(st.integers(0, most)) for _ in range(spatial)]
    window = [draw(st.integers(1, 3)) for _ in range(spatial)]
    numbers = [[draw(st.integers(1, 3)) for _ in range(spatial)] for _ in range(3)]
    padding = [(draw(st.integers(-3, 4)), draw(st.integers(-3, 4))) for _ in range(spatial)]
    attributes = general(numbers[0], padding, numbers[1], numbers[2])
    return (batch, features, *base), (outputs, features, *window), attributes


def scattered(name: str, shape: Sequence[int], seed: int) -> Array:
    """Numbers of very different sizes, exact zeros among them, none subnormal."""
    random = np.random.default_rng(seed)
    span = 4 if name == "f16" else 40
    numbers = random.uniform(1, 2, shape) * random.choice([-1.0, 1.0, 0.0], shape, p=[0.45, 0.45, 0.1])
    return np.asarray(numbers * 2.0 ** random.integers(-span, span, shape)).astype(HELD[name])


def assert_within_the_bound(
    name: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any], constants: Sequence[str] = ()
) -> None:
    one = case(name, inputs, attributes, constants)
    op = operator(name)
    (bound,) = derived_bound(op, inputs, {**attributes, "accumulate": "separate"}, "any").values()
    weights = inputs.get("rhs", inputs.get("W"))
    assert weights is not None
    assert np.isfinite(bound).all()
    slack = flushed(int(np.prod(weights.shape[1:])), one[0].inputs[0].type.dtype or dtype_of("f32"))
    (found,), (right,) = on_xla(*one), exact(*one)
    assert found.dtype == weights.dtype
    assert found.shape == right.shape
    for y, r, b in zip(found.reshape(-1), right.reshape(-1), bound.reshape(-1), strict=True):
        assert abs(Fraction(float(y)) - r) <= Fraction(float(b)) + Fraction(slack)


@pytest.mark.no_cover
@pytest.mark.parametrize("spatial", [1, 2, 3])
@given(st.data(), SEEDS)
@settings(max_examples=examples(25), deadline=None)
def test_convolutions_of_integers_are_exact_and_wrap(spatial: int, data: st.DataObject, seed: int) -> None:
    base, window, attributes = data.draw(geometries(spatial))
    names = data.draw(st.lists(st.sampled_from(INTEGERS), min_size=2, max_size=2, unique=True))
    assert_equal_on_xla(
        [
            case(
                GENERAL,
                {"lhs": random_bits(name, base, seed), "rhs": random_bits(name, window, seed + 1)},
                attributes,
            )
            for name in names
        ]
    )


@pytest.mark.no_cover
@pytest.mark.parametrize("spatial", [1, 2, 3])
@given(st.data(), SEEDS)
@settings(max_examples=examples(40), deadline=None)
def test_convolutions_of_floats_are_within_the_bound(spatial: int, data: st.DataObject, seed: int) -> None:
    base, window, attributes = data.draw(geometries(spatial))
    name = data.draw(st.sampled_from(FLOATS))
    constants = data.draw(st.sampled_from([(), ("rhs",), ("lhs",)]))
    inputs = {"lhs": scattered(name, base, seed), "rhs": scattered(name, window, seed + 1)}
    assert_within_the_bound(GENERAL, inputs, attributes, constants)


@pytest.mark.parametrize("name", INTEGERS)
def test_products_of_every_integer_type_wrap(name: str) -> None:
    info = np.iinfo(HELD[name])
    x = np.array([[[info.max, info.max, info.min, 3]]], HELD[name])
    w = np.array([[[info.max, 3]]], HELD[name])
    one = case(GENERAL, {"lhs": x, "rhs": w}, general((1,), ((0, 0),)))
    terms = [int(info.max), int(info.max), int(info.min), 3]
    sums = [a * int(info.max) + b * 3 for a, b in pairwise(terms)]
    modulus = 2 ** (8 * HELD[name].itemsize)
    right = np.array([s % modulus for s in sums], f"u{HELD[name].itemsize}").view(HELD[name])
    (found,) = on_xla(*one)
    assert same_bits(found, right.reshape(1, 1, 3))


@pytest.mark.no_cover
@pytest.mark.thinned
@for_each("name", thinned(["s32", "f64", "f16", "bf16"], 2))
@for_each(
    ("base", "window", "attributes"),
    [
        ((2, 3), (4, 3), general((), ())),
        ((0, 3), (4, 3), general((), ())),
        ((2, 0), (4, 0), general((), ())),
        ((2, 3), (0, 3), general((), ())),
        ((0, 3, 5), (4, 3, 2), general((1,), ((1, 1),))),
        ((2, 0, 5), (4, 0, 2), general((1,), ((1, 1),))),
        ((2, 3, 5), (0, 3, 2), general((1,), ((1, 1),))),
        ((2, 3, 0), (4, 3, 2), general((1,), ((2, 2),), (3,))),
        ((2, 3, 0), (4, 3, 2), general((1,), ((0, 0),))),
        ((2, 3, 4), (4, 3, 2), general((1,), ((-9, 0),))),
        ((2, 3, 4), (4, 3, 2), general((1,), ((-5, 7),))),
        ((2, 3, 4), (4, 3, 2), general((1,), ((7, -6),))),
        ((2, 3, 1), (4, 3, 2), general((2,), ((1, 0),), (9,))),
        # Numbers that mean nothing here, or nothing more than others do; some engines fail on them.
        ((1, 1, 3), (1, 1, 1), general((2**70,), ((0, 0),))),
        ((1, 1, 3), (1, 1, 1), general((1,), ((0, 0),), None, (2**62,))),
        ((1, 1, 1), (1, 1, 1), general((1,), ((1, 1),), (2**62,))),
        ((1, 1, 3), (1, 1, 1), general((1,), ((-(2**62), 2**62),))),
        ((1, 1, 2), (1, 1, 1), general((1,), ((1 - 2**62, 1),), (2**62,))),
        ((1, 1, 3), (1, 1, 3), general((1,), ((0, 0),), None, (2**80,))),
        ((1, 1, 3), (1, 1, 1), general((1,), ((0, 0),), None, (2**80,))),
        # Four spatial dimensions.
        ((1, 2, 2, 3, 2, 3), (2, 2, 1, 2, 2, 2), general((1, 2, 1, 1), ((1, 0),) * 4, (2, 1, 2, 1))),
    ],
)
def test_odd_and_empty_convolutions_agree(
    name: str, base: tuple[int, ...], window: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    # Small integers, so that every order of summation gives the same floats; and no product is -0, which XLA
    # may take for a sum though 0 + -0 is 0.
    random = np.random.default_rng(3)
    inputs = {
        "lhs": random.integers(-3, 4, base).astype(HELD[name]),
        "rhs": random.integers(1, 4, window).astype(HELD[name]),
    }
    assert_equal_on_xla([case(GENERAL, inputs, attributes)])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
def test_conv_with_a_word_as_padding_agrees(padding: str, strides: tuple[int, int]) -> None:
    inputs = {"lhs": scattered("f32", (2, 3, 7, 6), 1), "rhs": scattered("f32", (4, 3, 3, 2), 2)}
    assert_within_the_bound("xla.Conv", inputs, {"window_strides": strides, "padding": padding})


@pytest.mark.no_cover
@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("constants", [(), ("rhs",)])
def test_zeros_between_and_around_elements_are_multiplied(name: str, constants: tuple[str, ...]) -> None:
    # Infinite weights meet inserted zeros: 0·inf is NaN (D-XLA-5); XLA's own padding leaves them out.
    x = np.ones((1, 2, 2, 3), HELD[name])
    w = np.ones((2, 2, 2, 2), HELD[name])
    w[0, 0, 0, 1], w[1, 1, 1, 0] = np.inf, np.nan
    cases = [
        case(GENERAL, {"lhs": x, "rhs": w}, attributes, constants)
        for attributes in (
            general((1, 1), ((1, 0), (0, 1))),
            general((1, 1), ((0, 0), (0, 0)), (2, 2)),
            general((1, 1), ((-1, 2), (0, 0)), (1, 3)),
            general((1, 1), ((-2, 5), (0, 0))),
        )
    ]
    assert any(np.isnan(result[:, 0]).any() for one in cases for result in defined(*one))
    assert_equal_on_xla(cases, nan="any")


def test_finite_constant_weights_leave_the_padding_to_the_convolution() -> None:
    inputs = {"lhs": np.ones((1, 1, 3), np.float32), "rhs": np.ones((1, 1, 2), np.float32)}
    attributes = general((1,), ((1, 0),))
    inside, _ = case(GENERAL, inputs, attributes, ("rhs",))
    outside, _ = case(GENERAL, inputs, attributes)
    assert "stablehlo.pad" not in stablehlo(inside)
    assert "pad = [[1, 0]]" in stablehlo(inside)
    assert "stablehlo.pad" in stablehlo(outside)
    assert "pad = [[0, 0]]" in stablehlo(outside)
    # Other engines than the one here draw a padding into the convolution that follows it.
    assert "stablehlo.optimization_barrier" in stablehlo(outside)


@pytest.mark.parametrize("name", ["s32", "f32"])
def test_xla_survives_a_window_longer_than_its_spread_base(name: str) -> None:
    # With this base dilation in the convolution itself, a check in XLA fails and aborts the process.
    inputs = {"lhs": np.ones((2, 1, 4, 1), HELD[name]), "rhs": np.ones((3, 1, 2, 3), HELD[name])}
    attributes = general((1, 2), ((0, 0), (2, 2)), (2, 1), (1, 1))
    assert_equal_on_xla([case(GENERAL, inputs, attributes, constants) for constants in ((), ("rhs",))])


def test_infinities_and_nans_of_the_input_arrive_as_defined() -> None:
    x = np.array([[[1, np.inf, 1, 1, -np.inf, np.nan, 1, 0]]], np.float32)
    w = np.array([[[1, 0]], [[1, 1]], [[-1, 2]]], np.float32)
    for constants in ((), ("rhs",)):
        one = case(GENERAL, {"lhs": x, "rhs": w}, general((1,), ((1, 1),)), constants)
        assert_equal_on_xla([one], nan="any")


def attributes_of_conv(group: int, kernel: tuple[int, int], **changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "strides": (1, 1),
        "pads": (0, 0, 0, 0),
        "dilations": (1, 1),
        "group": group,
        "kernel_shape": kernel,
    }
    return given | changes


@pytest.mark.no_cover
@given(st.data(), SEEDS)
@settings(max_examples=examples(25), deadline=None)
def test_conv_of_onnx_is_within_the_bound(data: st.DataObject, seed: int) -> None:
    name = data.draw(st.sampled_from(["f16", "f32", "f64"]))
    channels = data.draw(st.integers(1, 4))
    group = data.draw(st.sampled_from([1, channels]))
    outputs = channels if group > 1 else data.draw(st.integers(1, 3))
    kernel = (data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3)))
    changes = {
        "strides": tuple(data.draw(st.integers(1, 3)) for _ in range(2)),
        "dilations": tuple(data.draw(st.integers(1, 2)) for _ in range(2)),
        "pads": tuple(data.draw(st.integers(0, 2)) for _ in range(4)),
    }
    inputs = {
        "X": scattered(name, (2, channels, 7, 6), seed),
        "W": scattered(name, (outputs, channels // group, *kernel), seed + 1),
    }
    if data.draw(st.booleans()):
        inputs["B"] = scattered(name, (outputs,), seed + 2)
    constants = data.draw(st.sampled_from([(), ("W",)]))
    assert_within_the_bound("Conv", inputs, attributes_of_conv(group, kernel, **changes), constants)


def test_float16_is_summed_in_float_and_rounded_once() -> None:
    # 2048 + 1 + 1: in float16 each 1 would be lost, in float their sum is 2050.
    X = np.array([2048, 1, 1], np.float16).reshape(1, 3, 1, 1)
    W = np.ones((1, 3, 1, 1), np.float16)
    # 1 + 2^-11 is halfway; with the bias 2^-12, added before the rounding, it is above.
    Z = np.array([1, 2.0**-11], np.float16).reshape(1, 2, 1, 1)
    V = np.ones((1, 2, 1, 1), np.float16)
    B = np.array([2.0**-12], np.float16)
    (first,) = on_xla(*case("Conv", {"X": X, "W": W}, attributes_of_conv(1, (1, 1))))
    (second,) = on_xla(*case("Conv", {"X": Z, "W": V, "B": B}, attributes_of_conv(1, (1, 1))))
    assert same_bits(first, np.full((1, 1, 1, 1), 2050, np.float16))
    assert same_bits(second, np.full((1, 1, 1, 1), 1 + 2.0**-10, np.float16))


def test_bfloat16_is_summed_in_float_and_rounded_once() -> None:
    x = np.array([256, 1, 1], HELD["bf16"]).reshape(1, 3)
    w = np.ones((1, 3), HELD["bf16"])
    (found,) = on_xla(*case(GENERAL, {"lhs": x, "rhs": w}, general((), ())))
    assert same_bits(found, np.full((1, 1), 258, HELD["bf16"]))


@pytest.mark.parametrize("name", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
def test_integers_wrap_where_both_operands_are_constants(name: str) -> None:
    dtype = numpy_dtype(XLA_TYPES[name])
    top = np.iinfo(dtype).max
    b = xla.ComputationBuilder("constants")
    b.conv(b.constant(np.array([[top, 42]], dtype)), b.constant(np.array([[top, 5]], dtype)), (), "VALID")
    c = b.build()
    expected = (int(top) ** 2 + 210) % 2 ** (8 * dtype.itemsize)
    assert int(c.run(engine="xla").item()) % 2 ** (8 * dtype.itemsize) == expected
    assert same_bits(c.run(engine="xla"), c.run())


def test_an_infinity_in_one_group_of_doubles_stays_there() -> None:
    attributes = {
        "strides": (1, 1),
        "pads": (1, 0, 0, 0),
        "dilations": (1, 1),
        "group": 2,
        "kernel_shape": (1, 1),
        "auto_pad": "NOTSET",
    }
    kinds = {"X": "double[1,2,1,1]", "W": "double[2,1,1,1]", "Y": "double[1,2,2,1]"}
    x, w, y = (Value(key, tensor_type(text)) for key, text in kinds.items())
    node = Node("Conv", ("X", "W"), ("Y",), attributes, version=11)
    graph = Graph("groups", (x, w), (y,), (node,), opsets=(("", 17),))
    given = {"X": np.array([[[[np.inf]], [[3.0]]]]), "W": np.array([[[[1.0]]], [[[2.0]]]])}
    (found,) = engine.execute(graph, given).values()
    assert found.ravel().tolist() == [0.0, np.inf, 0.0, 6.0]


def test_many_groups_of_doubles_are_refused() -> None:
    groups = 5000
    attributes = {
        "strides": (1, 1),
        "pads": (0, 0, 0, 0),
        "dilations": (1, 1),
        "group": groups,
        "kernel_shape": (1, 1),
        "auto_pad": "NOTSET",
    }
    kinds = {"X": f"double[1,{groups},1,1]", "W": f"double[{groups},1,1,1]", "Y": f"double[1,{groups},1,1]"}
    x, w, y = (Value(key, tensor_type(text)) for key, text in kinds.items())
    graph = Graph("groups", (x, w), (y,), (Node("Conv", ("X", "W"), ("Y",), attributes, version=11),))
    with pytest.raises(ExportError, match="at most 4096 groups are written, not 5000"):
        stablehlo(graph)


def test_products_are_asked_for_in_full_precision_and_integers_need_no_padding_before() -> None:
    b = xla.ComputationBuilder("text")
    x, w = b.parameter(0, "s32[1,1,3]", "x"), b.parameter(1, "s32[1,1,2]", "w")
    b.conv_with_general_padding(x, w, (1,), ((1, 0),), (1,), (1,))
    text = b.build().to_stablehlo()
    assert "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]" in text
    assert "stablehlo.pad" not in text
    assert "pad = [[1, 0]]" in text
