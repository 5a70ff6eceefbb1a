"""Trials: the special values of every type, written down by hand, and the edges that are reached."""

from itertools import product
from math import nextafter
from unicodedata import normalize

import numpy as np
import pytest
from tests.loops import for_each
from tests.operators.test_trials import NAMES, SUMS, elements, may_be_empty, ranks_of, results, tried

from sonnx.model.dtype import INTEGERS, SIGNED, DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.vocabulary.special_values import (
    bounds,
    distinct_floats,
    random_bits,
    random_numbers,
    special_values,
    special_vector,
    told_apart,
    whole_numbers,
)

# Zeros, ones and their neighbours, smallest, largest subnormal, smallest normal, largest, infinities.
MAGNITUDES = {
    DType.FLOAT16: (0, 0x3C00, 0x3C01, 1, 0x03FF, 0x0400, 0x7BFF, 0x7C00),
    DType.BFLOAT16: (0, 0x3F80, 0x3F81, 1, 0x007F, 0x0080, 0x7F7F, 0x7F80),
    DType.FLOAT: (0, 0x3F800000, 0x3F800001, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000),
    DType.DOUBLE: (0, 0x3FF << 52, (0x3FF << 52) + 1, 1, 2**52 - 1, 2**52, (0x7FF << 52) - 1, 0x7FF << 52),
}
# Quiet, with a payload, negative; then signalling ones of both signs.
NANS = {
    DType.FLOAT16: (0x7E00, 0x7E15, 0xFE00, 0x7C15, 0xFC15),
    DType.BFLOAT16: (0x7FC0, 0x7FD5, 0xFFC0, 0x7F95, 0xFF95),
    DType.FLOAT: (0x7FC00000, 0x7FC00015, 0xFFC00000, 0x7F800015, 0xFF800015),
    DType.DOUBLE: (
        0x7FF8 << 48,
        (0x7FF8 << 48) + 0x15,
        0xFFF8 << 48,
        (0x7FF << 52) + 0x15,
        (0xFFF << 52) + 0x15,
    ),
}


