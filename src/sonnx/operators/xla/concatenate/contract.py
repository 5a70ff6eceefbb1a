"""Concatenate: signature, types, rules and shape rule."""

from collections.abc import Mapping

from sonnx.model.call import Call, call
from sonnx.model.operator import Attribute, Contract, Operand
from sonnx.model.rule import Broken, Rule, Shown
from sonnx.model.tensor_type import TensorType
from sonnx.operators.shared.predicates import (
    Extents,
    addressable,
    extents,
    is_integer,
    known,
    show,
    sizes,
    written,
)
from sonnx.operators.shared.xla_types import TYPES, made, output_rules, xla_type
from sonnx.operators.xla.concatenate.shapes import joined_shape

_NAME = "xla.Concatenate"
_GOOD = {"operands0": "f32[3,2]", "operands1": "f32[1,2]"}
_DIMENSION = {"dimension": 0}
# Operands that a message shows, where many are wrong.
_FEW = 3


def output_types(call: Call) -> Mapping[str, TensorType]:
    """The operands' type; along the dimension the sizes add up (D-XLA-2)."""
    first = next(iter(call.inputs.values()))
    return {"output": xla_type(first.dtype, _output_shape(call))}


def _dimension(call: Call) -> int | None:
    """The dimension where it is one of the first operand's."""
    value, shape = call.attributes.get("dimension"), _first_shape(call)
    if shape is None or not is_integer(value) or not 0 <= int(value or 0) < len(shape):
        return None
    return int(value or 0)


def _first_shape(call: Call) -> Extents | None:
    return next((shape for name in call.inputs if (shape := extents(call, name)) is not None), None)


def _output_shape(call: Call) -> Extents | None:
    dimension = _dimension(call)
    shapes = [sizes(call, name) for name in call.inputs]
    whole = [shape for shape in shapes if shape is not None]
    spoilt = any(rule(call) for rule in (_some_rank, _ranks, _sizes_agree))
    if dimension is None or len(whole) < len(shapes) or spoilt:
        return None
    return joined_shape(whole, dimension)


def _some(call: Call) -> Broken | None:
    return None if call.inputs else Broken((Shown("operands", "0"),), "give at least one operand")


def _types(call: Call) -> Broken | None:
    bad = [name for name in call.inputs if (t := known(call, name)) is not None and t.dtype not in TYPES]
    return Broken(show(call, *bad[:_FEW]), "give arrays of XLA's element types, or of reals") if bad else None


def _unlike(values: Mapping[str, object]) -> tuple[str, ...]:
    """The first operand and the first that differs from it; there may be thousands."""
    first = next(iter(values), "")
    return next(((first, name) for name, value in values.items() if value != values[first]), ())


def _one_type(call: Call) -> Broken | None:
    unlike = _unlike({name: kind.dtype for name in call.inputs if (kind := known(call, name)) is not None})
    if not unlike:
        return None
    return Broken(show(call, *unlike), "convert the operands to one type; nothing is converted by itself")


def _some_rank(call: Call) -> Broken | None:
    scalars = [name for name in call.inputs if extents(call, name) == ()]
    if not scalars:
        return None
    advice = "give each a dimension, for example by Broadcast with broadcast_sizes = [1]"
    return Broken(show(call, *scalars[:_FEW]), advice)


def _shapes(call: Call) -> dict[str, Extents]:
    """The shapes of operands that have dimensions, as far as they are known."""
    return {name: shape for name in call.inputs if (shape := extents(call, name))}


def _ranks(call: Call) -> Broken | None:
    unlike = _unlike({name: len(shape) for name, shape in _shapes(call).items()})
    if not unlike:
        return None
    return Broken(show(call, *unlike), "give all operands the same number of dimensions")


def _sizes_agree(call: Call) -> Broken | None:
    dimension, found = _dimension(call), _shapes(call)
    if dimension is None or _ranks(call) is not None:
        return None
    for axis in range(len(next(iter(found.values()), ()))):
        unlike = _unlike({name: shape[axis] for name, shape in found.items() if shape[axis] is not None})
        if axis != dimension and unlike:
            values = (*show(call, *unlike), Shown("dimension", str(dimension), f"sizes differ at {axis}"))
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


RULES = (
    Rule(
        "xla.concatenate.operands.D1",
        "There must be at least one operand.",
        "Of nothing neither type nor shape is known.",
        False,
        _some,
        failing=call(_NAME, {}, _DIMENSION),
        passing=call(_NAME, {"operands0": "f32[3,2]"}, _DIMENSION),
        ruling="D-XLA-2",
    ),
    Rule(
        "xla.concatenate.operands.D2",
        "Every operand must be an array of one of XLA's element types, or of reals.",
        "XLA has no strings.",
        False,
        _types,
        failing=call(_NAME, {"operands0": "string[3]"}, _DIMENSION),
        passing=call(_NAME, {"operands0": "c128[3]"}, _DIMENSION),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.concatenate.operands.D3",
        "All operands must have one element type.",
        "Elements are moved, bit for bit; a conversion must be somebody's decision.",
        False,
        _one_type,
        failing=call(_NAME, {**_GOOD, "operands1": "s32[1,2]"}, _DIMENSION),
        passing=call(_NAME, _GOOD, _DIMENSION),
        ruling="D-ALL-3",
    ),
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
        "xla.concatenate.operands.D7",
        "The output must have fewer than 2^31 elements (sizes 0 not counted).",
        "Indices of generated code are 32 bits wide.",
        False,
        addressable(made(_output_shape)),
        failing=call(_NAME, {"operands0": "s8[2000000000]", "operands1": "s8[2000000000]"}, _DIMENSION),
        passing=call(_NAME, _GOOD, _DIMENSION),
        ruling="D-ALL-3",
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
    *output_rules("xla.concatenate", _output_shape, call(_NAME, _GOOD, _DIMENSION), "f32[3,2]", "f64[4,2]"),
)

CONTRACT = Contract(
    name="Concatenate",
    domain="xla",
    versions=(),
    summary="Joins arrays along one dimension.",
    inputs=(Operand("operands", "X", "the arrays, in their order; at least one", TYPES, variadic=True),),
    outputs=(Operand("output", "Y", "the joined array", TYPES),),
    attributes=(Attribute("dimension", "integer", "the dimension along which they are joined"),),
    rules=RULES,
    output_types=output_types,
)
