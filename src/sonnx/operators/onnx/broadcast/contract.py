"""Broadcast: signature, types, rules and shape rule."""

from collections.abc import Iterator, Mapping

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules.broadcasting import Shape, broadcast_shape, disagreeing
from sonnx.operators.rules.limits import addressable
from sonnx.operators.rules.operands import known, sizes
from sonnx.operators.rules.wording import show
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Contract, Operand
from sonnx.vocabulary.rule import Broken, Rule, Shown

TYPES = (DType.REAL, *IEEE, *INTEGERS, DType.STRING, DType.BOOL)

_GOOD = {"X0": "float[3]", "X1": "float[2,1]"}


def output_types(call: Call) -> Mapping[str, TensorType]:
    """Every output has the type of its own input and the common shape."""
    shape = _common(call)
    return {f"Z{name[1:]}": TensorType(given.dtype, shape) for name, given in call.inputs.items()}


def _common(call: Call) -> Shape | None:
    shapes = [sizes(call, name) for name in call.inputs]
    return broadcast_shape([shape for shape in shapes if shape is not None])


def _common_shapes(call: Call) -> Iterator[Shape]:
    if (shape := _common(call)) is not None:
        yield shape


def _sizes_agree(call: Call) -> Broken | None:
    shapes = {name: shape for name in call.inputs if (shape := sizes(call, name)) is not None}
    return disagreeing(shapes, {name: str(call.inputs[name]) for name in shapes})


def _some_tensor(call: Call) -> Broken | None:
    if call.inputs:
        return None
    return Broken((Shown("tensors", str(len(call.inputs))),), "give at least one tensor")


def _types(call: Call) -> Broken | None:
    bad = [name for name in call.inputs if (t := known(call, name)) is not None and t.dtype not in TYPES]
    return Broken(show(call, *bad), f"give tensors of the types {', '.join(TYPES)}") if bad else None


RULES = (
    Rule(
        "broadcast.C1",
        "After ranks are equalised, each size must be the largest on its axis, or 1.",
        "Only a single element can be repeated without choosing which one.",
        True,
        _sizes_agree,
        failing=call("Broadcast", {"X0": "float[1]", "X1": "float[0]"}),
        passing=call("Broadcast", _GOOD),
        ruling="D-BCAST-2",
    ),
    Rule(
        "broadcast.D1",
        "There must be at least one tensor.",
        "Without a tensor there is no largest rank.",
        False,
        _some_tensor,
        failing=call("Broadcast", {}),
        passing=call("Broadcast", {"X0": "float[3]"}),
        ruling="D-BCAST-1",
    ),
    Rule(
        "broadcast.D2",
        "Tensors must be real, float16, float, double, integer, string or bool.",
        "These are the types for which the source documents define the functionality.",
        True,
        _types,
        failing=call("Broadcast", {**_GOOD, "X1": "complex64[2,1]"}),
        passing=call("Broadcast", {"X0": "string[3]", "X1": "bool[2,1]"}),
        ruling="D-BCAST-1",
    ),
    Rule(
        "broadcast.D3",
        "The common shape must have fewer than 2^31 elements (sizes 0 not counted) and at most 64 axes.",
        "Indices of generated code are 32 bits wide, and no array here has more axes.",
        True,
        addressable(_common_shapes),
        failing=call("Broadcast", {"X0": "float[1073741824,1]", "X1": "float[1073741824]"}),
        passing=call("Broadcast", _GOOD),
        ruling="D-ALL-3",
    ),
)

CONTRACT = Contract(
    name="Broadcast",
    versions=(),
    summary="Repeats tensors until all have one shape.",
    inputs=(Operand("X", "X", "the tensors X0, X1, ...", TYPES, variadic=True),),
    outputs=(
        Operand(
            "Z",
            "Z",
            "the tensors Z0, Z1, ... of one shape, each of its input's type",
            TYPES,
            variadic=True,
        ),
    ),
    attributes=(),
    rules=RULES,
    output_types=output_types,
    ruling="D-BCAST",
)