@pytest.mark.parametrize("dtype", MAGNITUDES)
def test_special_floats_are_those_that_were_written_down(dtype: DType) -> None:
    raw = np.dtype(f"u{numpy_dtype(dtype).itemsize}")
    sign = 1 << (8 * raw.itemsize - 1)
    numbers = {*MAGNITUDES[dtype], *(magnitude | sign for magnitude in MAGNITUDES[dtype])}
    quiet = special_vector(dtype).view(raw).tolist()
    assert len(quiet) == len(set(quiet))
    assert set(quiet) == numbers | set(NANS[dtype][:3])
    assert set(special_vector(dtype, signalling=True).view(raw).tolist()) == numbers | set(NANS[dtype])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_special_integers_are_the_ends_and_what_lies_beside_them(dtype: DType) -> None:
    info = np.iinfo(numpy_dtype(dtype))
    held = set(special_vector(dtype).tolist())
    ends = {info.min, info.min + 1, info.max - 1, info.max}
    middle = {-1, 0, 1} if dtype in SIGNED else {0, 1, info.max // 2, info.max // 2 + 1}
    assert ends | middle <= held
    assert (2**24 + 1 in held) == (info.bits > 24)
    assert (2**53 + 1 in held) == (info.bits > 53)


def test_special_strings_truths_and_complex_numbers() -> None:
    strings = special_vector(DType.STRING).tolist()
    assert {"", "a", "a\x00b", "a\x00"} <= set(strings)
    assert any(not text.isascii() for text in strings)
    # Texts that another form or other line ends would change, and marks that are easily lost.
    assert any(normalize("NFC", text) != text for text in strings)
    assert any(normalize("NFD", text) != text for text in strings)
    assert set("\r\n\t\ufeff\"'\\\U0001d11e") <= set("".join(strings))
    assert max(map(len, strings)) > 1000
    # Lengths at which texts are held otherwise; words that mean nothing; characters that are easily lost.
    assert {16, 17, 24} <= set(map(len, strings))
    assert {"None", "null"} <= set(strings)
    assert set("\x1b\x7f\ufffd\uffff\ue000\u0130\U00020000") <= set("".join(strings))
    assert special_vector(DType.BOOL).tolist() == [False, True]
    for dtype, part in ((DType.COMPLEX64, DType.FLOAT), (DType.COMPLEX128, DType.DOUBLE)):
        held = special_vector(dtype, signalling=True)
        wanted = elements(special_vector(part, signalling=True))
        assert wanted <= elements(held.real)
        assert wanted <= elements(held.imag)


@pytest.mark.parametrize("dtype", MAGNITUDES)
def test_random_bits_signal_only_where_that_is_asked_for(dtype: DType) -> None:
    raw = np.dtype(f"u{numpy_dtype(dtype).itemsize}")
    infinity, quiet = MAGNITUDES[dtype][-1], NANS[dtype][0] - MAGNITUDES[dtype][-1]
    for signalling in (False, True):
        held = random_bits(np.random.default_rng(5), dtype, (3000,), signalling=signalling).view(raw)
        nan = (held & raw.type(2 ** (8 * raw.itemsize - 1) - 1)) > infinity
        assert nan.any()
        assert bool(((held & raw.type(quiet)) == 0)[nan].any()) == signalling


def test_random_numbers_have_the_sizes_that_are_asked_for() -> None:
    random = np.random.default_rng(5)
    for dtype in (DType.FLOAT, DType.DOUBLE):
        held = random_numbers(random, dtype, (1000,), octaves=2)
        assert 0.25 <= np.abs(held).min() < 0.3
        assert 3.5 < np.abs(held).max() < 4
        assert (held < 0).any()
        assert (held > 0).any()
    assert set(whole_numbers(random, DType.INT8, (500,), 2).tolist()) == {-2, -1, 0, 1, 2}
    assert set(whole_numbers(random, DType.UINT8, (500,), 2).tolist()) == {0, 1, 2}
    assert set(random_numbers(random, DType.UINT16, (500,)).tolist()) == set(range(10))
    apart = distinct_floats(random, DType.FLOAT, 1000)
    assert sorted(apart.view(np.uint32).tolist()) == list(range(0x3F800000, 0x3F800000 + 1000))
    assert (np.diff(apart) < 0).any()


@for_each("dtype", [dtype for dtype in DType if dtype is not DType.REAL])
def test_thousands_of_elements_are_each_another_as_far_as_there_are_so_many(dtype: DType) -> None:
    held = told_apart(dtype, 5003)
    assert held.shape == (5003,)
    few = {DType.BOOL: 2, DType.INT8: 256, DType.UINT8: 256}
    assert len(elements(held)) == few.get(dtype, 5003)
    assert elements(told_apart(dtype, 5003, 1)[:99]) != elements(held[:99]) or dtype is DType.BOOL


# --- edges -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["clip", "xla.clamp"])
@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.DOUBLE, DType.INT8, DType.UINT64])
def test_every_pair_of_bounds_meets_every_special_value(name: str, dtype: DType) -> None:
    every = elements(special_vector(dtype))
    found = {
        (bool(t.constants), *map(bytes, (t.inputs["min"].tobytes(), t.inputs["max"].tobytes())))
        for t in tried(name, dtype)
        if elements(next(iter(t.inputs.values()))) >= every
        and t.inputs["min"].shape == t.inputs["max"].shape == ()
    }
    several = [bound.tobytes() for bound in bounds(dtype).values()]
    assert len(several) >= 7
    for low, high in product(several, several):
        assert (False, low, high) in found
        assert (True, low, high) in found
    for value in special_values(dtype).values():
        assert (False, value.tobytes(), value.tobytes()) in found


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SUMS])
def test_shapes_reach_rank_0_high_ranks_sizes_1_and_sizes_0(name: str) -> None:
    shapes = [next(iter(trial.inputs.values())).shape for trial in tried(name, DType.FLOAT)]
    ranks = {len(shape) for shape in shapes}
    # A scalar has no dimension to be joined along or collapsed.
    assert (0 in ranks_of(name)) == (0 in ranks)
    assert not (0 in ranks and name in ("xla.concatenate", "xla.collapse"))
    assert ranks >= (ranks_of(name) if len(ranks_of(name)) == 1 else ranks_of(name) | {6})
    assert any(0 in shape for shape in shapes) == may_be_empty(name)
    assert any(shape and set(shape) == {1} for shape in shapes)


def test_expand_stretches_sizes_1_and_puts_axes_before_up_to_the_most() -> None:
    found = {trial.name: trial for trial in tried("expand", DType.INT8)}
    assert results("expand", found["64-axes-shape-none"]).shape == (2, *[1] * 62, 3)
    assert results("expand", found["3x1-shape-3-66"]).shape == (3, 66)
    assert results("expand", found["1x0-shape-3-0"]).shape == (3, 0)
    assert results("expand", found["4x2x3-shape-2-3"]).shape == (4, 2, 3)
    assert found["scalar-shape-none"].inputs["shape"].shape == (0,)


