"""Clauses: a wrong element that is planted in a right result is explained by the clause that decides it."""

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.loops import for_each
from tests.operators.test_trials import SUMS, module, on_trial

from sonnx.evaluate.apply import apply
from sonnx.numeric.arrays import Array

pytestmark = pytest.mark.measured

NAN, INF = np.nan, np.inf
TINY = 2.0**-149


def f32(*values: float) -> Array:
    return np.array(values, np.float32)


def blamed(
    name: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any], place: tuple[int, ...], wrong: Any
) -> tuple[str, str]:
    """The clause of the one element in which a right result, the first, and a spoilt one differ."""
    modes = {"accumulate": "separate"} if name in SUMS else {}
    output, right = next(iter(apply(on_trial(name), inputs, {**attributes, **modes}).items()))
    spoilt = right.copy()
    spoilt[place] = wrong
    raw = (np.ascontiguousarray(array).view(f"V{array.dtype.itemsize}") for array in (right, spoilt))
    one_place, other_place = raw
    (found,) = np.argwhere(one_place != other_place)
    assert tuple(found) == place
    clauses = module(name).clauses(inputs, attributes, output)
    first = next(clause for clause in clauses if clause.mask[place])
    return first.identifier, first.text


def clip(x: Array, low: Any, high: Any) -> Mapping[str, Array]:
    return {"input": x, "min": np.asarray(low, x.dtype), "max": np.asarray(high, x.dtype)}


# Input, bounds, the place that is spoilt and how; the ruling, and words of its clause.
CLIPPED = [
    (f32(1, NAN), (2, 3), 1, 2.0, "D-CLIP-1", "A NaN input stays"),
    (f32(1, NAN), (2, 1), 1, 1.0, "D-CLIP-1", "A NaN input stays"),
    (f32(1, 5), (NAN, 3), 1, NAN, "D-CLIP-1", "A NaN min does not bound"),
    (f32(1, 5), (0, NAN), 1, NAN, "D-CLIP-1", "A NaN max does not bound"),
    (f32(1, 5), (2, 1), 0, 2.0, "D-CLIP-1", "min is above max"),
    (f32(-0.0, 5), (0.0, 1), 0, 0.0, "D-CLIP-2", "Zeros of either sign"),
    (f32(-0.0, 5), (-1, 1), 0, 0.0, "D-CLIP-5", "with its sign"),
    (f32(TINY, 5), (-1, 1), 0, 0.0, "D-ALL-4", "Subnormal"),
    (f32(-3, 5), (TINY, 1), 0, 0.0, "D-ALL-4", "Subnormal"),
    (f32(-3, 5), (-1, 1), 0, -3.0, "D-CLIP-5", "below min"),
    (f32(-3, 5), (-1, 1), 1, 5.0, "D-CLIP-5", "above max"),
    (f32(-3, 0.5), (-1, 1), 1, 0.25, "D-CLIP-5", "inside the bounds"),
    (np.array([200, 7], np.uint8), (10, 100), 0, 10, "D-CLIP-5", "above max"),
    (np.array([200, 7], np.uint8), (100, 10), 1, 7, "D-CLIP-1", "min is above max"),
]


@pytest.mark.parametrize(("x", "bounds", "place", "wrong", "ruling", "words"), CLIPPED)
def test_clip(x: Array, bounds: tuple[Any, Any], place: int, wrong: Any, ruling: str, words: str) -> None:
    identifier, text = blamed("clip", clip(x, *bounds), {}, (place,), wrong)
    assert identifier == ruling
    assert words in text


CLAMPED = [
    (f32(1, NAN), 0, 3, 1, 0.0, "A NaN element"),
    (f32(1, 5), NAN, 3, 1, 3.0, "A NaN min"),
    (f32(1, 5), 0, NAN, 0, 1.0, "A NaN max"),
    (f32(1, 5), f32(2, NAN), 1, 0, 2.0, "min is above max"),
    (f32(-0.0, 5), 0.0, 1, 0, -0.0, "Zeros are ordered"),
    (f32(7, 5), 0.0, -0.0, 0, 0.0, "Zeros are ordered"),
    (f32(TINY, 5), 0, 1, 0, 0.0, "Subnormal"),
    (f32(-2, 5), 0, f32(3, 4), 0, -2.0, "below min"),
    (f32(-2, 5), 0, f32(3, 4), 1, 3.0, "above max"),
    (f32(2, 5), 0, f32(3, 4), 0, 3.0, "between the bounds"),
    (np.array([True, False]), True, True, 1, False, "below min"),
    (np.array([0, 5], np.int8), 0, 3, 0, 3, "between the bounds"),
]


