"""Where: signature and types; most of its rules follow from them."""

from sonnx.model.dtype import ALL, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Where",
    versions=(9, 16),
    summary="Takes each element from one of two tensors, as a condition says.",
    inputs=[
        Operand("condition", "C", "which tensor each element comes from", (DType.BOOL,)),
        Operand("X", "X", "elements chosen where the condition is true"),
        Operand("Y", "Y", "elements chosen where the condition is false"),
    ],
    output=Operand("output", "Z", "the chosen elements"),
    types=ALL,
    added={16: (DType.BFLOAT16,)},
    ruling="D-WHERE",
    uses_arithmetic=False,
    dense=True,
    words={
        "dense": {
            "identifier": "where.R1",
            "reason": "What a sparse tensor leaves out has no element to choose.",
        },
        "one shape": {
            "identifier": "where.R2",
            "reason": "Each output element is decided by the elements at the same place.",
            "restricts_onnx": True,
            "also": ("where.condition.C1", "where.X.C1", "where.Y.C1"),
            "ruling": "D-WHERE-1",
        },
        "type of Y": {
            "identifier": "where.R3",
            "statement": "`X` and `Y` must have one element type.",
            "reason": "The output takes elements from both; nothing is converted.",
            "ruling": "D-WHERE-1",
        },
        "no broadcasting": {"identifier": "where.R4", "ruling": "D-WHERE-1"},
        "types of condition": {
            "reason": "A number is no truth value; a comparison makes one of it.",
            "restricts_onnx": False,
            "ruling": "D-WHERE-1",
        },
        "shape of output": {"identifier": "where.output.C1", "ruling": ""},
        "type of output": {
            "identifier": "where.output.D1",
            "statement": "`output` must have the element type of `X` and `Y`.",
            "reason": "Chosen elements are copied bit for bit.",
            "ruling": "D-WHERE-2",
        },
    },
)
