"""Clip: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import Words, elementwise
from sonnx.vocabulary.operator import End, Operand

# What the attributes of version 6 stand for where they are absent, whatever the type of the tensor.
_LARGEST_FLOAT = (2 - 2.0**-23) * 2.0**127


def _bound(name: str, symbol: str, text: str, end: End) -> Operand:
    return Operand(name, symbol, text, form="scalar", optional_in_onnx=True, default_in_onnx=end)


def _bound_words(bound: str) -> Words:
    """The rules are the same for both bounds; each bound has its own identifiers."""
    return {
        f"type of {bound}": {
            "identifier": f"clip.{bound}.C1",
            "reason": "A comparison between types would need a conversion, and conversions may round.",
            "also": ("clip.input.C2",),
            "ruling": "D-CLIP-4",
        },
        f"{bound} given": {"identifier": f"clip.{bound}.D1", "ruling": "D-CLIP-4"},
        f"shape of {bound}": {
            "identifier": f"clip.{bound}.D2",
            "reason": "One bound serves all elements; a tensor of bounds would need broadcasting.",
            "ruling": "D-CLIP-4",
        },
    }


CONTRACT = elementwise(
    "Clip",
    versions=(13,),
    summary="Limits every element of a tensor to the interval between two bounds.",
    inputs=[
        Operand("input", "X", "the tensor to be limited"),
        _bound("min", "L", "the lower bound, a scalar", "lowest"),
        _bound("max", "M", "the upper bound, a scalar", "highest"),
    ],
    output=Operand("output", "Y", "the limited tensor"),
    types=(DType.REAL, *IEEE, *INTEGERS),
    ruling="D-CLIP",
    formerly={6: {"min": -_LARGEST_FLOAT, "max": _LARGEST_FLOAT}},
    words={
        "types of input": {
            "reason": "bfloat16 is no IEEE 754 interchange format; "
            "strings, booleans and complex numbers have no order.",
            "ruling": "D-CLIP-3",
        },
        **_bound_words("min"),
        **_bound_words("max"),
        "shape of output": {
            "identifier": "clip.output.C1",
            "reason": "Every element of the input gives one element of the output.",
            "also": ("clip.input.C1",),
            "ruling": "",
        },
        "type of output": {
            "identifier": "clip.output.C2",
            "reason": "Every output element is an element of the input or a bound, unchanged.",
            "also": ("clip.input.C2",),
            "ruling": "",
        },
    },
)
