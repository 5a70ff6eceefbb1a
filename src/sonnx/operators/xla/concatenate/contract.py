"""Concatenate: signature, types and shape rule (D-XLA-2)."""

from sonnx.operators.rules.contracts import Words, moving
from sonnx.operators.rules.lists import is_integer
from sonnx.operators.rules.operands import Extents, extents, sizes
from sonnx.operators.rules.wording import FEW, show, unlike, written
from sonnx.operators.shared.xla_types import OUTPUT_WORDS, TYPES
from sonnx.operators.xla.concatenate.shapes import joined_shape
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Attribute, Operand
from sonnx.vocabulary.rule import Broken, Rule, Shown

_NAME = "xla.Concatenate"
_GOOD = {"operands0": "f32[3,2]", "operands1": "f32[1,2]"}
_DIMENSION = {"dimension": 0}


def _dimension(call: Call) -> int | None:
    """The dimension where it is one of the first operand's."""
    value, shape = call.attributes.get("dimension"), _first_shape(call)
    if shape is None or not is_integer(value) or not 0 <= int(value or 0) < len(shape):
        return None
    return int(value or 0)


def _first_shape(call: Call) -> Extents | None:
    return next((shape for name in call.inputs if (shape := extents(call, name)) is not None), None)


def _output_shape(call: Call) -> Extents | None:
    """Along the dimension the sizes add up."""
    dimension = _dimension(call)
    shapes = [sizes(call, name) for name in call.inputs]
    whole = [shape for shape in shapes if shape is not None]
    spoilt = any(rule(call) for rule in (_some_rank, _ranks, _sizes_agree))
    if dimension is None or len(whole) < len(shapes) or spoilt:
        return None
    return joined_shape(whole, dimension)


def _some_rank(call: Call) -> Broken | None:
    scalars = [name for name in call.inputs if extents(call, name) == ()]
    if not scalars:
        return None
    advice = "give each a dimension, for example by Broadcast with broadcast_sizes = [1]"
    return Broken(show(call, *scalars[:FEW]), advice)


def _shapes(call: Call) -> dict[str, Extents]:
    """The shapes of operands that have dimensions, as far as they are known."""
    return {name: shape for name in call.inputs if (shape := extents(call, name))}


def _ranks(call: Call) -> Broken | None:
    differing = unlike({name: len(shape) for name, shape in _shapes(call).items()})
    if not differing:
        return None
    return Broken(show(call, *differing), "give all operands the same number of dimensions")


def _sizes_agree(call: Call) -> Broken | None:
    dimension, found = _dimension(call), _shapes(call)
    if dimension is None or _ranks(call) is not None:
        return None
    for axis in range(len(next(iter(found.values()), ()))):
        differing = unlike({name: shape[axis] for name, shape in found.items() if shape[axis] is not None})
        if axis != dimension and differing:
            values = (*show(call, *differing), Shown("dimension", str(dimension), f"sizes differ at {axis}"))
            return Broken(values, "give the operands equal sizes at every dimension but the joined one")
    return None


def _inside(call: Call) -> Broken | None:
    shape = _first_shape(call)
    if not shape or _dimension(call) is not None:  # rank 0 has a rule of its own
        return None
    value = call.attributes.get("dimension")
    note = "" if is_integer(value) else "no integer"
    values = (Shown("dimension", written(value), note), *show(call, *list(call.inputs)[:1]))
    return Broken(values, f"name a dimension from 0 to {len(shape) - 1}")


_RULES = (
    Rule(
        "xla.concatenate.operands.D4",
        "No operand may have rank 0.",
        "A scalar has no dimension along which it could be joined.",
        False,
        _some_rank,
        failing=call(_NAME, {"operands0": "f32[]", "operands1": "f32[]"}, _DIMENSION),
        passing=call(_NAME, {"operands0": "f32[1]", "operands1": "f32[0]"}, _DIMENSION),
        ruling="D-XLA-2",
    ),
    Rule(
        "xla.concatenate.operands.D5",
        "All operands must have one rank.",
        "Arrays are joined as they are; no dimension is added.",
        False,
        _ranks,
        failing=call(_NAME, {**_GOOD, "operands1": "f32[2]"}, _DIMENSION),
        passing=call(_NAME, _GOOD, _DIMENSION),
        ruling="D-XLA-2",
    ),
    Rule(
        "xla.concatenate.operands.D6",
        "The operands must have equal sizes at every dimension but the joined one.",
        "Otherwise the result would have rows of unequal length.",
        False,
        _sizes_agree,
        failing=call(_NAME, {**_GOOD, "operands1": "f32[1,3]"}, _DIMENSION),
        passing=call(_NAME, _GOOD, _DIMENSION),
        ruling="D-XLA-2",
    ),
    Rule(
        "xla.concatenate.dimension.D1",
        "`dimension` must be an integer from 0 up to, but not including, the rank of the operands.",
        "It names the dimension that is joined; how many operands there are does not matter.",
        False,
        _inside,
        failing=call(_NAME, _GOOD, {"dimension": 2}),
        passing=call(_NAME, {**_GOOD, "operands1": "f32[3,5]"}, {"dimension": 1}),
        ruling="D-XLA-2",
    ),
)
_WORDS: Words = {
    "number of operands": {
        "identifier": "xla.concatenate.operands.D1",
        "statement": "There must be at least one operand.",
        "ruling": "D-XLA-2",
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
    attributes=[Attribute("dimension", "integer", "the dimension along which they are joined")],
    shape_of=_output_shape,
    good=call(_NAME, _GOOD, _DIMENSION),
    too_large=call(_NAME, {"operands0": "s8[2000000000]", "operands1": "s8[2000000000]"}, _DIMENSION),
    ruling="",
    more=_RULES,
    words=_WORDS,
)