# Source and target; elements that lie at an edge, or just beside it.
EDGES: dict[tuple[DType, DType], list[float]] = {
    (DType.DOUBLE, DType.FLOAT16): [
        *(1 + 2**-11, nextafter(1 + 2**-11, 0), nextafter(1 + 2**-11, 2), 1 + 3 * 2**-11),
        *(65504.0, 65520.0, nextafter(65520.0, 0), nextafter(65520.0, 1e9), -65520.0),
        *(2**-24, 2**-25, nextafter(2**-25, 1), 3 * 2**-25, 2**-14, 2**-14 - 2**-25),
    ],
    (DType.DOUBLE, DType.FLOAT): [1 + 2**-24, 2.0**-149, 2.0**-150, nextafter(2.0**-150, 1), 2.0**-126],
    (DType.FLOAT, DType.INT8): [127.0, 127.5, 128.0, -127.5, -128.0, -128.5, 0.5, -0.5, 1.5],
    (DType.FLOAT, DType.UINT8): [255.0, 255.5, 256.0, -0.5, -1.0],
    (DType.FLOAT, DType.INT32): [2.0**31, 2.0**31 - 128, -(2.0**31), -(2.0**31) - 256],
    (DType.DOUBLE, DType.INT64): [2.0**63, 2.0**63 - 1024, -(2.0**63), -(2.0**63) - 2048],
    (DType.DOUBLE, DType.UINT64): [2.0**64, 2.0**64 - 2048, -1.0, 2.0**63, 2.0**63 + 2048, 3 * 2.0**62],
    (DType.FLOAT, DType.UINT64): [2.0**63, 2.0**63 + 2.0**40, 3 * 2.0**62],
}


@pytest.mark.parametrize(("source", "target"), EDGES)
def test_floats_are_converted_beside_every_edge(source: DType, target: DType) -> None:
    found: set[float] = set()
    spelled = {DType.FLOAT16: "f16", DType.FLOAT: "f32", DType.INT8: "s8", DType.UINT8: "u8"}
    spelled |= {DType.INT32: "s32", DType.INT64: "s64", DType.UINT64: "u64"}
    for trial in tried("xla.convert_element_type", source):
        if trial.attributes["new_element_type"] == spelled[target] and not trial.name.startswith("random"):
            found |= set(trial.inputs["operand"].reshape(-1).tolist())
    assert [value for value in EDGES[source, target] if value not in found] == []


def test_integers_are_converted_beside_every_edge() -> None:
    found: dict[str, set[int]] = {}
    for trial in tried("xla.convert_element_type", DType.INT64):
        elsewhere = found.setdefault(trial.attributes["new_element_type"], set())
        if not trial.name.startswith("random"):
            elsewhere |= set(trial.inputs["operand"].reshape(-1).tolist())
    assert {2**24 - 1, 2**24, 2**24 + 1, 2**30 + 2**6, 2**30 + 3 * 2**6} <= found["f32"]
    assert {2**53 - 1, 2**53, 2**53 + 1, 2**62 + 2**9, 2**62 + 2**9 + 1, 2**62 + 3 * 2**9} <= found["f64"]
    assert {65504, 65519, 65520, 65521, 2048, 2049} <= found["f16"]
    assert {127, 128, 255, 256, 257, -1, -128, -129} <= found["s8"]
    assert {2**32 - 1, 2**32, 2**33, -1} <= found["u32"]
    assert {0, 256, 65536} <= found["pred"]


def test_unsigned_integers_are_converted_beside_ties_of_their_upper_half() -> None:
    for source, bits, steps in (
        (DType.UINT64, 64, {"bf16": 55, "f32": 39, "f64": 10}),
        (DType.UINT32, 32, {"bf16": 23}),
    ):
        for target, step in steps.items():
            found = {
                number
                for trial in tried("xla.convert_element_type", source)
                if trial.name == f"edges-of-{target}"
                for number in trial.inputs["operand"].tolist()
            }
            tie = 2 ** (bits - 1) + 2**step
            assert {tie - 1, tie, tie + 1, tie + 2 ** (step + 1)} <= found


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_all_elements_of_sixteen_bits_are_converted(dtype: DType) -> None:
    found = [t for t in tried("xla.convert_element_type", dtype) if t.name.startswith("all-elements")]
    assert len(found) == 3
    for trial in found:
        assert trial.inputs["operand"].view(np.uint16).tolist() == list(range(65536))


def test_every_type_is_converted_to_at_lengths_of_three_kinds() -> None:
    lengths: dict[str, set[int]] = {}
    for trial in tried("xla.convert_element_type", DType.FLOAT):
        if trial.name.startswith("length"):
            lengths.setdefault(trial.attributes["new_element_type"], set()).add(trial.inputs["operand"].size)
    assert len(lengths) == 15
    for found in lengths.values():
        assert len(found) == 3
        assert any(length % 32 == 31 for length in found)
        assert any(length % 8 == 0 for length in found)
        assert max(found) > 128


def test_joined_operands_are_many_and_of_up_to_eight_dimensions() -> None:
    found = tried("xla.concatenate", DType.INT8)
    assert {5, 8, 16, 17, 33, 130} <= {len(trial.inputs) for trial in found}
    assert {7, 8} <= {trial.inputs["operands0"].ndim for trial in found}
