"""ConvWithGeneralPadding: signature, types, rules and shape rule."""

from collections.abc import Mapping

from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules.wording import count, written
from sonnx.operators.shared.xla_types import SUMMED, xla_type
from sonnx.operators.xla.conv_with_general_padding.geometry import output_shape, pairs, spatial
from sonnx.operators.xla.conv_with_general_padding.rules import GOOD, at_least_one, rules
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Attribute, Contract, Operand
from sonnx.vocabulary.rule import Broken, Rule, Shown

_NAME, _IDENTIFIER = "xla.ConvWithGeneralPadding", "xla.conv_with_general_padding"
_ATTRIBUTES = {
    "window_strides": (1, 1),
    "padding": ((0, 0), (0, 0)),
    "lhs_dilation": (1, 1),
    "rhs_dilation": (1, 1),
    "accumulate": "separate",
}


def output_types(call: Call) -> Mapping[str, TensorType]:
    """The type of `lhs`; one position for each placement of the window (D-XLA-5)."""
    lhs, shape = call.inputs["lhs"], output_shape(call)
    return {"output": xla_type(lhs.dtype, None if shape is None else (*(lhs.shape or ())[:1], *shape[1:]))}


def _padding(call: Call) -> Broken | None:
    number, found = spatial(call), pairs(call.attributes.get("padding"))
    if number is None or (found is not None and len(found) == number):
        return None
    note = "" if found is None else count(len(found), "pair")
    shown = Shown("padding", written(call.attributes.get("padding")), note)
    lhs = Shown("lhs", str(call.inputs["lhs"]), count(number, "spatial dimension"))
    return Broken((shown, lhs), f"write {count(number, 'pair')} (low, high) of integers")


def _dilation(name: str, reason: str) -> Rule:
    return Rule(
        f"{_IDENTIFIER}.{name}.D1",
        f"`{name}` needs one integer from 1 up for each spatial dimension.",
        reason,
        False,
        at_least_one(name),
        failing=call(_NAME, GOOD, {**_ATTRIBUTES, name: (1,)}),
        passing=call(_NAME, GOOD, {**_ATTRIBUTES, name: (2, 1)}),
        ruling="D-XLA-5",
    )


RULES = rules(
    _NAME,
    _IDENTIFIER,
    _ATTRIBUTES,
    (
        Rule(
            f"{_IDENTIFIER}.padding.D1",
            "`padding` needs one pair (low, high) of integers, of either sign, for each spatial dimension.",
            "A positive number adds so many zeros at that end, a negative one takes elements away.",
            False,
            _padding,
            failing=call(_NAME, GOOD, {**_ATTRIBUTES, "padding": (1, 1)}),
            passing=call(_NAME, GOOD, {**_ATTRIBUTES, "padding": ((-1, 2), (0, 0))}),
            ruling="D-XLA-5",
        ),
        _dilation("lhs_dilation", "It is the distance of the base area's elements once zeros lie between."),
        _dilation("rhs_dilation", "It is the distance of the window's elements."),
    ),
)

CONTRACT = Contract(
    name="ConvWithGeneralPadding",
    domain="xla",
    versions=(),
    summary="Slides a window over a base area of any number of dimensions and sums the products.",
    inputs=(
        Operand("lhs", "X", "the base area: batch, features, spatial dimensions", SUMMED),
        Operand("rhs", "W", "the window: output features, input features, spatial dimensions", SUMMED),
    ),
    outputs=(Operand("output", "Y", "the result: batch, output features, positions", SUMMED),),
    attributes=(
        Attribute("window_strides", "integers", "steps of the window, one for each spatial dimension"),
        Attribute("padding", "pairs of integers", "zeros at the low and the high end; negative: taken away"),
        Attribute("lhs_dilation", "integers", "distances between elements of the base area"),
        Attribute("rhs_dilation", "integers", "distances between elements of the window"),
        Attribute(
            "accumulate",
            "text",
            "separate: two roundings per term; fused: one",
            mode=True,
            default="separate",
        ),
    ),
    rules=RULES,
    output_types=output_types,
    uses_arithmetic=True,
)
