"""Identity: signature, types and shape rule."""

from sonnx.operators.rules.contracts import moving
from sonnx.vocabulary.call import call
from sonnx.vocabulary.operator import Operand

CONTRACT = moving(
    "Identity",
    versions=(13, 14, 16, 19, 21, 23, 24, 25),
    summary="Gives a tensor as it is.",
    inputs=[Operand("input", "X", "the tensor")],
    output=Operand("output", "Y", "the same tensor"),
    shape=lambda input: input,  # noqa: A006  the name of the operand
    good=call("Identity", {"input": "float[2,3]"}),
    ruling="D-IDENTITY",
    oldest=7,
)
