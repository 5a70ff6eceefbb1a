"""Broadcast: signature, types and shape rule (D-XLA-6)."""

from sonnx.operators.rules.contracts import moving
from sonnx.operators.rules.lists import integers
from sonnx.operators.rules.operands import Extents, extents
from sonnx.operators.rules.wording import written
from sonnx.operators.shared.xla_types import OPERAND_WORDS, OUTPUT_WORDS, TYPES
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Attribute, Operand
from sonnx.vocabulary.rule import Broken, Rule, Shown


def _example(*sizes: int) -> Call:
    return call("xla.Broadcast", {"operand": "f32[3]"}, {"broadcast_sizes": sizes})


def _new_sizes(call: Call) -> tuple[int, ...] | None:
    values = integers(call.attributes.get("broadcast_sizes"))
    return None if values is None or any(value < 0 for value in values) else values


def _output_shape(call: Call) -> Extents | None:
    """The new sizes stand before the operand's own."""
    operand, new = extents(call, "operand"), _new_sizes(call)
    return None if operand is None or new is None else (*new, *operand)


def _sizes(call: Call) -> Broken | None:
    if _new_sizes(call) is not None:
        return None
    shown = Shown("broadcast_sizes", written(call.attributes.get("broadcast_sizes")))
    return Broken((shown,), "write a list of integers from 0 up")


_COUNTS = Rule(
    "xla.broadcast.broadcast_sizes.D1",
    "`broadcast_sizes` must be a list of integers from 0 up.",
    "They are the sizes of the new dimensions.",
    False,
    _sizes,
    failing=_example(2, -4),
    passing=_example(2, 4),
    ruling="D-XLA-6",
)

CONTRACT = moving(
    "Broadcast",
    domain="xla",
    versions=(),
    summary="Repeats an array along new dimensions, which are put before its own.",
    inputs=[Operand("operand", "X", "the array to be repeated")],
    output=Operand("output", "Y", "the repeated array"),
    types=TYPES,
    attributes=[Attribute("broadcast_sizes", "integers", "sizes of the new dimensions, any number of them")],
    shape_of=_output_shape,
    good=_example(2, 4),
    too_large=_example(2**60),
    ruling="",
    more=[_COUNTS],
    words={
        **OPERAND_WORDS,
        "size of output": {"identifier": "xla.broadcast.broadcast_sizes.D2", "restricts_onnx": False},
        **OUTPUT_WORDS,
    },
)
