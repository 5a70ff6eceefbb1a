"""Trials of convolutions: sums that were derived by hand, and what tells one way of adding from another."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from tests.budgets import thinned
from tests.loops import for_each
from tests.operators.support import bits
from tests.operators.test_trials import SUMS, results, tried, types

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.numeric.literals import parse_literal
from sonnx.vocabulary.trial import Trial

FLOATS = (DType.FLOAT16, DType.BFLOAT16, DType.FLOAT, DType.DOUBLE)


def named(name: str, dtype: DType, start: str) -> list[Trial]:
    return [trial for trial in tried(name, dtype) if trial.name.startswith(start)]


def same(dtype: DType, result: Array, text: str) -> bool:
    """One element with these bits; any NaN is as good as another."""
    if text == "nan":
        return bool(result.size == 1 and np.isnan(result.astype(np.float64)).all())
    return bits(result.reshape(())) == bits(np.asarray(parse_literal(text, dtype)))


# What a sum is in each type, with either mode; "=" stands for the same in the mode `fused`.
BY_HAND: dict[str, dict[str, tuple[str, str]]] = {
    "cancel": dict.fromkeys("hbfd", ("0", "=")),
    "cancel-and-one": dict.fromkeys("hbfd", ("1", "=")),
    "cancel-after-ones": dict.fromkeys("hbfd", ("0", "=")),
    "ones-before-cancel": dict.fromkeys("hbfd", ("16", "=")),
    "start-is-lost": dict.fromkeys("hbfd", ("0", "=")),
    # 2^p + 1 + 1, where p is the precision: only a wider accumulator gives 2^p + 2.
    "one-beyond-precision": {
        "h": ("2050", "="),
        "b": ("258", "="),
        "f": ("16777216", "="),
        "d": ("9007199254740992", "="),
    },
    # (1+e)^2 - 1 = 2e + e^2, where e^2 is lost if the square is rounded by itself.
    "square-less-one": {
        "h": ("0x1.02p-5", "="),
        "b": ("0x1.08p-3", "="),
        "f": ("0x1p-11", "0x1.0008p-11"),
        "d": ("0x1p-26", "0x1.0000001p-26"),
    },
    "tie-to-even": dict.fromkeys("hbfd", ("1", "=")),
    "above-a-tie": {"h": ("0x1.004p0", "="), "b": ("0x1.02p0", "="), "f": ("1", "="), "d": ("1", "=")},
    # The accumulator of float16 reaches further than its largest number; that of bfloat16 does not.
    "largest-and-back": {"h": ("0", "="), "b": ("inf", "="), "f": ("inf", "="), "d": ("inf", "=")},
    "half-a-step-too-large": dict.fromkeys("hbfd", ("inf", "=")),
    "quarter-step-too-large": {
        "h": ("65504", "="),
        "b": ("0x1.fep127", "="),
        "f": ("0x1.fffffep127", "="),
        "d": ("0x1.fffffffffffffp1023", "="),
    },
    "product-too-large": {
        "h": ("65504", "="),
        "b": ("inf", "0x1.fep127"),
        "f": ("inf", "0x1.fffffep127"),
        "d": ("inf", "0x1.fffffffffffffp1023"),
    },
    "both-too-large": {"h": ("0", "="), "b": ("nan", "inf"), "f": ("nan", "inf"), "d": ("nan", "inf")},
    "smallest-product": {
        "h": ("0x1p-24", "="),
        "b": ("0x1p-133", "="),
        "f": ("0x1p-149", "="),
        "d": ("0x1p-1074", "="),
    },
    "half-of-smallest": dict.fromkeys("hbfd", ("0", "=")),
    "three-halves-of-smallest": {
        "h": ("0x1p-23", "="),
        "b": ("0x1p-132", "="),
        "f": ("0x1p-148", "="),
        "d": ("0x1p-1073", "="),
    },
    # The half is lost where it is rounded by itself; added exactly it makes a tie, which goes up to even.
    "smallest-and-half": {
        "h": ("0x1p-23", "="),
        "b": ("0x1p-132", "="),
        "f": ("0x1p-149", "0x1p-148"),
        "d": ("0x1p-1074", "0x1p-1073"),
    },
    "nine-smallest": {
        "h": ("0x9p-24", "="),
        "b": ("0x9p-133", "="),
        "f": ("0x9p-149", "="),
        "d": ("0x9p-1074", "="),
    },
    "subnormal-difference": {
        "h": ("0x0.ffcp-14", "="),
        "b": ("0x0.fep-126", "="),
        "f": ("0x0.fffffep-126", "="),
        "d": ("0x0.fffffffffffffp-1022", "="),
    },
    "subnormal-factor": {
        "h": ("0x1p-9", "="),
        "b": ("0x1p-6", "="),
        "f": ("0x1p-22", "="),
        "d": ("0x1p-51", "="),
    },
    "minus-zero": dict.fromkeys("hbfd", ("0", "=")),
    "minus-zeros": dict.fromkeys("hbfd", ("-0.0", "=")),
    "zeros": dict.fromkeys("hbfd", ("0", "=")),
    "cancel-to-zero": dict.fromkeys("hbfd", ("0", "=")),
    "zero-times-infinity": dict.fromkeys("hbfd", ("nan", "=")),
    "infinity-times-zero": dict.fromkeys("hbfd", ("nan", "=")),
    "unlike-infinities": dict.fromkeys("hbfd", ("nan", "=")),
    "infinity": dict.fromkeys("hbfd", ("-inf", "=")),
    "nan-times-zero": dict.fromkeys("hbfd", ("nan", "=")),
}
LETTERS = dict(zip(FLOATS, "hbfd", strict=True))
# An XLA convolution has no bias: its sum starts at +0, and then -0 is added.
WITHOUT_BIAS = {"minus-zeros": "0"}


def sums_of(name: str, dtype: DType) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for trial in named(name, dtype, "sum-"):
        found.setdefault(trial.name.removeprefix("sum-").partition("-along-")[0], []).append(trial)
    return found


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name in SUMS for dtype in types(name) if dtype in FLOATS]
)
def test_every_sum_of_floats_is_what_was_derived_by_hand(name: str, dtype: DType) -> None:
    found = sums_of(name, dtype)
    assert found.keys() == BY_HAND.keys()
    for label, of_types in BY_HAND.items():
        separate, fused = of_types[LETTERS[dtype]]
        if name != "conv":
            separate = WITHOUT_BIAS.get(label, separate)
        # Along two axes, with the kernel as input and as constant.
        assert len(found[label]) == 4
        for trial in thinned(found[label], 2):
            assert same(dtype, results(name, trial), separate), trial.name
            assert same(dtype, results(name, trial, "fused"), separate if fused == "=" else fused), trial.name


# Sums of integers modulo 2^n, for types of n bits, signed or not.
MODULO: dict[str, Callable[[int, int], int]] = {
    "greatest-and-one": lambda least, greatest: greatest + 1,
    "twice-the-greatest": lambda least, greatest: 2 * greatest,
    "square-of-the-greatest": lambda least, greatest: greatest**2,
    "square-of-the-least": lambda least, greatest: least**2 + 1,
    "out-and-back": lambda least, greatest: greatest + least,
    "many-ones": lambda least, greatest: 300,
    "all-bits": lambda least, greatest: greatest,
    "squares-of-the-greatest": lambda least, greatest: 9 * greatest**2,
    "squares-of-the-least": lambda least, greatest: 9 * least**2,
    "least-times-minus-one": lambda least, greatest: -least,
}
OF_SIGNED = ("least-times-minus-one", "squares-of-the-least")


@for_each(
    ("name", "dtype"), [(name, dtype) for name in SUMS[1:] for dtype in types(name) if dtype not in FLOATS]
)
def test_every_sum_of_integers_is_what_integers_give_modulo_a_power_of_two(name: str, dtype: DType) -> None:
    info = np.iinfo(numpy_dtype(dtype))
    found = sums_of(name, dtype)
    signed = info.min < 0
    assert found.keys() == {label for label in MODULO if signed or label not in OF_SIGNED}
    for label, trials in found.items():
        wanted = MODULO[label](int(info.min), int(info.max))
        for trial in trials:
            (result,) = results(name, trial).reshape(-1).tolist()
            assert info.min <= result <= info.max
            assert (result - wanted) % 2**info.bits == 0, trial.name


def one_by_one(terms: Array) -> float:
    """The sum in the type of the terms, from 0, in the order in which they come."""
    total = terms.dtype.type(0)
    for term in terms.reshape(-1):
        total = terms.dtype.type(total + term)
    return float(total)


def other_ways(terms: Array) -> Iterator[float]:
    """Other orders of three axes, backwards too; by lanes, by pairs, and by channels."""
    for axes in permutations(range(3)):
        ordered = np.transpose(terms, axes)
        if axes != (0, 1, 2):
            yield one_by_one(ordered)
        yield one_by_one(ordered.reshape(-1)[::-1])
    flat = terms.reshape(-1)
    for lanes in (2, 4):
        yield one_by_one(np.array([one_by_one(flat[lane::lanes]) for lane in range(lanes)], terms.dtype))
    yield one_by_one(np.array([one_by_one(channel) for channel in terms], terms.dtype))
    yield one_by_one(np.array([one_by_one(pair) for pair in flat.reshape(-1, 2)], terms.dtype))


@pytest.mark.parametrize("name", SUMS)
def test_no_other_order_of_the_axes_gives_the_same_sum(name: str) -> None:
    for dtype in types(name):
        if dtype not in FLOATS:
            continue
        trial = named(name, dtype, "order-of-axes")[0]
        X, W = list(trial.inputs.values())[:2]
        held = np.float64 if dtype is DType.DOUBLE else np.float32
        terms = (X.astype(held) * W.astype(held))[0]
        # Beside M only multiples of 4 remain: 8 of 2, 4, 5, 2, 2, 2. M and -M come and go, 2 is lost; 8 + 3.
        assert one_by_one(terms) == 11
        assert same(dtype, results(name, trial), "11")
        assert 11 not in set(other_ways(terms))
        # All exact: 22.
        assert sum(Fraction(float(term)) for term in terms.reshape(-1)) == 22


@pytest.mark.parametrize("name", SUMS)
def test_long_sums_have_hundreds_of_terms_and_a_bias(name: str) -> None:
    for dtype in types(name):
        found = [trial for trial in named(name, dtype, "long-sum") if not trial.constants]
        kernels = [list(trial.inputs.values())[1] for trial in found]
        assert sorted(int(np.prod(kernel.shape[1:])) for kernel in kernels) == [297, 603, 1100]
        assert all(("B" in trial.inputs) == (name == "conv") for trial in found)


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16, DType.FLOAT])
def test_a_long_sum_is_much_larger_half_way_than_in_the_end(dtype: DType) -> None:
    (trial,) = [each for each in named(SUMS[2], dtype, "long-sum-of-603") if "constant" not in each.name]
    X, W = (trial.inputs[operand].astype(np.float64) for operand in ("lhs", "rhs"))
    half, end = (
        sum(float((X[0, channel, :, :3] * W[0, channel]).sum()) for channel in range(channels))
        for channels in (33, 67)
    )
    assert half > 8 * abs(end) > 0
    assert (X > 0).all()


def test_three_and_four_dimensions_have_no_attribute_in_common() -> None:
    for label in ("three-unlike-dimensions", "four-unlike-dimensions"):
        trial = named(SUMS[2], DType.FLOAT, label)[0]
        dimensions = trial.inputs["lhs"].ndim - 2
        assert {len(set(values)) for values in trial.attributes.values()} == {dimensions}
        assert len(trial.attributes) == 4
        # There is more than one position, of which the steps can be told.
        assert min(results(SUMS[2], trial).shape[2:]) > 1
    for label in ("three-unlike-strides", "four-unlike-strides"):
        trial = named(SUMS[1], DType.FLOAT, f"{label}-valid")[0]
        assert len(set(trial.attributes["window_strides"])) == trial.inputs["lhs"].ndim - 2
        assert min(results(SUMS[1], trial).shape[2:]) > 1


# Not those where nothing but the bias counts.
BIAS_HELD = ("plain-bias-alone", "depthwise-bias-alone")


@pytest.mark.parametrize("name", SUMS)
def test_every_convolution_is_tried_with_the_kernel_as_input_and_as_constant(name: str) -> None:
    for dtype in types(name):
        found = {trial.name: trial for trial in tried(name, dtype)}
        plain = [label for label in found if not label.endswith("-constant")]
        assert set(found) == {*plain, *(f"{label}-constant" for label in plain)}
        for label in plain:
            one, other = found[label], found[f"{label}-constant"]
            assert not one.constants
            alone = {"W"} if label.endswith("-kernel-alone") else {"B"} if label in BIAS_HELD else set()
            assert other.constants == (alone or set(one.inputs) - {"X", "lhs"})
            assert other.inputs is one.inputs
            assert other.attributes == one.attributes


def test_geometries_of_conv_reach_their_edges() -> None:
    found = {trial.name: trial for trial in tried("conv", DType.FLOAT)}
    shapes = {label: results("conv", trial).shape for label, trial in found.items() if trial.name in EDGES}
    assert shapes == EDGES
    assert found["same-upper"].attributes["pads"] == (0, 1, 1, 2)
    assert found["same-lower"].attributes["pads"] == (1, 2, 0, 1)
    assert "B" not in found["no-bias"].inputs


EDGES = {
    "one-element": (1, 1, 1, 1),
    "kernel-as-large-as-input": (2, 2, 1, 1),
    "kernel-as-large-as-padded": (1, 2, 1, 1),
    "dilated-kernel-as-large-as-padded": (1, 2, 1, 1),
    "pads-beyond-the-kernel": (1, 2, 10, 10),
    "strides-that-leave-a-rest": (1, 2, 2, 2),
    "strides-beyond-the-input": (1, 2, 1, 1),
    "everything-unlike": (1, 4, 5, 3),
    "depthwise-with-everything": (2, 3, 3, 4),
    "no-batch": (0, 2, 2, 2),
    "no-input-channels": (1, 2, 2, 2),
    "no-output-channels": (1, 0, 2, 2),
    "no-image": (1, 2, 1, 2),
}


def test_zeros_of_the_padding_meet_every_special_weight() -> None:
    # By D-CONV-5 a corner of the padded image, where the kernel's second tap meets a zero, is NaN.
    (trial,) = [each for each in tried("conv", DType.DOUBLE) if each.name == "special-weights-padded"]
    W = trial.inputs["W"][:, 0, 0, 1]
    corner = results("conv", trial)[0, :, 0, 0]
    assert np.array_equal(np.isnan(corner), ~np.isfinite(W))
    assert np.count_nonzero(np.isnan(corner)) == 7
