"""Where as ONNX allows it made explicit: broadcasting done by Expand."""

from collections.abc import Sequence

from sonnx.model.call import Call
from sonnx.model.operator import Amendment, ExpandOperand
from sonnx.operators.onnx.broadcast.shapes import broadcast_shape
from sonnx.operators.shared.predicates import sizes

_NAMES = ("condition", "X", "Y")


def amend(call: Call) -> Sequence[Amendment]:
    """Expand every input that has not yet the shape to which all three broadcast."""
    shapes = {name: shape for name in _NAMES if (shape := sizes(call, name)) is not None}
    common = broadcast_shape(list(shapes.values())) if len(shapes) == len(_NAMES) else None
    if common is None:
        return ()
    return tuple(
        ExpandOperand(name, common, "broadcasting inside Where made visible", "where.R4")
        for name, shape in shapes.items()
        if shape != common
    )
