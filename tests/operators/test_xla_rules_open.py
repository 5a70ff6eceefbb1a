"""What only a model says of the XLA operations: declared outputs, and sizes that are open."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.loops import for_each

from sonnx import xla
from sonnx.check.calls import check_call
from sonnx.model.tensor_type import TensorType
from sonnx.operators.catalogue import XLA_OPERATORS, operator
from sonnx.report.text import findings_text
from sonnx.vocabulary.call import call
from sonnx.vocabulary.operator import Operator

pytestmark = pytest.mark.measured

RIGHT: Mapping[str, Any] = {
    "window_strides": (1, 1),
    "padding": ((0, 0), (0, 0)),
    "lhs_dilation": (1, 1),
    "rhs_dilation": (1, 1),
}


def limit() -> xla.Computation:
    builder = xla.ComputationBuilder("limit")
    x, low = builder.parameter(0, "s32[3]", "x"), builder.parameter(1, "s32[]", "low")
    builder.clamp(x, low, builder.constant(np.int32(6)))
    return builder.build()


FLAT = {"operand": "f32[4,2,3]"}
JOINED = {"operands0": "f32[3,2]", "operands1": "f32[1,2]"}
IMAGE = {"lhs": "f32[1,2,5,5]", "rhs": "f32[3,2,3,3]"}
CLAMPED = {"operand": "f32[2,3]", "min": "f32[]", "max": "f32[2,3]"}
SHORT = {"window_strides": (1, 1), "padding": "VALID", "accumulate": "separate"}
LONG = {**RIGHT, "accumulate": "separate"}
TO_HALF = {"new_element_type": "f16", "domain": "ieee"}
CALLEE = {"computation": limit().callee}
ARGUMENTS = {"args0": "s32[3]", "args1": "s32[]"}
Row = tuple[str, Mapping[str, str], Mapping[str, Any], str, list[str]]
DECLARED: list[Row] = [
    ("xla.Broadcast", FLAT, {"broadcast_sizes": (2,)}, "f32[2,4,2,3]", []),
    ("xla.Broadcast", FLAT, {"broadcast_sizes": (2,)}, "f32[4,2,3,2]", ["xla.broadcast.output.D1"]),
    ("xla.Broadcast", FLAT, {"broadcast_sizes": (2,)}, "f64[2,4,2,3]", ["xla.broadcast.output.D2"]),
    ("xla.Clamp", CLAMPED, {}, "f32[2,3]", []),
    ("xla.Clamp", CLAMPED, {}, "f32[6]", ["xla.clamp.output.D1"]),
    ("xla.Clamp", CLAMPED, {}, "bf16[2,3]", ["xla.clamp.output.D2"]),
    ("xla.Collapse", FLAT, {"dimensions": (1, 2)}, "f32[4,6]", []),
    ("xla.Collapse", FLAT, {"dimensions": (1, 2)}, "f32[8,3]", ["xla.collapse.output.D1"]),
    ("xla.Collapse", FLAT, {"dimensions": (1, 2)}, "s32[4,6]", ["xla.collapse.output.D2"]),
    ("xla.Concatenate", JOINED, {"dimension": 0}, "f32[4,2]", []),
    ("xla.Concatenate", JOINED, {"dimension": 0}, "f32[3,2]", ["xla.concatenate.output.D1"]),
    ("xla.Concatenate", JOINED, {"dimension": 0}, "f16[4,2]", ["xla.concatenate.output.D2"]),
    ("xla.ConvertElementType", FLAT, TO_HALF, "f16[4,2,3]", []),
    ("xla.ConvertElementType", FLAT, TO_HALF, "f16[24]", ["xla.convert_element_type.output.D1"]),
    ("xla.ConvertElementType", FLAT, TO_HALF, "f32[4,2,3]", ["xla.convert_element_type.output.D2"]),
    ("xla.Conv", IMAGE, SHORT, "f32[1,3,3,3]", []),
    ("xla.Conv", IMAGE, SHORT, "f32[1,3,5,5]", ["xla.conv.output.D1"]),
    ("xla.Conv", IMAGE, SHORT, "f64[1,3,3,3]", ["xla.conv.output.D2"]),
    ("xla.ConvWithGeneralPadding", IMAGE, LONG, "f32[1,3,3,3]", []),
    (
        "xla.ConvWithGeneralPadding",
        IMAGE,
        LONG,
        "f32[1,3,3,4]",
        ["xla.conv_with_general_padding.output.D1"],
    ),
    (
        "xla.ConvWithGeneralPadding",
        IMAGE,
        LONG,
        "s32[1,3,3,3]",
        ["xla.conv_with_general_padding.output.D2"],
    ),
    ("xla.Call", ARGUMENTS, CALLEE, "s32[3]", []),
    ("xla.Call", ARGUMENTS, CALLEE, "s32[4]", ["xla.call.output.D1"]),
    ("xla.Call", ARGUMENTS, CALLEE, "s64[3]", ["xla.call.output.D1"]),
]


@for_each(("name", "inputs", "attributes", "output", "expected"), DECLARED)
def test_a_declared_output_must_be_what_follows(
    name: str, inputs: Mapping[str, str], attributes: Mapping[str, Any], output: str, expected: list[str]
) -> None:
    found = check_call(operator(name), call(name, inputs, attributes, {"output": output}))
    assert [finding.rule for finding in found] == expected


# Operands of which something is open: what is known is judged, and the shape follows as far as it does.
OPEN: list[Row] = [
    ("xla.Broadcast", {"operand": "f32[n,3]"}, {"broadcast_sizes": (2,)}, "f32[2,?,3]", []),
    (
        "xla.Broadcast",
        {"operand": "f32[?]"},
        {"broadcast_sizes": -1},
        "f32",
        ["xla.broadcast.broadcast_sizes.D1"],
    ),
    ("xla.Clamp", {**CLAMPED, "operand": "f32[n,3]"}, {}, "f32[n,3]", []),
    ("xla.Clamp", {**CLAMPED, "operand": "f32[n,4]"}, {}, "f32[n,4]", ["xla.clamp.max.D2"]),
    ("xla.Clamp", {**CLAMPED, "max": "f32[?,?]"}, {}, "f32[2,3]", []),
    ("xla.Clamp", {**CLAMPED, "max": "f32[?]"}, {}, "f32[2,3]", ["xla.clamp.max.D2"]),
    ("xla.Collapse", {"operand": "f32[n,2,3]"}, {"dimensions": (1, 2)}, "f32[?,6]", []),
    ("xla.Collapse", {"operand": "f32[n,2,3]"}, {"dimensions": (0, 1)}, "f32[?,3]", []),
    (
        "xla.Collapse",
        {"operand": "f32[n,2,3]"},
        {"dimensions": (0, 2)},
        "f32",
        ["xla.collapse.dimensions.D3"],
    ),
    ("xla.Collapse", {"operand": "f32[n]"}, {"dimensions": (1,)}, "f32", ["xla.collapse.dimensions.D2"]),
    ("xla.Concatenate", {"operands0": "f32[n,2]", "operands1": "f32[1,2]"}, {"dimension": 0}, "f32", []),
    (
        "xla.Concatenate",
        {"operands0": "f32[n,2]", "operands1": "f32[?,3]"},
        {"dimension": 0},
        "f32",
        ["xla.concatenate.operands.D6"],
    ),
    (
        "xla.Concatenate",
        {"operands0": "f32[n,2]", "operands1": "f32[?]"},
        {"dimension": 0},
        "f32",
        ["xla.concatenate.operands.D5"],
    ),
    (
        "xla.Concatenate",
        {"operands0": "f32[n]", "operands1": "f32[?]"},
        {"dimension": 1},
        "f32",
        ["xla.concatenate.dimension.D1"],
    ),
    ("xla.ConvertElementType", {"operand": "f32[n,3]"}, TO_HALF, "f16[n,3]", []),
    ("xla.Conv", {**IMAGE, "lhs": "f32[n,2,5,5]"}, SHORT, "f32[n,3,3,3]", []),
    ("xla.Conv", {**IMAGE, "lhs": "f32[n,?,5,5]"}, SHORT, "f32[n,3,3,3]", []),
    ("xla.Conv", {**IMAGE, "lhs": "f32[n,4,5,5]"}, SHORT, "f32[n,3,3,3]", ["xla.conv.rhs.D3"]),
    ("xla.Conv", {**IMAGE, "lhs": "f32[n,2,h,5]"}, SHORT, "f32", []),
    ("xla.Conv", {**IMAGE, "rhs": "f32[?,2,3,3]"}, SHORT, "f32", []),
    ("xla.Conv", {**IMAGE, "rhs": "f32[?,2,0,?]"}, SHORT, "f32", ["xla.conv.rhs.D4"]),
    ("xla.ConvWithGeneralPadding", {**IMAGE, "lhs": "f32[?,?,?,?]"}, LONG, "f32", []),
    (
        "xla.ConvWithGeneralPadding",
        {**IMAGE, "lhs": "f32[?,?,?]"},
        LONG,
        "f32",
        [
            *("xla.conv_with_general_padding.rhs.D2", "xla.conv_with_general_padding.window_strides.D1"),
            *("xla.conv_with_general_padding.padding.D1", "xla.conv_with_general_padding.lhs_dilation.D1"),
            "xla.conv_with_general_padding.rhs_dilation.D1",
        ],
    ),
    ("xla.Call", {**ARGUMENTS, "args0": "s32[n]"}, CALLEE, "s32[3]", []),
    ("xla.Call", {**ARGUMENTS, "args0": "s32[n,3]"}, CALLEE, "s32[3]", ["xla.call.args.D2"]),
    ("xla.Call", {**ARGUMENTS, "args0": "f32[n]"}, CALLEE, "s32[3]", ["xla.call.args.D2"]),
]


@for_each(("name", "inputs", "attributes", "output", "expected"), OPEN)
def test_what_is_open_leaves_the_rest_to_be_judged(
    name: str, inputs: Mapping[str, str], attributes: Mapping[str, Any], output: str, expected: list[str]
) -> None:
    judged = call(name, inputs, attributes)
    found = [finding.rule for finding in check_call(operator(name), judged)]
    assert found == ["general.R2", *expected]
    follows = operator(name).contract.output_types(judged)["output"]
    sizes = (
        "" if follows.shape is None else f"[{','.join('?' if s is None else str(s) for s in follows.shape)}]"
    )
    assert f"{follows.spell(follows.dtype) if follows.dtype else '?'}{sizes}" == output


@pytest.mark.parametrize("operator", XLA_OPERATORS, ids=lambda op: op.name)
def test_rules_answer_whatever_is_unknown(operator: Operator) -> None:
    good = operator.contract.rules[0].passing
    vague: list[Callable[[TensorType], TensorType]] = [
        lambda kind: replace(kind, dtype=None),
        lambda kind: replace(kind, shape=None),
        lambda kind: replace(kind, dtype=None, shape=None),
        lambda kind: replace(kind, shape=("n",) * len(kind.shape or ())),
        lambda kind: replace(kind, shape=(None,) * len(kind.shape or ())),
        lambda kind: replace(kind, shape=(-1, *(kind.shape or ())[1:])),
        lambda kind: replace(kind, shape=("n",)),
        lambda kind: replace(kind, shape=()),
        lambda kind: replace(kind, sparse=True),
        lambda kind: TensorType(None, None, foreign="Python tuple"),
    ]
    for operand in good.inputs:
        for change in vague:
            inputs = {**good.inputs, operand: change(good.inputs[operand])}
            for outputs in ({}, {"output": inputs[operand]}, {"output": change(good.inputs[operand])}):
                for attributes in (good.attributes, dict.fromkeys(good.attributes)):
                    asked = replace(good, inputs=inputs, outputs=outputs, attributes=attributes)
                    lines = findings_text(check_call(operator, asked)).splitlines()
                    assert all(line.isprintable() for line in lines)
                    assert "output" in operator.contract.output_types(asked)
