"""Broadcast: signature, types and shape rule (D-XLA-6)."""

from sonnx.operators.rules.contracts import moving
from sonnx.operators.shared.xla_types import OPERAND_WORDS, OUTPUT_WORDS, TYPES
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.integers import Sizes
from sonnx.vocabulary.operator import Attribute, Operand


def _example(*sizes: int) -> Call:
    return call("xla.Broadcast", {"operand": "f32[3]"}, {"broadcast_sizes": sizes})


CONTRACT = moving(
    "Broadcast",
    domain="xla",
    versions=(),
    summary="Repeats an array along new dimensions, which are put before its own.",
    inputs=[Operand("operand", "X", "the array to be repeated")],
    output=Operand("output", "Y", "the repeated array"),
    types=TYPES,
    attributes=[
        Attribute(
            "broadcast_sizes", "integers", "sizes of the new dimensions, any number of them", holds=Sizes()
        )
    ],
    shape=lambda operand, broadcast_sizes: (*broadcast_sizes, *operand),
    good=_example(2, 4),
    too_large=_example(2**60),
    ruling="D-XLA-6",
    words={
        **OPERAND_WORDS,
        "sizes of broadcast_sizes": {"reason": "They are the sizes of the new dimensions."},
        "size of output": {"identifier": "xla.broadcast.broadcast_sizes.D2", "restricts_onnx": False},
        **OUTPUT_WORDS,
    },
)
