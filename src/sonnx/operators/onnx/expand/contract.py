"""Expand: signature, types and shape rule; what is said of `shape` beyond its being a constant."""

from sonnx.model.dtype import DType
from sonnx.operators.rules.broadcasting import Shape, broadcast_shape, equal_ranks, largest_sizes, misfits
from sonnx.operators.rules.contracts import moving
from sonnx.operators.rules.lists import integers
from sonnx.operators.rules.operands import sizes
from sonnx.operators.rules.shapes import vector
from sonnx.operators.rules.wording import written
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Operand
from sonnx.vocabulary.rule import Broken, Rule, Shown

_INPUTS = {"input": "float[3,1]", "shape": "int64[3]"}
_GOOD = call("Expand", _INPUTS, constants={"shape": (2, 1, 6)})
_is_vector = vector("shape")


def _target(call: Call) -> Shape | None:
    """The asked-for shape, where it is known and a list of sizes."""
    if _is_vector(call) is not None or _sizes(call) is not None:
        return None
    return integers(call.constants.get("shape"))


def _output_shape(call: Call) -> Shape | None:
    given, target = sizes(call, "input"), _target(call)
    return None if given is None or target is None else broadcast_shape([given, target])


def _value(call: Call) -> str:
    return written(call.constants["shape"])


def _sizes(call: Call) -> Broken | None:
    values = integers(call.constants.get("shape", ()))
    if values is not None and all(size >= 0 for size in values):
        return None
    return Broken((Shown("shape", _value(call)),), "write sizes as integers from 0 up")


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


_AGREES = Rule(
    "expand.shape.C1",
    "The shape of `input` and `shape` must broadcast: on each axis a size is the larger of both, or 1.",
    "This is constraint C1 of Broadcast, which Expand makes explicit; 0 beside 1 fails it.",
    True,
    _agrees,
    failing=call("Expand", {**_INPUTS, "input": "float[2,1]"}, constants={"shape": (2, 3, 6)}),
    passing=_GOOD,
    ruling="D-BCAST-2",
)
_COUNTS = Rule(
    "expand.shape.D2",
    "The elements of `shape` must be integers from 0 up.",
    "A size counts elements.",
    False,
    _sizes,
    failing=call("Expand", _INPUTS, constants={"shape": (2, -1, 6)}),
    passing=_GOOD,
    ruling="D-ALL-3",
)

CONTRACT = moving(
    "Expand",
    versions=(13,),
    summary="Broadcasts one tensor to a given shape, explicitly in a graph.",
    inputs=[
        Operand("input", "X", "the tensor to be repeated"),
        Operand("shape", "S", "the shape to broadcast with", (DType.INT64,), constant=True),
    ],
    output=Operand("output", "Z", "the repeated tensor"),
    shape_of=_output_shape,
    good=_GOOD,
    too_large=call("Expand", {**_INPUTS, "shape": "int64[2]"}, constants={"shape": (3, 2**60)}),
    ruling="D-BCAST",
    more=[_AGREES, _COUNTS],
    words={
        "types of shape": {"reason": "A shape is a list of sizes."},
        "shape constant": {"identifier": "expand.shape.D3", "ruling": "D-ALL-3"},
        "size of output": {"identifier": "expand.shape.D4"},
        "shape of output": {
            "statement": "`output` must have the shape that `input` and `shape` broadcast to."
        },
    },
)
