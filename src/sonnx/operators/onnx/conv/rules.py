"""Conv: what its operands must fulfil. The rules on attributes are in `attribute_rules`."""

from collections.abc import Iterator
from typing import Any

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.onnx.conv.geometry import (
    RANK,
    axes,
    channels,
    group,
    output_shape,
    padded_sizes,
)
from sonnx.operators.rules.declarations import declared_shape, declared_type
from sonnx.operators.rules.element_types import one_of, same_type
from sonnx.operators.rules.limits import addressable
from sonnx.operators.rules.operands import extents, known, sizes, static
from sonnx.operators.rules.wording import count, show, written
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.rule import Broken, Predicate, Rule, Shown

TYPES = (DType.REAL, *IEEE)

GOOD = {"X": "float[1,2,5,5]", "W": "float[3,2,3,3]", "B": "float[3]"}
ATTRIBUTES: dict[str, Any] = {
    "strides": (1, 1),
    "pads": (1, 1, 1, 1),
    "dilations": (1, 1),
    "group": 1,
    "kernel_shape": (3, 3),
    "auto_pad": "NOTSET",
    "accumulate": "separate",
}
PASSING = call("Conv", GOOD, ATTRIBUTES)

_SHAPE_LABELS = ("conv.W.C2", "conv.strides.C2", "conv.pads.C3", "conv.dilations.C3")


def _rank(name: str, rank: int, meaning: str) -> Predicate:
    def predicate(call: Call) -> Broken | None:
        shape = extents(call, name)
        if shape is None or len(shape) == rank:
            return None
        values = (Shown(name, str(call.inputs[name]), f"rank {len(shape)}"),)
        return Broken(values, f"give `{name}` rank {rank}: {meaning}")

    return predicate


def _kernel_rank(call: Call) -> Broken | None:
    W = extents(call, "W")
    # Where X has that rank too, the rule on X says it.
    if W is not None and extents(call, "X", len(W)) is not None:
        return None
    return _KERNEL_RANK(call)


_KERNEL_RANK = _rank("W", RANK, "output channels, channels per group, lines, columns")


def _channels_agree(call: Call) -> Broken | None:
    number, W, groups = channels(call), sizes(call, "W", RANK), group(call)
    if number is None or W is None or groups is None or number == W[1] * groups:
        return None
    values = (
        Shown("X", str(call.inputs["X"]), count(number, "channel")),
        Shown("W", str(call.inputs["W"]), f"{count(W[1], 'channel')} per group"),
        Shown("group", str(groups)),
    )
    return Broken(values, f"give `W` {count(number // groups, 'channel')} on its second axis")


def _kernel_fits(call: Call) -> Broken | None:
    sliding, padded = axes(call), padded_sizes(call)
    if sliding is None or padded is None or output_shape(call) is not None:
        return None
    extents = [axis.extent for axis in sliding]
    values = (
        *show(call, "X", "W"),
        Shown("padded X", written(padded), "lines, columns"),
        Shown("kernel", written(extents), "lines, columns, dilation included"),
    )
    return Broken(values, "enlarge `pads`, or reduce the kernel or `dilations`")


def _denoted(name: str, wanted: tuple[str, ...]) -> Predicate:
    def predicate(call: Call) -> Broken | None:
        operand = known(call, name)
        if operand is None or operand.denotation in (None, wanted):
            return None
        return Broken(show(call, name), f"denote the axes {', '.join(wanted)}, or none of them")

    return predicate


def _bias_length(call: Call) -> Broken | None:
    B, W = sizes(call, "B", 1), sizes(call, "W", RANK)
    if B is None or W is None or B[0] == W[0]:
        return None
    values = (
        Shown("B", str(call.inputs["B"]), count(B[0], "value")),
        Shown("W", str(call.inputs["W"]), count(W[0], "output channel")),
    )
    return Broken(values, f"give `B` {count(W[0], 'value')}, one per output channel")


def _made_shapes(call: Call) -> Iterator[tuple[int, ...]]:
    X, padded, made = sizes(call, "X", RANK), padded_sizes(call), output_shape(call)
    whole = None if made is None else static(made)
    if X is not None and padded is not None and whole is not None:
        yield (*X[:2], *padded)
        yield whole


_X_AXES = ("DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE")
_W_AXES = ("FILTER_OUT_CHANNEL", "FILTER_IN_CHANNEL", "FILTER_SPATIAL", "FILTER_SPATIAL")


def _changed(**changes: str) -> Call:
    return call("Conv", {**GOOD, **changes}, ATTRIBUTES)


def _declared(text: str) -> Call:
    return call("Conv", GOOD, ATTRIBUTES, outputs={"Y": text})


