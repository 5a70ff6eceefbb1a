"""Conv: signature, types, rules and shape rule."""

from sonnx.operators.rules import made
from sonnx.operators.rules.values import one_word
from sonnx.operators.xla.conv_with_general_padding.geometry import BY_WORD, SAME, VALID
from sonnx.operators.xla.conv_with_general_padding.rules import contract
from sonnx.vocabulary.operator import Attribute
from sonnx.vocabulary.rule import Rule


def _more(this: made.Owner) -> tuple[Rule, ...]:
    advice = 'write "SAME" or "VALID"; ConvWithGeneralPadding takes numbers'
    return (
        this.rule(
            "value of padding",
            "padding.D1",
            "`padding` must be SAME or VALID.",
            "The short form has these two words; every other padding is written in numbers.",
            one_word("padding", (SAME, VALID), advice),
            this.but(padding="FULL"),
            passing=this.but(padding=SAME),
            ruling="D-XLA-4",
        ),
    )


CONTRACT = contract(
    BY_WORD,
    "Conv",
    "Slides a window over a base area, padded so that sizes stay the same or not at all.",
    {"padding": VALID},
    {"padding": VALID},
    (Attribute("padding", "text", "SAME: as many positions as steps fit; VALID: no padding"),),
    _more,
)