@pytest.mark.parametrize(("x", "low", "high", "place", "wrong", "words"), CLAMPED)
def test_clamp(x: Array, low: Any, high: Any, place: int, wrong: Any, words: str) -> None:
    inputs = {"operand": x, "min": np.asarray(low, x.dtype), "max": np.asarray(high, x.dtype)}
    identifier, text = blamed("xla.clamp", inputs, {}, (place,), wrong)
    assert identifier == ("D-ALL-4" if words == "Subnormal" else "D-XLA-1")
    assert words in text


def test_where() -> None:
    condition = np.array([True, True, True, True, True, False, True])
    condition.view(np.uint8)[6] = 2
    X = f32(-0.0, NAN, TINY, 1, 2, 3, 4)
    Y = f32(5, 6, 7, NAN, 8, 9, 10)
    inputs = {"condition": condition, "X": X, "Y": Y}
    wrong = [0.0, 6.0, 0.0, NAN, 8.0, 3.0, 10.0]
    found = [blamed("where", inputs, {}, (place,), value) for place, value in enumerate(wrong)]
    assert [identifier for identifier, _ in found] == ["D-WHERE-2"] * 2 + ["D-ALL-4"] + [
        *["D-WHERE-2"] * 3,
        "D-WHERE-1",
    ]
    words = ["its sign", "every bit", "subnormal", "not chosen", "X is copied", "Y is copied", "Every byte"]
    for (_, text), each in zip(found, words, strict=True):
        assert each in text


def test_moved_elements() -> None:
    x = f32(-0.0, 1)
    shape = {"input": x.reshape(2, 1), "shape": np.array([2, 2], np.int64)}
    assert "its sign" in blamed("expand", shape, {}, (0, 1), 0.0)[1]
    assert "size 1" in blamed("expand", shape, {}, (1, 1), 5.0)[1]
    assert "keep their place" in blamed("expand", shape, {}, (1, 0), 5.0)[1]
    sizes = {"broadcast_sizes": (2,)}
    assert "again" in blamed("xla.broadcast", {"operand": x}, sizes, (1, 1), 5.0)[1]
    assert "come before" in blamed("xla.broadcast", {"operand": x}, sizes, (0, 1), 5.0)[1]
    run = {"dimensions": (0, 1)}
    assert "in their order" in blamed("xla.collapse", {"operand": x.reshape(1, 2)}, run, (1,), 5.0)[1]
    both = {"operands0": x, "operands1": x}
    assert "comes first" in blamed("xla.concatenate", both, {"dimension": 0}, (1,), 5.0)[1]
    assert "where those before" in blamed("xla.concatenate", both, {"dimension": 0}, (3,), 5.0)[1]
    assert blamed("xla.concatenate", both, {"dimension": 0}, (2,), 0.0)[1] == "A zero is moved with its sign."


# Elements, the new type, the place that is spoilt and how; words of the clause.
CONVERTED = [
    (f32(1, NAN), "s8", 1, 127, "NaN becomes 0"),
    (f32(300, INF), "s8", 0, 44, "above the range"),
    (f32(300, INF), "s8", 1, 0, "above the range"),
    (f32(-129, 1), "s8", 0, 127, "below the range"),
    (f32(-128.5, 1), "s8", 0, -127, "Fractions are dropped"),
    (f32(-0.5, 1), "u8", 0, 255, "Fractions are dropped"),
    (f32(-1, 1), "u8", 0, 255, "below the range"),
    (f32(1.5, 7), "s32", 1, 8, "A whole number"),
    (f32(2.0**63, 7), "s64", 0, 0, "above the range"),
    (np.array([300, 7], np.int16), "s8", 0, 127, "low bits"),
    (np.array([-1, 7], np.int8), "u64", 0, 0, "low bits"),
    (np.array([300, 7], np.int16), "s8", 1, 8, "that fits"),
    (np.array([127, -128], np.int16), "s8", 0, 126, "that fits"),
    (np.array([127, -128], np.int16), "s8", 1, 127, "that fits"),
    (np.array([True, False]), "s8", 0, -1, "true 1"),
    (np.array([2, 1, 0], np.uint8).view(bool), "s8", 0, 2, "Every byte of a bool but 0 is true"),
    (np.array([2, 1, 0], np.uint8).view(bool), "s8", 1, 2, "true 1"),
    (np.array([2, 1, 0], np.uint8).view(bool), "s8", 2, 1, "false becomes 0"),
    (np.array([255, 1], np.uint8).view(bool), "f32", 0, 255, "Every byte of a bool but 0 is true"),
    (np.array([255, 1], np.uint8).view(bool), "f32", 1, 255, "A number that the new type holds is kept"),
    (np.array([2**24 + 1, 5]), "f32", 0, 2**24 + 2, "the even one"),
    (np.array([2**25 + 3, 5]), "f32", 0, 2**25, "The nearest number"),
    (np.array([2**24 + 1, 5]), "f32", 1, 6, "is kept"),
    (np.array([65520, 5]), "f16", 0, 65504, "becomes an infinity"),
    (np.array([1 + 2.0**-11 + 2.0**-30, 1]), "f16", 0, 1, "The nearest number"),
    (np.array([1 + 2.0**-11, 1]), "f16", 0, 1 + 2.0**-10, "the even one"),
    (np.array([2.0**-26, 2.0**-24]), "f16", 1, 0, "subnormal results"),
    (np.array([65520.0, INF]), "f16", 0, 65504, "becomes an infinity"),
    (np.array([65520.0, INF]), "f16", 1, 65504, "An infinity stays"),
    (np.array([-0.0, NAN]), "bf16", 0, 0, "-0 stays -0"),
    (np.array([-0.0, NAN]), "bf16", 1, 0, "NaN becomes a NaN"),
    (np.array([-0.0, TINY]), "pred", 0, True, "-0 is 0"),
    (np.array([NAN, 1]), "pred", 0, False, "A NaN is not 0"),
    (f32(TINY, 0.5), "pred", 0, False, "A subnormal number is not 0"),
    (f32(TINY, 0.5), "pred", 1, False, "What is not 0"),
    (f32(TINY, 0.5), "f32", 0, 0, "A subnormal number is kept"),
    (f32(TINY, 0.5), "f32", 1, 0, "to itself"),
    (f32(TINY, 0.5), "c64", 1, 0.5 + 1j, "The imaginary part is +0"),
    (np.array([1 + 1j, complex(1, 1e300)]), "c64", 1, 1 + 1j, "becomes an infinity"),
    (np.array([1 + 1j, complex(-0.0, 1)]), "pred", 1, False, "What is not 0"),
    (np.array([-0.0, 1], ml_dtypes.bfloat16), "f32", 0, 0, "-0 stays -0"),
]


