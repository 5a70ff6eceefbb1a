"""Expand: signature, types, rules and shape rule."""

from collections.abc import Iterator, Mapping

from sonnx.model.call import Call, call
from sonnx.model.dtype import ALL, DType
from sonnx.model.operator import Contract, Operand
from sonnx.model.rule import Broken, Rule, Shown
from sonnx.model.tensor_type import TensorType
from sonnx.operators.onnx.broadcast.shapes import Shape, broadcast_shape, equal_ranks, largest_sizes, misfits
from sonnx.operators.shared.predicates import (
    addressable,
    declared_shape,
    declared_type,
    integers,
    known,
    show,
    sizes,
    written,
)

_GOOD = {"input": "float[3,1]", "shape": "int64[3]"}
_SHAPE = {"shape": (2, 1, 6)}


def output_types(call: Call) -> Mapping[str, TensorType]:
    """The output has the input's type and the shape that both shapes broadcast to."""
    return {"output": TensorType(call.inputs["input"].dtype, _output_shape(call))}


def _target(call: Call) -> Shape | None:
    """The asked-for shape, where it is known and a list of sizes."""
    if _vector(call) is not None or _sizes(call) is not None:
        return None
    return integers(call.constants.get("shape"))


def _output_shape(call: Call) -> Shape | None:
    given, target = sizes(call, "input"), _target(call)
    return None if given is None or target is None else broadcast_shape([given, target])


def _output_shapes(call: Call) -> Iterator[Shape]:
    if (shape := _output_shape(call)) is not None:
        yield shape


def _vector(call: Call) -> Broken | None:
    shape = known(call, "shape")
    rank = None if shape is None or shape.shape is None else len(shape.shape)
    if shape is None or (shape.dtype is DType.INT64 and rank in (None, 1)):
        return None
    return Broken(show(call, "shape"), "give `shape` as an int64 tensor of rank 1")


def _value(call: Call) -> str:
    return written(call.constants["shape"])


def _sizes(call: Call) -> Broken | None:
    values = integers(call.constants.get("shape", ()))
    if values is not None and all(size >= 0 for size in values):
        return None
    return Broken((Shown("shape", _value(call)),), "write sizes as integers from 0 up")


def _constant(call: Call) -> Broken | None:
    if "shape" in call.constants or known(call, "shape") is None or _vector(call) is not None:
        return None
    return Broken((Shown("shape", "not constant"),), "make `shape` a constant of the model")


def _agrees(call: Call) -> Broken | None:
    given, target = sizes(call, "input"), _target(call)
    if given is None or target is None or _output_shape(call) is not None:
        return None
    aligned = equal_ranks([given, target])
    largest = largest_sizes(aligned)
    return Broken(
        (
            Shown("input", str(call.inputs["input"]), misfits(aligned[0], largest)),
            Shown("shape", _value(call), misfits(aligned[1], largest)),
        ),
        "give each axis one size, or size 1 (counted from the last axis)",
    )


RULES = (
    Rule(
        "expand.shape.C1",
        "The shape of `input` and `shape` must broadcast: on each axis a size is the larger of both, or 1.",
        "This is constraint C1 of Broadcast, which Expand makes explicit; 0 beside 1 fails it.",
        True,
        _agrees,
        failing=call("Expand", {**_GOOD, "input": "float[2,1]"}, constants={"shape": (2, 3, 6)}),
        passing=call("Expand", _GOOD, constants=_SHAPE),
        ruling="D-BCAST-2",
    ),
    Rule(
        "expand.shape.D1",
        "`shape` must be an int64 tensor of rank 1.",
        "A shape is a list of sizes.",
        False,
        _vector,
        failing=call("Expand", {**_GOOD, "shape": "int32[3]"}, constants=_SHAPE),
        passing=call("Expand", _GOOD, constants=_SHAPE),
        ruling="D-ALL-3",
    ),
    Rule(
        "expand.shape.D2",
        "The elements of `shape` must be integers from 0 up.",
        "A size counts elements.",
        False,
        _sizes,
        failing=call("Expand", _GOOD, constants={"shape": (2, -1, 6)}),
        passing=call("Expand", _GOOD, constants=_SHAPE),
        ruling="D-ALL-3",
    ),
    Rule(
        "expand.shape.D3",
        "The elements of `shape` must be constants.",
        "The output's shape must be known before the model runs.",
        True,
        _constant,
        failing=call("Expand", _GOOD),
        passing=call("Expand", _GOOD, constants=_SHAPE),
        ruling="D-ALL-3",
    ),
    Rule(
        "expand.shape.D4",
        "The output must have fewer than 2^31 elements (sizes 0 not counted) and at most 64 axes.",
        "Indices of generated code are 32 bits wide, and no array here has more axes.",
        True,
        addressable(_output_shapes, "input"),
        failing=call("Expand", {**_GOOD, "shape": "int64[2]"}, constants={"shape": (3, 2**60)}),
        passing=call("Expand", _GOOD, constants=_SHAPE),
        ruling="D-ALL-3",
    ),
    Rule(
        "expand.output.D1",
        "`output` must have the shape that `input` and `shape` broadcast to.",
        "A declared shape that differs would make later operators read other elements.",
        False,
        declared_shape("output", _output_shape, "input"),
        failing=call("Expand", _GOOD, outputs={"output": "float[2,1,6]"}, constants=_SHAPE),
        passing=call("Expand", _GOOD, outputs={"output": "float[2,3,6]"}, constants=_SHAPE),
        ruling="D-ALL-3",
    ),
    Rule(
        "expand.output.D2",
        "`output` must have the element type of `input`.",
        "Elements are copied bit for bit.",
        False,
        declared_type("output", "input"),
        failing=call("Expand", _GOOD, outputs={"output": "double[2,3,6]"}, constants=_SHAPE),
        passing=call("Expand", _GOOD, outputs={"output": "float[2,3,6]"}, constants=_SHAPE),
        ruling="D-ALL-4",
    ),
)

CONTRACT = Contract(
    name="Expand",
    versions=(13,),
    summary="Broadcasts one tensor to a given shape, explicitly in a graph.",
    inputs=(
        Operand("input", "X", "the tensor to be repeated", ALL),
        Operand("shape", "S", "the shape to broadcast with", (DType.INT64,), constant=True),
    ),
    outputs=(Operand("output", "Z", "the repeated tensor", ALL),),
    attributes=(),
    rules=RULES,
    output_types=output_types,
)
