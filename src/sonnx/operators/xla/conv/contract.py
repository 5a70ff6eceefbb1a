"""Conv: signature, types, rules and shape rule."""

from collections.abc import Mapping

from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules.wording import written
from sonnx.operators.shared.xla_types import SUMMED
from sonnx.operators.xla.conv_with_general_padding.contract import CONTRACT as GENERAL
from sonnx.operators.xla.conv_with_general_padding.geometry import SAME, VALID
from sonnx.operators.xla.conv_with_general_padding.rules import GOOD, rules
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Attribute, Contract, Operand
from sonnx.vocabulary.rule import Broken, Rule, Shown

_NAME = "xla.Conv"
_ATTRIBUTES = {"window_strides": (1, 1), "padding": VALID, "accumulate": "separate"}


def output_types(call: Call) -> Mapping[str, TensorType]:
    """As for ConvWithGeneralPadding with the padding that the word stands for (D-XLA-4)."""
    return GENERAL.output_types(call)


def _padding(call: Call) -> Broken | None:
    value = call.attributes.get("padding")
    if isinstance(value, str) and value in (SAME, VALID):
        return None
    advice = 'write "SAME" or "VALID"; ConvWithGeneralPadding takes numbers'
    return Broken((Shown("padding", written(value)),), advice)


RULES = rules(
    _NAME,
    "xla.conv",
    _ATTRIBUTES,
    (
        Rule(
            "xla.conv.padding.D1",
            "`padding` must be SAME or VALID.",
            "The short form has these two words; every other padding is written in numbers.",
            False,
            _padding,
            failing=call(_NAME, GOOD, {**_ATTRIBUTES, "padding": "FULL"}),
            passing=call(_NAME, GOOD, {**_ATTRIBUTES, "padding": SAME}),
            ruling="D-XLA-4",
        ),
    ),
)

CONTRACT = Contract(
    name="Conv",
    domain="xla",
    versions=(),
    summary="Slides a window over a base area, padded so that sizes stay the same or not at all.",
    inputs=GENERAL.inputs,
    outputs=(Operand("output", "Y", "the result: batch, output features, positions", SUMMED),),
    attributes=(
        Attribute("window_strides", "integers", "steps of the window, one for each spatial dimension"),
        Attribute("padding", "text", "SAME: as many positions as steps fit; VALID: no padding"),
        *(attribute for attribute in GENERAL.attributes if attribute.mode),
    ),
    rules=RULES,
    output_types=output_types,
    uses_arithmetic=True,
)
