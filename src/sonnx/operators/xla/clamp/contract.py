"""Clamp: signature and types (D-XLA-1); what is said of bounds, which may be arrays or scalars."""

from sonnx.operators.rules.contracts import Words, elementwise
from sonnx.operators.rules.operands import alike, extents
from sonnx.operators.rules.wording import show
from sonnx.operators.shared.xla_types import ORDERED, OUTPUT_WORDS
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Operand
from sonnx.vocabulary.rule import Broken, Predicate, Rule

_GOOD = {"operand": "f32[2,3]", "min": "f32[]", "max": "f32[2,3]"}


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


def _fits(bound: str) -> Rule:
    return Rule(
        f"xla.clamp.{bound}.D2",
        f"`{bound}` must have the shape of `operand`, or be a scalar.",
        "A scalar serves all elements; no other shape is repeated.",
        False,
        _shape(bound),
        failing=call("xla.Clamp", {**_GOOD, bound: "f32[3]"}),
        passing=call("xla.Clamp", {**_GOOD, bound: "f32[]"}),
        ruling="D-XLA-1",
    )


_WORDS: Words = {
    "types of operand": {
        "statement": "`operand` must be real, pred, an integer or a float; "
        "complex numbers cannot be clamped.",
        "reason": "Complex numbers and strings have no order here.",
        "restricts_onnx": False,
        "ruling": "D-XLA-1",
    },
    **{
        f"type of {bound}": {
            "reason": "A comparison between types would need a conversion, and conversions may round.",
            "ruling": "D-XLA-1",
        }
        for bound in ("min", "max")
    },
    **OUTPUT_WORDS,
}

CONTRACT = elementwise(
    "Clamp",
    domain="xla",
    versions=(),
    summary="Limits every element of an array to the range between two bounds.",
    inputs=[
        Operand("operand", "X", "the array to be limited"),
        Operand("min", "L", "the lower bound: a scalar, or one for each element", form="either"),
        Operand("max", "M", "the upper bound: a scalar, or one for each element", form="either"),
    ],
    output=Operand("output", "Y", "the limited array"),
    types=ORDERED,
    ruling="",
    more=[_fits("min"), _fits("max")],
    words=_WORDS,
)
