"""Expand: signature, types and shape rule; what is said of `shape` beyond its being a constant."""

from sonnx.model.dtype import DType
from sonnx.operators.rules.broadcasting import Shape, broadcast_shape, disagreeing
from sonnx.operators.rules.contracts import moving
from sonnx.operators.rules.lists import integers
from sonnx.operators.rules.operands import Extents, sizes, static
from sonnx.operators.rules.shapes import vector
from sonnx.operators.rules.wording import written
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.integers import Sizes
from sonnx.vocabulary.operator import Operand
from sonnx.vocabulary.rule import Broken, Rule

_INPUTS = {"input": "float[3,1]", "shape": "int64[3]"}
_GOOD = call("Expand", _INPUTS, constants={"shape": (2, 1, 6)})
_is_vector = vector("shape")


def _output_shape(input: Extents, shape: Shape) -> Shape | None:
    given = static(input)
    return None if given is None else broadcast_shape([given, shape])


def _agrees(call: Call) -> Broken | None:
    given, shape = sizes(call, "input"), integers(call.constants.get("shape"))
    # What is no vector, and sizes below 0, have rules of their own.
    if given is None or shape is None or _is_vector(call) or min(shape, default=0) < 0:
        return None
    shown = {"input": str(call.inputs["input"]), "shape": written(shape)}
    return disagreeing({"input": given, "shape": shape}, shown)


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

CONTRACT = moving(
    "Expand",
    versions=(13,),
    summary="Broadcasts one tensor to a given shape, explicitly in a graph.",
    inputs=[
        Operand("input", "X", "the tensor to be repeated"),
        Operand("shape", "S", "the shape to broadcast with", (DType.INT64,), constant=True, holds=Sizes()),
    ],
    output=Operand("output", "Z", "the repeated tensor"),
    shape=_output_shape,
    good=_GOOD,
    too_large=call("Expand", {**_INPUTS, "shape": "int64[2]"}, constants={"shape": (3, 2**60)}),
    ruling="D-BCAST",
    oldest=8,
    more=[_AGREES],
    words={
        "types of shape": {"reason": "A shape is a list of sizes."},
        "shape constant": {"identifier": "expand.shape.D3", "ruling": "D-ALL-3"},
        "sizes of shape": {"identifier": "expand.shape.D2", "ruling": "D-ALL-3"},
        "size of output": {"identifier": "expand.shape.D4"},
        "shape of output": {
            "statement": "`output` must have the shape that `input` and `shape` broadcast to."
        },
    },
)
