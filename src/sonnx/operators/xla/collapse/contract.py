"""Collapse: signature, types and shape rule (D-XLA-6)."""

from sonnx.operators.rules.contracts import moving
from sonnx.operators.shared.xla_types import OPERAND_WORDS, OUTPUT_WORDS, TYPES
from sonnx.operators.xla.collapse.definition import collapsed_shape
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.integers import Axes
from sonnx.vocabulary.operator import Attribute, Operand


def _example(*dimensions: int, operand: str = "f32[4,2,3]") -> Call:
    return call("xla.Collapse", {"operand": operand}, {"dimensions": dimensions})


CONTRACT = moving(
    "Collapse",
    domain="xla",
    versions=(),
    summary="Makes neighbouring dimensions of an array into one.",
    inputs=[Operand("operand", "X", "the array")],
    output=Operand("output", "Y", "the same elements with fewer dimensions"),
    types=TYPES,
    attributes=[
        Attribute(
            "dimensions",
            "integers",
            "neighbouring dimensions, from low to high",
            holds=Axes("operand", "neighbours", least=1),
        )
    ],
    shape=collapsed_shape,
    good=_example(0, 1),
    too_large=_example(1, 2, operand="f32[0,65536,65536]"),
    ruling="D-XLA-6",
    words={
        **OPERAND_WORDS,
        "list of dimensions": {"reason": "What replaces no dimension has no place."},
        "range of dimensions": {
            "reason": "Only dimensions that are there can be collapsed; they are not counted from the end."
        },
        "size of output": {"identifier": "xla.collapse.dimensions.D4", "restricts_onnx": False},
        **OUTPUT_WORDS,
    },
)