def ruling_of(words: str) -> str:
    """The ruling of a conversion's clause: that on bytes is Where's."""
    if words.startswith("Every byte of a bool"):
        return "D-WHERE-1"
    return "D-ALL-4" if "ubnormal" in words else "D-XLA-3"


@for_each(("x", "target", "place", "wrong", "words"), CONVERTED)
def test_conversions(x: Array, target: str, place: int, wrong: Any, words: str) -> None:
    attributes = {"new_element_type": target, "domain": "ieee"}
    identifier, text = blamed("xla.convert_element_type", {"operand": x}, attributes, (place,), wrong)
    assert words in text
    assert identifier == ruling_of(words)


PLAIN = {
    "strides": (1, 1),
    "pads": (0, 0, 0, 1),
    "dilations": (1, 1),
    "group": 1,
    "kernel_shape": (1, 2),
    "auto_pad": "NOTSET",
}
LARGE = float(np.finfo(np.float32).max)
# A line of three, two weights, a bias; one zero after the line. What is spoilt, and the clause.
CONVOLVED = [
    ((1, 2, 3), (1, INF), None, 2, 3.0, "D-CONV-5", "zero of the padding times"),
    ((1, 2, 3), (1, NAN), None, 2, 3.0, "D-CONV-5", "zero of the padding times"),
    ((1, 2, 3), (INF, 1), None, 2, NAN, "D-ALL-4", "An infinity stays"),
    ((1, 2, NAN), (1, 0), None, 1, 2.0, "D-ALL-4", "A NaN among"),
    ((1, 2, INF), (1, 0), None, 1, 2.0, "D-ALL-4", "A zero times an infinity"),
    ((1, 2, 3), (1, 1), NAN, 0, 3.0, "D-ALL-4", "A NaN among"),
    ((1, 2, 3), (1, 1), INF, 0, 3.0, "D-ALL-4", "An infinity stays"),
    ((LARGE, LARGE, 3), (1, 1), -LARGE, 0, INF, "D-CONV-6", "leave the type's range"),
    ((TINY, 2, 3), (1, 1), None, 0, 0.0, "D-ALL-4", "Subnormal"),
    ((2.0**-100, 0, 3), (2.0**-49, 1), None, 0, 0.0, "D-ALL-4", "Subnormal"),
    ((-0.0, -0.0, 3), (1, 1), None, 0, -0.0, "D-CONV-6", "A sum of zeros"),
    ((-0.0, -0.0, 3), (1, 1), -0.0, 0, 0.0, "D-CONV-6", "A sum of zeros"),
    ((0.0, -0.0, 3), (1, 1), -0.0, 0, -0.0, "D-CONV-6", "A sum of zeros"),
    ((1, 2, 3), (1, 1), 4, 2, 12.0, "D-CONV-5", "zeros lie where the padding says"),
    ((1, 2, 3), (1, 1), 4, 1, 12.0, "D-CONV-1", "a tap meets place"),
    ((1, 2, 3), (0, 0), 4, 1, 0.0, "D-CONV-4", "the bias of its channel"),
    ((1, 2, 0), (0, 1), 0.1, 2, 0.2, "D-CONV-4", "the bias of its channel"),
    ((1, 2, 3), (0, 0), None, 1, 1.0, "D-CONV-1", "a tap meets place"),
    ((1, 2, 3), (0, 0), TINY, 1, 0.0, "D-ALL-4", "Subnormal"),
    ((0.1, 2, 3), (1, 1), 4, 0, 12.0, "D-CONV-6", "one at a time"),
    ((2.0**24, 1, 3), (1, 1), 1, 0, 12.0, "D-CONV-6", "one at a time"),
]


