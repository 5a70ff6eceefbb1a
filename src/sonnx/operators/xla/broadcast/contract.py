"""Broadcast: signature, types, rules and shape rule."""

from collections.abc import Mapping

from sonnx.model.call import Call, call
from sonnx.model.operator import Attribute, Contract, Operand
from sonnx.model.rule import Broken, Rule, Shown
from sonnx.model.tensor_type import TensorType
from sonnx.operators.shared.predicates import Extents, addressable, extents, integers, one_of, written
from sonnx.operators.shared.xla_types import TYPES, made, output_rules, xla_type

_NAME = "xla.Broadcast"
_GOOD = {"operand": "f32[3]"}
_SIZES = {"broadcast_sizes": (2, 4)}


def output_types(call: Call) -> Mapping[str, TensorType]:
    """The operand's type; the new sizes stand before the operand's own (D-XLA-6)."""
    return {"output": xla_type(call.inputs["operand"].dtype, _output_shape(call))}


def _new_sizes(call: Call) -> tuple[int, ...] | None:
    values = integers(call.attributes.get("broadcast_sizes"))
    return None if values is None or any(value < 0 for value in values) else values


def _output_shape(call: Call) -> Extents | None:
    operand, new = extents(call, "operand"), _new_sizes(call)
    return None if operand is None or new is None else (*new, *operand)


def _sizes(call: Call) -> Broken | None:
    if _new_sizes(call) is not None:
        return None
    shown = Shown("broadcast_sizes", written(call.attributes.get("broadcast_sizes")))
    return Broken((shown,), "write a list of integers from 0 up")


RULES = (
    Rule(
        "xla.broadcast.operand.D1",
        "`operand` must be an array of one of XLA's element types, or of reals.",
        "XLA has no strings.",
        False,
        one_of("operand", TYPES),
        failing=call(_NAME, {"operand": "string[3]"}, _SIZES),
        passing=call(_NAME, {"operand": "pred[3]"}, _SIZES),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.broadcast.broadcast_sizes.D1",
        "`broadcast_sizes` must be a list of integers from 0 up.",
        "They are the sizes of the new dimensions.",
        False,
        _sizes,
        failing=call(_NAME, _GOOD, {"broadcast_sizes": (2, -4)}),
        passing=call(_NAME, _GOOD, _SIZES),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.broadcast.broadcast_sizes.D2",
        "The output must have fewer than 2^31 elements (sizes 0 not counted) and at most 64 axes.",
        "Indices of generated code are 32 bits wide, and no array here has more axes.",
        False,
        addressable(made(_output_shape), "operand"),
        failing=call(_NAME, _GOOD, {"broadcast_sizes": (2**60,)}),
        passing=call(_NAME, _GOOD, _SIZES),
        ruling="D-ALL-3",
    ),
    *output_rules("xla.broadcast", _output_shape, call(_NAME, _GOOD, _SIZES), "f32[3,2,4]", "f64[2,4,3]"),
)

CONTRACT = Contract(
    name="Broadcast",
    domain="xla",
    versions=(),
    summary="Repeats an array along new dimensions, which are put before its own.",
    inputs=(Operand("operand", "X", "the array to be repeated", TYPES),),
    outputs=(Operand("output", "Y", "the repeated array", TYPES),),
    attributes=(Attribute("broadcast_sizes", "integers", "sizes of the new dimensions, any number of them"),),
    rules=RULES,
    output_types=output_types,
)
