"""Every rule of the XLA operations, broken by hand through the plain functions and through the builder."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.loops import for_each
from tests.operators.support import Array, broken, message
from tests.operators.xla_support import (
    COMPLEX,
    EVERY_TYPE,
    HOSTILE,
    NESTED,
    NO_INTEGERS,
    Silent,
    held,
    ones,
    rules_of,
    said,
)

import sonnx
from sonnx import xla
from sonnx.check.calls import check_call
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators.catalogue import operator
from sonnx.vocabulary.call import Call, call

NAN = float("nan")
F32 = np.float32
FLOATS = np.ones(3, F32)
CUBE = np.ones((4, 2, 3), F32)
TEXT = np.array(["a", "b", "c"])


class Sparse:
    """Looks like a sparse matrix of SciPy."""

    dtype = np.dtype(F32)
    shape = (3,)
    nnz = 1
    toarray = None


# --- Broadcast ---------------------------------------------------------------------------------------------


def test_broadcast_operand_d1_refuses_strings() -> None:
    assert broken(xla.broadcast, TEXT, (2,)) == ["xla.broadcast.operand.D1"]
    assert message(xla.broadcast, TEXT, (2,)) == (
        "error[xla.broadcast.operand.D1]: `operand` must be an array of one of XLA's element types, "
        "or of reals\n"
        "  --> call of xla.Broadcast\n"
        "   operand : string[3]\n"
        "  help: give `operand` one of the types real, pred, s8, s16, s32, s64, u8, u16, u32, u64, f16, f32, "
        "f64, bf16, c64, c128\n"
        "  more: sonnx explain xla.broadcast.operand.D1"
    )


@for_each("sizes", [*HOSTILE, (2, -4), [-1], np.array([-1]), NESTED], ids=lambda _: "")
def test_broadcast_sizes_d1_demands_integers_from_zero_up(sizes: Any) -> None:
    assert rules_of(xla.broadcast, FLOATS, broadcast_sizes=sizes) == ["xla.broadcast.broadcast_sizes.D1"]


def test_broadcast_sizes_d1_shows_what_was_given() -> None:
    text = said(xla.broadcast, FLOATS, (2, -4))
    assert " broadcast_sizes = [2, -4]\n help: write a list of integers from 0 up\n" in text


def test_broadcast_sizes_d2_refuses_results_that_cannot_be_addressed() -> None:
    long = np.broadcast_to(np.int64(1), (2**40,))
    for sizes in [(2**60,), (2**31,), (0, 2**62), [1] * 64, [1] * 10**5, long]:
        found = rules_of(xla.broadcast, FLOATS, broadcast_sizes=sizes)
        assert found == ["xla.broadcast.broadcast_sizes.D2"]
    assert xla.broadcast(FLOATS, [1] * 63).ndim == 64
    assert xla.broadcast(F32(1), [2**31 - 1]).shape == (2**31 - 1,)
    assert broken(xla.broadcast, F32(1), [2**31]) == ["xla.broadcast.broadcast_sizes.D2"]
    assert " result = [2147483648]\n" in said(xla.broadcast, F32(1), [2**31])


# --- Collapse ----------------------------------------------------------------------------------------------


def test_collapse_operand_d1_refuses_strings() -> None:
    assert broken(xla.collapse, TEXT, (0,)) == ["xla.collapse.operand.D1"]


@for_each("dimensions", [*HOSTILE, (), [], np.array([], int), NESTED], ids=lambda _: "")
def test_collapse_dimensions_d1_demands_integers_at_least_one(dimensions: Any) -> None:
    assert rules_of(xla.collapse, CUBE, dimensions=dimensions) == ["xla.collapse.dimensions.D1"]


def test_collapse_dimensions_d2_refuses_dimensions_that_are_not_there() -> None:
    for dimensions in [(3,), (-1,), (2, 3), (-1, 0), (2**62,), np.array([3])]:
        assert rules_of(xla.collapse, CUBE, dimensions=dimensions) == ["xla.collapse.dimensions.D2"]
    assert rules_of(xla.collapse, np.array(1), dimensions=(0,)) == ["xla.collapse.dimensions.D2"]
    text = said(xla.collapse, CUBE, (2, 3))
    assert " dimensions = [2, 3]\n operand : f32[4,2,3] 3 dimensions\n" in text
    assert " help: name dimensions from 0 to 2\n" in text


def test_collapse_dimensions_d3_refuses_another_order_and_gaps() -> None:
    for listed in [(1, 0), (0, 2), (0, 0), (2, 1, 0), (0, 1, 1), [1] * 900]:
        assert rules_of(xla.collapse, CUBE, dimensions=listed) == ["xla.collapse.dimensions.D3"]
    both = ["xla.collapse.dimensions.D2", "xla.collapse.dimensions.D3"]
    outside: list[Any] = [(3, 0), (-1, 1), list(range(10**5))[::-1], np.arange(5000) * 2]
    for dimensions in outside:
        assert rules_of(xla.collapse, CUBE, dimensions=dimensions) == both
    advice = "name neighbouring dimensions from low to high, such as [1, 2]; nothing is transposed"
    assert advice in said(xla.collapse, CUBE, (0, 2))


def test_a_scalar_has_no_dimension_that_a_message_could_name() -> None:
    assert "from 0 to -1" not in said(xla.collapse, F32(1), (0,))


def test_collapse_dimensions_d4_refuses_results_that_cannot_be_addressed() -> None:
    empty = np.broadcast_to(F32(1), (0, 1, 1)).reshape(0, 1, 1)
    assert xla.collapse(empty, (0, 1)).shape == (0, 1)
    large = call("xla.Collapse", {"operand": "f32[0,65536,65536]"}, {"dimensions": (1, 2)})
    assert [f.rule for f in check_call(operator("xla.Collapse"), large)] == ["xla.collapse.dimensions.D4"]
    many = TensorType(DType.FLOAT, (1,) * 70)
    found = check_call(
        operator("xla.Collapse"), Call("xla.Collapse", {"operand": many}, {"dimensions": (0,)})
    )
    assert [f.rule for f in found] == ["xla.collapse.dimensions.D4"]


# --- Concatenate -------------------------------------------------------------------------------------------


def test_concatenate_operands_d1_demands_an_operand() -> None:
    assert rules_of(xla.concatenate, [], 0) == ["xla.concatenate.operands.D1"]
    assert rules_of(xla.concatenate, (), 0) == ["xla.concatenate.operands.D1"]


def test_concatenate_takes_a_list_of_operands() -> None:
    for no_list in (FLOATS, "abc", None, 1, {1: FLOATS}):
        with pytest.raises(TypeError, match="concatenate: give the operands as a list"):
            xla.concatenate(no_list, 0)


def test_concatenate_operands_d2_refuses_strings() -> None:
    assert broken(xla.concatenate, [TEXT], 0) == ["xla.concatenate.operands.D2"]
    mixed = broken(xla.concatenate, [TEXT, FLOATS], 0)
    assert mixed == ["xla.concatenate.operands.D2", "xla.concatenate.operands.D3"]


def test_concatenate_operands_d3_refuses_mixed_element_types() -> None:
    for name in EVERY_TYPE[1:]:
        if name != "f32":
            assert rules_of(xla.concatenate, [FLOATS, ones(name, 3)], 0) == ["xla.concatenate.operands.D3"]
    assert broken(xla.concatenate, [FLOATS, sonnx.real(FLOATS)], 0) == ["xla.concatenate.operands.D3"]
    text = said(xla.concatenate, [FLOATS, FLOATS.astype(np.int32)], 0)
    assert " operands0 : f32[3]\n operands1 : s32[3]\n" in text
    assert " help: convert the operands to one type; nothing is converted by itself\n" in text


def test_concatenate_operands_d4_refuses_rank_zero() -> None:
    for operands in ([F32(1)], [F32(1), F32(2)], [F32(1), FLOATS], [FLOATS, F32(1)]):
        for dimension in (0, 1, -1)[: 1 if len(operands) > 1 else 3]:
            assert rules_of(xla.concatenate, operands, dimension) == ["xla.concatenate.operands.D4"]
    assert " operands1 : f32[]\n" in said(xla.concatenate, [FLOATS, F32(1)], 0)


def test_concatenate_operands_d5_refuses_two_ranks() -> None:
    for other in (CUBE, FLOATS.reshape(1, 3)):
        assert rules_of(xla.concatenate, [FLOATS, other], 0) == ["xla.concatenate.operands.D5"]
        assert rules_of(xla.concatenate, [other, FLOATS], 0) == ["xla.concatenate.operands.D5"]


def test_concatenate_operands_d6_refuses_ragged_arrays() -> None:
    ragged = [np.ones((3, 2), F32), np.ones((1, 3), F32)]
    assert rules_of(xla.concatenate, ragged, 0) == ["xla.concatenate.operands.D6"]
    assert rules_of(xla.concatenate, [CUBE, CUBE[:, :1]], 0) == ["xla.concatenate.operands.D6"]
    assert rules_of(xla.concatenate, [CUBE, CUBE[:, :0]], 2) == ["xla.concatenate.operands.D6"]
    assert xla.concatenate([CUBE, CUBE[:, :0], CUBE[:, :1]], 1).shape == (4, 3, 3)
    assert " dimension = 0 sizes differ at 1\n" in said(xla.concatenate, ragged, 0)


def test_concatenate_shows_few_of_thousands_of_operands() -> None:
    many = [FLOATS] * 3000
    for odd, shown in [
        (np.ones(3), ["operands0", "operands3000"]),
        (CUBE, ["operands0", "operands3000"]),
        (F32(1), ["operands3000"]),
        (TEXT, ["operands0", "operands3000"]),
    ]:
        text = said(xla.concatenate, [*many, odd], 0)
        assert all(f" {name} : " in text for name in shown)
        assert len(text.splitlines()) < 20
    assert len(said(xla.concatenate, [TEXT] * 3000, 0).splitlines()) == 7
    assert len(said(xla.concatenate, [F32(1)] * 3000, 0).splitlines()) == 7
    ragged = said(xla.concatenate, [*[CUBE] * 3000, CUBE[:, :1]], 0)
    assert " operands0 : f32[4,2,3]\n operands3000 : f32[4,1,3]\n dimension = 0 sizes differ at 1\n" in ragged


def test_concatenate_operands_d7_refuses_results_that_cannot_be_addressed() -> None:
    large = np.broadcast_to(np.int8(1), (2**30,))
    assert broken(xla.concatenate, [large, large], 0) == ["xla.concatenate.operands.D7"]
    builder = xla.ComputationBuilder("large")
    handle = builder.parameter(0, xla.Shape("s8", (2**30,)))
    assert broken(builder.concatenate, [handle, handle], 0) == ["xla.concatenate.operands.D7"]
    # No element would be made, yet the sizes are beyond what can be counted.
    empty = np.broadcast_to(np.int8(1), (2**30, 0))
    assert broken(xla.concatenate, [empty, empty], 0) == ["xla.concatenate.operands.D7"]


@for_each("dimension", [*NO_INTEGERS, 2, -1, 2**62, -(2**63), np.int8(-1)], ids=lambda _: "")
def test_concatenate_dimension_d1_demands_one_of_the_dimensions(dimension: Any) -> None:
    operands = [np.ones((3, 2), F32)] * 5  # five operands, but two dimensions
    assert rules_of(xla.concatenate, operands, dimension=dimension) == ["xla.concatenate.dimension.D1"]


def test_concatenate_dimension_d1_does_not_count_operands() -> None:
    """D-XLA-2."""
    assert xla.concatenate([CUBE], 2).shape == CUBE.shape
    assert xla.concatenate([CUBE], np.int64(2)).shape == CUBE.shape
    text = said(xla.concatenate, [FLOATS] * 3, 1)
    assert " dimension = 1\n operands0 : f32[3]\n help: name a dimension from 0 to 0\n" in text
    assert " dimension = 0.0 no integer\n" in said(xla.concatenate, [FLOATS], 0.0)


# --- Clamp -------------------------------------------------------------------------------------------------


def test_clamp_operand_d1_refuses_what_has_no_order() -> None:
    for name in COMPLEX:
        bound = held(name).type(1)
        assert rules_of(xla.clamp, ones(name, 3), bound, bound) == ["xla.clamp.operand.D1"]
    assert broken(xla.clamp, TEXT, "a", "b") == ["xla.clamp.operand.D1"]
    assert broken(xla.clamp, 1j, 0j, 2j) == ["xla.clamp.operand.D1"]


def test_clamp_min_d1_and_max_d1_refuse_bounds_of_another_type() -> None:
    for name in EVERY_TYPE:
        if name == "f32":
            continue
        other = ones(name, 3)
        way = broken if name == "real" else rules_of
        assert way(xla.clamp, FLOATS, other, F32(1)) == ["xla.clamp.min.D1"]
        assert way(xla.clamp, FLOATS, F32(1), other) == ["xla.clamp.max.D1"]
        assert way(xla.clamp, FLOATS, other, other) == ["xla.clamp.min.D1", "xla.clamp.max.D1"]
    assert broken(xla.clamp, FLOATS, 0.0, F32(1)) == ["xla.clamp.min.D1"]
    text = said(xla.clamp, np.ones(3, np.int32), np.int32(1), NAN)
    assert " max : f64[]\n operand : s32[3]\n" in text
    assert " help: give `max` the type s32; no operand is converted\n" in text


def test_clamp_min_d2_and_max_d2_refuse_other_shapes() -> None:
    for shape in ((1,), (2,), (3, 1), (1, 3), (0,)):
        other = np.ones(shape, F32)
        assert rules_of(xla.clamp, FLOATS, other, F32(1)) == ["xla.clamp.min.D2"]
        assert rules_of(xla.clamp, FLOATS, F32(1), other) == ["xla.clamp.max.D2"]
    assert rules_of(xla.clamp, F32(1), FLOATS, FLOATS) == ["xla.clamp.min.D2", "xla.clamp.max.D2"]
    text = said(xla.clamp, CUBE, FLOATS, F32(1))
    assert " min : f32[3]\n operand : f32[4,2,3]\n" in text
    assert " help: give `min` the shape of `operand`, or make it a scalar\n" in text


# --- ConvertElementType ------------------------------------------------------------------------------------


def test_convert_domain_d1_demands_one_of_two_words() -> None:
    # A tuple, a wrong type and a complex operand are refused in test_xla_convert: operand.D1 is
    # xla.convert_element_type.operand.D1, then xla.convert_element_type.new_element_type.D1 and
    # xla.convert_element_type.new_element_type.D2.
    for domain in ["exact", "", "IEEE", None, True, 1, b"real", ["real"], "\x1b", Silent()]:
        found = broken(xla.convert_element_type, FLOATS, "f16", domain=domain)
        assert found == ["xla.convert_element_type.domain.D1"]
    assert 'help: write "ieee" or "real"' in said(xla.convert_element_type, FLOATS, "f16", domain="\x1b[31m")


# --- Call --------------------------------------------------------------------------------------------------


def limit() -> xla.Computation:
    builder = xla.ComputationBuilder("limit")
    x, low = builder.parameter(0, "s32[3]", "x"), builder.parameter(1, "s32[]", "low")
    builder.clamp(x, low, builder.constant(np.int32(6)))
    return builder.build()


def calling(computation: Any, *shapes: str) -> list[str]:
    """What a call with arguments of these types breaks, both ways."""
    builder = xla.ComputationBuilder("caller")
    handles = [builder.parameter(k, shape) for k, shape in enumerate(shapes)]
    kinds = [xla.Shape(h.shape.element_type, h.shape.dimensions) for h in handles]
    found = broken(builder.call, computation, *handles)
    arguments = [ones(kind.element_type, *kind.dimensions) for kind in kinds]
    assert broken(xla.call, computation, *arguments) == found
    return found


def test_call_computation_d1_demands_a_computation_that_has_been_built() -> None:
    for no_computation in ["limit", None, 1, xla.ComputationBuilder("limit"), limit, NAN, Silent(), "\x1b"]:
        assert calling(no_computation, "s32[3]", "s32[]") == ["xla.call.computation.D1"]


def test_call_args_d1_demands_as_many_arguments_as_parameters() -> None:
    assert calling(limit()) == ["xla.call.args.D1"]
    assert calling(limit(), "s32[3]") == ["xla.call.args.D1"]
    assert calling(limit(), "s32[3]", "s32[]", "s32[]") == ["xla.call.args.D1"]
    text = said(xla.call, limit(), np.ones(3, np.int32))
    assert " args = 1 argument" in text
    assert " computation : limit(x: s32[3], low: s32[]) -> s32[3] 2 parameters\n" in text


def test_call_args_d2_demands_exact_types() -> None:
    for first, second in [
        *(("s32[4]", "s32[]"), ("s32[]", "s32[]"), ("s32[1,3]", "s32[]"), ("s32[3]", "s32[1]")),
        *(("s64[3]", "s32[]"), ("f32[3]", "s32[]"), ("s32[3]", "u32[]"), ("s32[]", "s32[3]")),
    ]:
        assert calling(limit(), first, second) == ["xla.call.args.D2"]
    assert calling(limit(), "s32[4]") == ["xla.call.args.D1", "xla.call.args.D2"]
    text = said(xla.call, limit(), np.ones(4, np.int32), np.int32(1))
    assert " args0 : s32[4]\n parameter x : s32[3]\n" in text
    assert " help: give `args0` the type s32[3]; no argument is converted\n" in text


# --- operands that are none --------------------------------------------------------------------------------

GOOD_CALLS: list[tuple[Callable[..., Any], list[Array]]] = [
    (lambda X: xla.broadcast(X, (2,)), [FLOATS]),
    (xla.clamp, [FLOATS, FLOATS, FLOATS]),
    (lambda X: xla.collapse(X, (0,)), [FLOATS]),
    (lambda *X: xla.concatenate(X, 0), [FLOATS, FLOATS]),
    (lambda X: xla.convert_element_type(X, "f16"), [FLOATS]),
    (lambda X, W: xla.conv(X, W, (), "SAME"), [np.ones((1, 1), F32)] * 2),
    (lambda X, W: xla.conv_with_general_padding(X, W, (), (), (), ()), [np.ones((1, 1), F32)] * 2),
]


@pytest.mark.parametrize(("function", "operands"), GOOD_CALLS)
def test_what_is_no_array_breaks_a_general_rule(function: Callable[..., Any], operands: list[Array]) -> None:
    assert isinstance(function(*operands), np.ndarray)
    for k in range(len(operands)):
        for odd, expected in [
            *((None, "general.R2"), ([1.0, 2.0], "general.R2"), (object(), "general.R2")),
            *((Sparse(), "general.R4"), (np.ma.masked_array([1.0]), "general.R3"), (b"1", "general.R2")),
            *((np.array([b"1"]), "general.R3"), (np.array([None]), "general.R3"), (2**64, "general.R3")),
        ]:
            found = broken(function, *[odd if j == k else X for j, X in enumerate(operands)])
            assert found[0] == expected