@for_each(("line", "weights", "bias", "place", "wrong", "ruling", "words"), CONVOLVED)
def test_conv(
    line: tuple[float, ...],
    weights: tuple[float, ...],
    bias: float | None,
    place: int,
    wrong: float,
    ruling: str,
    words: str,
) -> None:
    inputs = {"X": f32(*line).reshape(1, 1, 1, 3), "W": f32(*weights).reshape(1, 1, 1, 2)}
    inputs |= {} if bias is None else {"B": f32(bias)}
    identifier, text = blamed("conv", inputs, PLAIN, (0, 0, 0, place), wrong)
    assert (identifier, words in text) == (ruling, True)


def test_depthwise_channels_have_clauses_of_their_own() -> None:
    inputs = {"X": f32(1, INF, 3, 4).reshape(1, 2, 1, 2), "W": f32(1, 2, 3, 4).reshape(2, 1, 1, 2)}
    attributes = {**PLAIN, "group": 2, "pads": (0, 0, 0, 0)}
    assert "An infinity stays" in blamed("conv", inputs, attributes, (0, 0, 0, 0), 1.0)[1]
    assert "a tap meets place" in blamed("conv", inputs, attributes, (0, 1, 0, 0), INF)[1]


def test_the_convolutions_of_xla() -> None:
    inputs = {"lhs": f32(1, 2, 3).reshape(1, 1, 3), "rhs": f32(1, INF).reshape(1, 1, 2)}
    short = {"window_strides": (1,), "padding": "SAME"}
    whole = {"window_strides": (1,), "padding": ((-1, 1),), "lhs_dilation": (2,), "rhs_dilation": (1,)}
    assert blamed("xla.conv", inputs, short, (0, 0, 2), 3.0)[0] == "D-XLA-5"
    general = "xla.conv_with_general_padding"
    # The base area is 0, 2, 0, 3 and a zero more: holes are zeros of the padding too.
    for place, words in ((0, "An infinity stays"), (1, "zero of the padding"), (3, "zero of the padding")):
        identifier, text = blamed(general, inputs, whole, (0, 0, place), 77.0)
        assert (identifier, words in text) == ("D-ALL-4" if place == 0 else "D-XLA-5", True)
    inputs["rhs"] = f32(1, 1).reshape(1, 1, 2)
    assert blamed("xla.conv", inputs, short, (0, 0, 2), 5.0)[0] == "D-XLA-4"
    assert blamed("xla.conv", inputs, short, (0, 0, 0), 5.0)[0] == "D-XLA-5"
    integers = {name: array.astype(np.int8) * np.int8(50) for name, array in inputs.items()}
    identifier, text = blamed("xla.conv", integers, short, (0, 0, 0), 127)
    assert (identifier, "wrap" in text) == ("D-XLA-5", True)
    small = {name: array.astype(np.int8) for name, array in inputs.items()}
    assert "a tap meets place" in blamed("xla.conv", small, short, (0, 0, 0), 5)[1]


def test_narrow_floats_are_summed_as_floats() -> None:
    inputs = {"lhs": f32(2048, 1, 1.5), "rhs": f32(1, 1, 1)}
    inputs = {name: array.reshape(1, 3).astype(np.float16) for name, array in inputs.items()}
    attributes = {"window_strides": (), "padding": "VALID"}
    identifier, text = blamed("xla.conv", inputs, attributes, (0, 0), 2048)
    assert identifier == "D-XLA-5"
    assert "rounded once at the end" in text


@pytest.mark.parametrize(("large", "ruling"), [(2048, "D-CONV-6"), (2044, "D-CONV-1")])
def test_whole_numbers_beyond_the_precision_of_their_type_are_a_matter_of_sums(
    large: int, ruling: str
) -> None:
    # 2048 + 1 + 1 is 2050 in float, and 2048 in float16.
    inputs = {"X": np.array([large, 1, 1], np.float16).reshape(1, 3, 1, 1), "W": np.ones((1, 3, 1, 1), "f2")}
    attributes = {**PLAIN, "pads": (0, 0, 0, 0), "kernel_shape": (1, 1)}
    assert blamed("conv", inputs, attributes, (0, 0, 0, 0), large)[0] == ruling
