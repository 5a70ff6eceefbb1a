"""Where: signature, types, rules and shape rule."""

from collections.abc import Mapping

from sonnx.model.call import Call, call
from sonnx.model.dtype import ALL, DType
from sonnx.model.operator import Contract, Operand
from sonnx.model.rule import Broken, Rule, Shown
from sonnx.model.tensor_type import TensorType
from sonnx.operators.onnx.broadcast.shapes import broadcast_shape
from sonnx.operators.shared.predicates import (
    Extents,
    declared_shape,
    declared_type,
    extents,
    known,
    same_type,
    show,
    sizes,
    written,
)

_NAMES = ("condition", "X", "Y")
_GOOD = {"condition": "bool[2,3]", "X": "float[2,3]", "Y": "float[2,3]"}


def output_types(call: Call) -> Mapping[str, TensorType]:
    """The output has the one type of X and Y and the one shape of all three inputs."""
    X, Y = call.inputs["X"], call.inputs["Y"]
    shape = None if _shape(call) is None else X.shape
    return {"output": TensorType(X.dtype if X.dtype is Y.dtype else None, shape)}


def _shape(call: Call) -> Extents | None:
    """The shape of the inputs where all three have it; a size of one name is one size."""
    shapes = [known(call, name) for name in _NAMES]
    written_shapes = {None if kind is None else kind.shape for kind in shapes}
    one = written_shapes.pop() if len(written_shapes) == 1 else None
    return None if one is None or None in one else extents(call, "X")


def _shapes(call: Call) -> list[tuple[int, ...]]:
    return [shape for name in _NAMES if (shape := sizes(call, name)) is not None]


def _one_shape(call: Call) -> Broken | None:
    shapes = _shapes(call)
    if len(set(shapes)) <= 1 or broadcast_shape(shapes) is not None:
        return None  # where.R4 speaks of shapes that broadcasting would bring together
    return Broken(show(call, *_NAMES), "give all three inputs one shape")


def _no_broadcasting(call: Call) -> Broken | None:
    shapes = _shapes(call)
    common = broadcast_shape(shapes)
    if len(set(shapes)) <= 1 or common is None:
        return None
    # Of a shape that is not known nobody can say what it broadcasts to.
    target = written(common) if len(shapes) == len(_NAMES) else "one shape"
    return Broken(show(call, *_NAMES), f"expand every input to {target} first, with Expand")


def _dense(call: Call) -> Broken | None:
    tensors = [*call.inputs.items(), *call.outputs.items()]
    sparse = tuple(Shown(name, str(tensor)) for name, tensor in tensors if tensor.sparse)
    return Broken(sparse, "make the tensor dense") if sparse else None


def _boolean(call: Call) -> Broken | None:
    condition = known(call, "condition")
    if condition is None or condition.dtype is DType.BOOL:
        return None
    return Broken(show(call, "condition"), "give a bool tensor, for example the result of a comparison")


RULES = (
    Rule(
        "where.R1",
        "No tensor may be sparse.",
        "What a sparse tensor leaves out has no element to choose.",
        True,
        _dense,
        failing=call("Where", {**_GOOD, "X": "sparse float[2,3]"}),
        passing=call("Where", _GOOD),
        ruling="D-ALL-3",
    ),
    Rule(
        "where.R2",
        "`condition`, `X` and `Y` must have one shape.",
        "Each output element is decided by the elements at the same place.",
        True,
        _one_shape,
        failing=call("Where", {**_GOOD, "Y": "float[4,3]"}),
        passing=call("Where", _GOOD),
        also=("where.condition.C1", "where.X.C1", "where.Y.C1"),
        ruling="D-WHERE-1",
    ),
    Rule(
        "where.R3",
        "`X` and `Y` must have one element type.",
        "The output takes elements from both; nothing is converted.",
        False,
        same_type("Y", "X"),
        failing=call("Where", {**_GOOD, "Y": "double[2,3]"}),
        passing=call("Where", _GOOD),
        ruling="D-WHERE-1",
    ),
    Rule(
        "where.R4",
        "Shapes must be equal even where they could be broadcast to one another.",
        "Broadcasting inside the operator hides work whose amount depends on the shapes; Expand shows it.",
        True,
        _no_broadcasting,
        failing=call("Where", {**_GOOD, "condition": "bool[1,3]"}),
        passing=call("Where", _GOOD),
        ruling="D-WHERE-1",
    ),
    Rule(
        "where.condition.D1",
        "`condition` must be of type bool.",
        "A number is no truth value; a comparison makes one of it.",
        False,
        _boolean,
        failing=call("Where", {**_GOOD, "condition": "uint8[2,3]"}),
        passing=call("Where", _GOOD),
        ruling="D-WHERE-1",
    ),
    Rule(
        "where.output.C1",
        "`output` must have the shape of the inputs.",
        "Each place of the inputs gives one element of the output.",
        False,
        declared_shape("output", _shape, *_NAMES),
        failing=call("Where", _GOOD, outputs={"output": "float[6]"}),
        passing=call("Where", _GOOD, outputs={"output": "float[2,3]"}),
    ),
    Rule(
        "where.output.D1",
        "`output` must have the element type of `X` and `Y`.",
        "Chosen elements are copied bit for bit.",
        False,
        declared_type("output", "X"),
        failing=call("Where", _GOOD, outputs={"output": "double[2,3]"}),
        passing=call("Where", _GOOD, outputs={"output": "float[2,3]"}),
        ruling="D-WHERE-2",
    ),
)

CONTRACT = Contract(
    name="Where",
    versions=(9, 16),
    summary="Takes each element from one of two tensors, as a condition says.",
    inputs=(
        Operand("condition", "C", "which tensor each element comes from", (DType.BOOL,)),
        Operand("X", "X", "elements chosen where the condition is true", ALL),
        Operand("Y", "Y", "elements chosen where the condition is false", ALL),
    ),
    outputs=(Operand("output", "Z", "the chosen elements", ALL),),
    attributes=(),
    rules=RULES,
    output_types=output_types,
)
