"""ConvWithGeneralPadding: signature, types, rules and shape rule."""

from sonnx.operators.rules import made, made_lists
from sonnx.operators.rules.values import POSITIVE, Entries
from sonnx.operators.xla.conv_with_general_padding.geometry import GENERAL, pairs, spatial
from sonnx.operators.xla.conv_with_general_padding.rules import contract
from sonnx.vocabulary.operator import Attribute
from sonnx.vocabulary.rule import Rule

_PAIRS = Entries(pairs, "pair", "pair", "(low, high) of integers")


def _more(this: made.Owner) -> tuple[Rule, ...]:
    padding = made_lists.one_per_axis(
        this,
        "padding.D1",
        _PAIRS,
        spatial,
        "A positive number adds so many zeros at that end, a negative one takes elements away.",
        (1, 1),
        ((-1, 2), (0, 0)),
        statement="`padding` needs one pair (low, high) of integers, of either sign, for each spatial "
        "dimension.",
    )
    dilations = {
        "lhs_dilation": "It is the distance of the base area's elements once zeros lie between.",
        "rhs_dilation": "It is the distance of the window's elements.",
    }
    return (
        padding,
        *(
            made_lists.one_per_axis(this, f"{name}.D1", POSITIVE, spatial, reason, (1,), (2, 1))
            for name, reason in dilations.items()
        ),
    )


CONTRACT = contract(
    GENERAL,
    "ConvWithGeneralPadding",
    "Slides a window over a base area of any number of dimensions and sums the products.",
    {"padding": ((0, 0), (0, 0)), "lhs_dilation": (1, 1), "rhs_dilation": (1, 1)},
    {"padding": ((19, 23), (29, 31)), "lhs_dilation": (37, 41), "rhs_dilation": (43, 47)},
    (
        Attribute("padding", "pairs of integers", "zeros at the low and the high end; negative: taken away"),
        Attribute("lhs_dilation", "integers", "distances between elements of the base area"),
        Attribute("rhs_dilation", "integers", "distances between elements of the window"),
    ),
    _more,
)