OPERAND_RULES = (
    Rule(
        "conv.X.C1",
        "`X` must have two spatial axes: its shape is (batch, channels, lines, columns).",
        "The profile covers images; one definition with a fixed rank is easier to verify.",
        True,
        _rank("X", RANK, "batch, channels, lines, columns"),
        failing=_changed(X="float[1,2,5]"),
        passing=PASSING,
        ruling="D-CONV-7",
    ),
    Rule(
        "conv.X.C2",
        "`X` must have as many channels as the second axis of `W` times `group`.",
        "For each output channel, every input channel of its group meets exactly one slice of the kernel.",
        False,
        _channels_agree,
        failing=_changed(X="float[1,4,5,5]"),
        passing=PASSING,
        also=("conv.W.C1",),
        ruling="D-CONV-2",
    ),
    Rule(
        "conv.X.C3",
        "The dilated kernel must fit into the padded input at least once on each spatial axis.",
        "Otherwise Y would have no element, or a negative size.",
        False,
        _kernel_fits,
        failing=_changed(X="float[1,2,5,0]"),
        passing=PASSING,
        also=_SHAPE_LABELS,
        ruling="D-CONV-1",
    ),
    Rule(
        "conv.X.C4",
        "If the axes of `X` are denoted, they must be DATA_BATCH, DATA_CHANNEL, DATA_FEATURE, DATA_FEATURE.",
        "A denotation that contradicts the order of the axes shows that a tensor was laid out differently.",
        False,
        _denoted("X", _X_AXES),
        failing=_changed(X="float[1,2,5,5] as DATA_BATCH,DATA_FEATURE,DATA_FEATURE,DATA_CHANNEL"),
        passing=_changed(X=f"float[1,2,5,5] as {','.join(_X_AXES)}"),
    ),
    Rule(
        "conv.X.D1",
        "`X` must be real, float16, float or double.",
        "These are the types whose sum and product, and their rounding, are defined here.",
        True,
        one_of("X", TYPES),
        failing=_changed(X="int32[1,2,5,5]", W="int32[3,2,3,3]", B="int32[3]"),
        passing=_changed(X="double[1,2,5,5]", W="double[3,2,3,3]", B="double[3]"),
        ruling="D-CONV-7",
    ),
    Rule(
        "conv.W.C3",
        "If the axes of `W` are denoted, they must be FILTER_OUT_CHANNEL, FILTER_IN_CHANNEL, FILTER_SPATIAL, "
        "FILTER_SPATIAL.",
        "A denotation that contradicts the order of the axes shows that a tensor was laid out differently.",
        False,
        _denoted("W", _W_AXES),
        failing=_changed(
            W="float[3,2,3,3] as FILTER_IN_CHANNEL,FILTER_OUT_CHANNEL,FILTER_SPATIAL,FILTER_SPATIAL"
        ),
        passing=_changed(W=f"float[3,2,3,3] as {','.join(_W_AXES)}"),
    ),
    Rule(
        "conv.W.D1",
        "`W` must have rank 4: output channels, input channels per group, lines, columns.",
        "The kernel has the two spatial axes of the input.",
        True,
        _kernel_rank,
        failing=_changed(W="float[3,2,3]"),
        passing=PASSING,
        ruling="D-CONV-2",
    ),
    Rule(
        "conv.W.D2",
        "`W` must have the element type of `X`.",
        "Products of unlike types would need a conversion.",
        False,
        same_type("W", "X"),
        failing=_changed(W="double[3,2,3,3]"),
        passing=PASSING,
        ruling="D-ALL-3",
    ),
    Rule(
        "conv.B.C1",
        "`B`, if given, must have one value per output channel.",
        "Each output channel starts from its own bias.",
        False,
        _bias_length,
        failing=_changed(B="float[2]"),
        passing=PASSING,
        ruling="D-CONV-4",
    ),
    Rule(
        "conv.B.D1",
        "`B`, if given, must have rank 1.",
        "A bias is a list of values; any other shape would need broadcasting.",
        False,
        _rank("B", 1, "one value per output channel"),
        failing=_changed(B="float[3,1]"),
        passing=PASSING,
        ruling="D-CONV-4",
    ),
    Rule(
        "conv.B.D2",
        "`B`, if given, must have the element type of `X`.",
        "Sums of unlike types would need a conversion.",
        False,
        same_type("B", "X"),
        failing=_changed(B="double[3]"),
        passing=PASSING,
        ruling="D-ALL-3",
    ),
    Rule(
        "conv.Y.C1",
        "`Y` must have the shape (batch of X, output channels of W, positions down lines, along columns).",
        "The number of positions follows from the sizes, pads, dilations and strides.",
        False,
        declared_shape("Y", output_shape, "X", "W"),
        failing=_declared("float[1,3,4,4]"),
        passing=_declared("float[1,3,5,5]"),
        ruling="D-CONV-1",
    ),
    Rule(
        "conv.Y.D1",
        "`Y` must have the element type of `X`.",
        "The result is rounded once to that type.",
        False,
        declared_type("Y", "X"),
        failing=_declared("double[1,3,5,5]"),
        passing=_declared("float[1,3,5,5]"),
        ruling="D-CONV-6",
    ),
    Rule(
        "conv.Y.D2",
        "`Y` and the padded input must have fewer than 2^31 elements each (sizes 0 not counted).",
        "Indices of generated code are 32 bits wide; a larger padding is a mistake or an attack on memory.",
        True,
        addressable(_made_shapes, "X", "W"),
        failing=call("Conv", GOOD, {**ATTRIBUTES, "pads": (2**60, 1, 1, 1)}),
        passing=PASSING,
        ruling="D-ALL-3",
    ),
)
