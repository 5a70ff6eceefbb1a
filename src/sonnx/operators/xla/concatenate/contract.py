"""Concatenate: signature, types and shape rule (D-XLA-2)."""

from sonnx.operators.rules.contracts import Words, moving
from sonnx.operators.rules.lists import is_integer
from sonnx.operators.rules.operands import Extents, extents, static
from sonnx.operators.rules.wording import show, unlike
from sonnx.operators.shared.xla_types import OUTPUT_WORDS, TYPES
from sonnx.operators.xla.concatenate.definition import joined_shape
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.integers import Axes
from sonnx.vocabulary.operator import Attribute, Operand
from sonnx.vocabulary.rule import Broken, Rule, Shown

_NAME = "xla.Concatenate"
_GOOD = {"operands0": "f32[3,2]", "operands1": "f32[1,2]"}
_DIMENSION = {"dimension": 0}


def _output_shape(*operands: Extents, dimension: int) -> Extents | None:
    """Along the dimension the sizes add up; nothing is said where one is open."""
    whole = [shape for each in operands if (shape := static(each)) is not None]
    return joined_shape(whole, dimension) if len(whole) == len(operands) else None


def _sizes_agree(call: Call) -> Broken | None:
    dimension = call.attributes.get("dimension")
    found = {name: shape for name in call.inputs if (shape := extents(call, name))}
    ranks = {len(shape) for shape in found.values()}
    # Ranks that differ, and a dimension that is none, have rules of their own.
    if len(ranks) != 1 or not is_integer(dimension) or dimension not in range(*ranks):
        return None
    for axis in range(*ranks):
        differing = unlike({name: shape[axis] for name, shape in found.items() if shape[axis] is not None})
        if axis != dimension and differing:
            values = (*show(call, *differing), Shown("dimension", str(dimension), f"sizes differ at {axis}"))
            return Broken(values, "give the operands equal sizes at every dimension but the joined one")
    return None


_AGREE = Rule(
    "xla.concatenate.operands.D6",
    "The operands must have equal sizes at every dimension but the joined one.",
    "Otherwise the result would have rows of unequal length.",
    False,
    _sizes_agree,
    failing=call(_NAME, {**_GOOD, "operands1": "f32[1,3]"}, _DIMENSION),
    passing=call(_NAME, _GOOD, _DIMENSION),
    ruling="D-XLA-2",
)
_WORDS: Words = {
    "number of operands": {
        "identifier": "xla.concatenate.operands.D1",
        "statement": "There must be at least one operand.",
    },
    "types of operands": {
        "identifier": "xla.concatenate.operands.D2",
        "statement": "Every operand must be an array of one of XLA's element types, or of reals.",
        "reason": "XLA has no strings.",
        "restricts_onnx": False,
        "ruling": "D-XLA-6",
    },
    "type of operands": {
        "identifier": "xla.concatenate.operands.D3",
        "statement": "All operands must have one element type.",
        "reason": "Elements are moved, bit for bit; a conversion must be somebody's decision.",
    },
    "range of dimension": {
        "reason": "It names the dimension that is joined; how many operands there are does not matter."
    },
    "size of output": {
        "identifier": "xla.concatenate.operands.D7",
        "statement": "The output must have fewer than 2^31 elements (sizes 0 not counted).",
        "reason": "Indices of generated code are 32 bits wide.",
        "restricts_onnx": False,
    },
    **OUTPUT_WORDS,
}

CONTRACT = moving(
    "Concatenate",
    domain="xla",
    versions=(),
    summary="Joins arrays along one dimension.",
    inputs=[Operand("operands", "X", "the arrays, in their order; at least one", variadic=True)],
    output=Operand("output", "Y", "the joined array"),
    types=TYPES,
    attributes=[
        Attribute(
            *("dimension", "integer", "the dimension along which they are joined"),
            holds=Axes("operands", "one"),
        )
    ],
    shape=_output_shape,
    good=call(_NAME, _GOOD, _DIMENSION),
    too_large=call(_NAME, {"operands0": "s8[2000000000]", "operands1": "s8[2000000000]"}, _DIMENSION),
    ruling="D-XLA-2",
    more=[_AGREE],
    words=_WORDS,
)
