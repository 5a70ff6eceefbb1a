"""Clip: signature, types, rules and shape rule."""

from collections.abc import Mapping

from sonnx.model.call import Call, call
from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.model.operator import Contract, Operand
from sonnx.model.rule import Broken, Predicate, Rule, Shown
from sonnx.model.tensor_type import TensorType
from sonnx.operators.shared.predicates import (
    declared_shape,
    declared_type,
    extents,
    one_of,
    same_type,
    show,
)

TYPES = (DType.REAL, *IEEE, *INTEGERS)

_GOOD = {"input": "float[2,3]", "min": "float[]", "max": "float[]"}


def output_types(call: Call) -> Mapping[str, TensorType]:
    """The output has the type and the shape of the input."""
    return {"output": call.inputs["input"]}


def _given(bound: str) -> Predicate:
    def predicate(call: Call) -> Broken | None:
        if bound in call.inputs:
            return None
        return Broken((Shown(bound, "absent"),), f"write `{bound}`, if need be the end of the type's range")

    return predicate


def _scalar(bound: str) -> Predicate:
    def predicate(call: Call) -> Broken | None:
        if extents(call, bound) in (None, ()):
            return None
        return Broken(show(call, bound), f"give `{bound}` the empty shape: a single value, not a list of one")

    return predicate


def _bound_rules(bound: str) -> tuple[Rule, ...]:
    """The rules are the same for both bounds; each bound has its own identifiers."""
    absent = {name: text for name, text in _GOOD.items() if name != bound}
    return (
        Rule(
            f"clip.{bound}.C1",
            f"`{bound}` must have the element type of `input`.",
            "A comparison between types would need a conversion, and conversions may round.",
            False,
            same_type(bound, "input"),
            failing=call("Clip", {**_GOOD, bound: "double[]"}),
            passing=call("Clip", _GOOD),
            also=("clip.input.C2",),
            ruling="D-CLIP-4",
        ),
        Rule(
            f"clip.{bound}.D1",
            f"`{bound}` must be given.",
            "An absent bound means the end of the type's range by default, and nothing is left to defaults.",
            True,
            _given(bound),
            failing=call("Clip", absent),
            passing=call("Clip", _GOOD),
            ruling="D-CLIP-4",
        ),
        Rule(
            f"clip.{bound}.D2",
            f"`{bound}` must have the empty shape.",
            "One bound serves all elements; a tensor of bounds would need broadcasting.",
            False,
            _scalar(bound),
            failing=call("Clip", {**_GOOD, bound: "float[1]"}),
            passing=call("Clip", _GOOD),
            ruling="D-CLIP-4",
        ),
    )


RULES = (
    Rule(
        "clip.input.D1",
        "`input` must be real, a signed or unsigned integer of 8 to 64 bits, float16, float or double.",
        "bfloat16 is no IEEE 754 interchange format; strings, booleans and complex numbers have no order.",
        True,
        one_of("input", TYPES),
        failing=call("Clip", {"input": "bfloat16[2,3]", "min": "bfloat16[]", "max": "bfloat16[]"}),
        passing=call("Clip", {"input": "int16[2,3]", "min": "int16[]", "max": "int16[]"}),
        ruling="D-CLIP-3",
    ),
    *_bound_rules("min"),
    *_bound_rules("max"),
    Rule(
        "clip.output.C1",
        "`output` must have the shape of `input`.",
        "Every element of the input gives one element of the output.",
        False,
        declared_shape("output", lambda call: extents(call, "input"), "input"),
        failing=call("Clip", _GOOD, outputs={"output": "float[3,2]"}),
        passing=call("Clip", _GOOD, outputs={"output": "float[2,3]"}),
        also=("clip.input.C1",),
    ),
    Rule(
        "clip.output.C2",
        "`output` must have the element type of `input`.",
        "Every output element is an element of the input or a bound, unchanged.",
        False,
        declared_type("output", "input"),
        failing=call("Clip", _GOOD, outputs={"output": "double[2,3]"}),
        passing=call("Clip", _GOOD, outputs={"output": "float[2,3]"}),
        also=("clip.input.C2",),
    ),
)

CONTRACT = Contract(
    name="Clip",
    versions=(13,),
    summary="Limits every element of a tensor to the interval between two bounds.",
    inputs=(
        Operand("input", "X", "the tensor to be limited", TYPES),
        Operand("min", "L", "the lower bound, a scalar", TYPES, optional_in_onnx=True),
        Operand("max", "M", "the upper bound, a scalar", TYPES, optional_in_onnx=True),
    ),
    outputs=(Operand("output", "Y", "the limited tensor", TYPES),),
    attributes=(),
    rules=RULES,
    output_types=output_types,
    uses_arithmetic=True,
)
