"""Clamp: signature, types, rules and shape rule."""

from collections.abc import Mapping

from sonnx.model.call import Call, call
from sonnx.model.operator import Contract, Operand
from sonnx.model.rule import Broken, Predicate, Rule
from sonnx.model.tensor_type import TensorType
from sonnx.operators.shared.predicates import alike, extents, one_of, same_type, show
from sonnx.operators.shared.xla_types import ORDERED, output_rules, xla_type

_NAME = "xla.Clamp"
_GOOD = {"operand": "f32[2,3]", "min": "f32[]", "max": "f32[2,3]"}
_COMPLEX = {"operand": "c64[2]", "min": "c64[]", "max": "c64[]"}


def output_types(call: Call) -> Mapping[str, TensorType]:
    """The output has the type and the shape of the operand."""
    operand = call.inputs["operand"]
    return {"output": xla_type(operand.dtype, operand.shape)}


def _shape(bound: str) -> Predicate:
    def predicate(call: Call) -> Broken | None:
        operand, given = extents(call, "operand"), extents(call, bound)
        # A size that is open contradicts nothing.
        if operand is None or given is None or given == () or alike(given, operand):
            return None
        return Broken(
            show(call, bound, "operand"), f"give `{bound}` the shape of `operand`, or make it a scalar"
        )

    return predicate


def _bound_rules(bound: str) -> tuple[Rule, ...]:
    """The rules are the same for both bounds; each bound has its own identifiers."""
    return (
        Rule(
            f"xla.clamp.{bound}.D1",
            f"`{bound}` must have the element type of `operand`.",
            "A comparison between types would need a conversion, and conversions may round.",
            False,
            same_type(bound, "operand"),
            failing=call(_NAME, {**_GOOD, bound: "f64[]"}),
            passing=call(_NAME, _GOOD),
            ruling="D-XLA-1",
        ),
        Rule(
            f"xla.clamp.{bound}.D2",
            f"`{bound}` must have the shape of `operand`, or be a scalar.",
            "A scalar serves all elements; no other shape is repeated.",
            False,
            _shape(bound),
            failing=call(_NAME, {**_GOOD, bound: "f32[3]"}),
            passing=call(_NAME, {**_GOOD, bound: "f32[]"}),
            ruling="D-XLA-1",
        ),
    )


RULES = (
    Rule(
        "xla.clamp.operand.D1",
        "`operand` must be real, pred, an integer or a float; complex numbers cannot be clamped.",
        "Complex numbers and strings have no order here.",
        False,
        one_of("operand", ORDERED),
        failing=call(_NAME, _COMPLEX),
        passing=call(_NAME, {"operand": "bf16[2]", "min": "bf16[]", "max": "bf16[]"}),
        ruling="D-XLA-1",
    ),
    *_bound_rules("min"),
    *_bound_rules("max"),
    *output_rules(
        "xla.clamp", lambda call: extents(call, "operand"), call(_NAME, _GOOD), "f32[3,2]", "f64[2,3]"
    ),
)

CONTRACT = Contract(
    name="Clamp",
    domain="xla",
    versions=(),
    summary="Limits every element of an array to the range between two bounds.",
    inputs=(
        Operand("operand", "X", "the array to be limited", ORDERED),
        Operand("min", "L", "the lower bound: a scalar, or one for each element", ORDERED),
        Operand("max", "M", "the upper bound: a scalar, or one for each element", ORDERED),
    ),
    outputs=(Operand("output", "Y", "the limited array", ORDERED),),
    attributes=(),
    rules=RULES,
    output_types=output_types,
    uses_arithmetic=True,
)
