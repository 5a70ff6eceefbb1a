"""Conv: what its operands and attributes must fulfil."""

from collections.abc import Sequence
from dataclasses import replace

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.onnx.conv.geometry import AUTO_PADS, CONVOLUTION, RANK, SPATIAL, channels, group, resolve
from sonnx.operators.rules import made, made_lists
from sonnx.operators.rules.contracts import completed
from sonnx.operators.rules.declarations import declared_shape
from sonnx.operators.rules.limits import addressable
from sonnx.operators.rules.lists import integers, is_integer
from sonnx.operators.rules.operands import extents, sizes
from sonnx.operators.rules.shapes import rank
from sonnx.operators.rules.wording import count, noted, show, written
from sonnx.operators.shared.convolution_operator import MODES
from sonnx.vocabulary.call import ABSENT, Call, call
from sonnx.vocabulary.operator import Operand
from sonnx.vocabulary.rule import Broken, Shown

TYPES = (DType.REAL, *IEEE)
X, W, B, Y = (
    completed(operand, TYPES, "")
    for operand in (
        Operand("X", "X", "the image: batch, channels, lines, columns"),
        Operand("W", "W", "the kernel: output channels, channels per group, lines, columns"),
        Operand("B", "B", "the bias: one value per output channel; absent, it is zero", optional=True),
        Operand("Y", "Y", "the result: batch, output channels, lines, columns"),
    )
)
GOOD = call(
    "Conv",
    {"X": "float[1,2,5,5]", "W": "float[3,2,3,3]", "B": "float[3]"},
    {
        "strides": (1, 1),
        "pads": (1, 1, 1, 1),
        "dilations": (1, 1),
        "group": 1,
        "kernel_shape": (3, 3),
        "auto_pad": "NOTSET",
        "accumulate": "separate",
    },
)
_CONV = made.Owner("Conv", GOOD, "D-CONV-7")


# --- predicates that only Conv has -------------------------------------------------------------------------


def _kernel_rank(call: Call) -> Broken | None:
    W = extents(call, "W")
    # Where X has that rank too, the rule on X says it.
    if W is not None and extents(call, "X", len(W)) is not None:
        return None
    return rank("W", "output channels, channels per group, lines, columns", RANK)(call)


def _channels_agree(call: Call) -> Broken | None:
    number, W, groups = channels(call), sizes(call, "W", RANK), group(call)
    if number is None or W is None or groups is None or number == W[1] * groups:
        return None
    values = noted(call, X=count(number, "channel"), W=f"{count(W[1], 'channel')} per group")
    return Broken(
        (*values, Shown("group", str(groups))),
        f"give `W` {count(number // groups, 'channel')} on its second axis",
    )


def _kernel_fits(call: Call) -> Broken | None:
    axes, padded = CONVOLUTION.sliding(call), CONVOLUTION.padded_shape(call)
    if axes is None or padded is None or CONVOLUTION.output_shape(call) is not None:
        return None
    values = (
        *show(call, "X", "W"),
        Shown("padded X", written(padded[-SPATIAL:]), "lines, columns"),
        Shown("kernel", written([axis.extent for axis in axes]), "lines, columns, dilation included"),
    )
    return Broken(values, "enlarge `pads`, or reduce the kernel or `dilations`")


def _bias_length(call: Call) -> Broken | None:
    B, W = sizes(call, "B", 1), sizes(call, "W", RANK)
    if B is None or W is None or B[0] == W[0]:
        return None
    values = noted(call, B=count(B[0], "value"), W=count(W[0], "output channel"))
    return Broken(values, f"give `B` {count(W[0], 'value')}, one per output channel")


def _made_shapes(call: Call) -> Sequence[tuple[int, ...]]:
    """The padded input and the result, where both are known."""
    found = CONVOLUTION.made_shapes(call)
    return found[::-1] if len(found) > 1 else ()


def _axes(call: Call, length: int) -> Sequence[Shown] | None:
    """Why a list has so many values: two or four for two spatial axes.

    Where X, or W if the rank of X is open, has another rank, a rule on that says all there is to say.
    """
    shapes = (extents(call, name) for name in ("X", "W"))
    known = next((shape for shape in shapes if shape is not None), None)
    if known is not None and len(known) != RANK:
        return None
    return noted(call, X=f"{SPATIAL} spatial axes, so {length} values") if "X" in call.inputs else ()


def _explicit_padding(call: Call) -> Broken | None:
    value = call.attributes.get("auto_pad", ABSENT)
    if value is ABSENT or (isinstance(value, str) and value == "NOTSET"):
        return None
    image, axes = CONVOLUTION.base(call), CONVOLUTION.sliding(call)
    pads = "the pads that are meant"
    if isinstance(value, str) and value in AUTO_PADS and image is not None and axes is not None:
        pads = f"pads = {written(resolve(value, image, axes))}"
    return Broken((Shown("auto_pad", written(value)),), f'write auto_pad = "NOTSET" and {pads}')


def _group_known(call: Call) -> Broken | None:
    number, value = channels(call), call.attributes.get("group", ABSENT)
    if number is None or value is ABSENT or group(call) is not None:
        return None
    note = "" if is_integer(value) else "not an integer of 64 bits"
    values = (Shown("group", written(value), note), *noted(call, X=count(number, "channel")))
    depthwise = f" (standard) or group = {number} (depthwise)" if number > 1 else ""
    return Broken(values, f"write group = 1{depthwise}")


def _multiplier_one(call: Call) -> Broken | None:
    number, W, groups = channels(call), sizes(call, "W", RANK), group(call)
    if number is None or W is None or groups in (None, 1) or W[0] == number:
        return None
    values = (*show(call, "X", "W"), Shown("group", str(groups), "depthwise"))
    return Broken(values, f"give `W` {number} output channels, one per channel of `X`")


def _groups_fit(call: Call) -> bool:
    """Any number of groups that divides the channels, of X and of the result, has a meaning."""
    X, W, groups = sizes(call, "X", RANK), sizes(call, "W", RANK), call.attributes.get("group")
    if X is None or W is None or groups is None or not is_integer(groups) or groups < 1:
        return False
    return X[1] == W[1] * int(groups) and W[0] % int(groups) == 0


def _kernel_shape_agrees(call: Call) -> Broken | None:
    value, W = integers(call.attributes.get("kernel_shape")), sizes(call, "W", RANK)
    if value is None or W is None or len(value) != SPATIAL or value == W[2:]:
        return None
    wanted = f"[{W[2]}, {W[3]}]"
    values = (Shown("kernel_shape", written(value)), *noted(call, W=f"{wanted} lines, columns"))
    return Broken(values, f"write kernel_shape = {wanted}")


# --- the rules ---------------------------------------------------------------------------------------------

_X_AXES = ("DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE")
_W_AXES = ("FILTER_OUT_CHANNEL", "FILTER_IN_CHANNEL", "FILTER_SPATIAL", "FILTER_SPATIAL")

_OPERAND_RULES = (
    made_lists.rank(
        _CONV,
        "X.C1",
        "batch, channels, lines, columns",
        "The profile covers images; one definition with a fixed rank is easier to verify.",
        "float[1,2,5]",
        statement="`X` must have two spatial axes: its shape is (batch, channels, lines, columns).",
        restricts_onnx=True,
    ),
    _CONV.own(
        "X.C2",
        "`X` must have as many channels as the second axis of `W` times `group`.",
        "For each output channel, every input channel of its group meets exactly one slice of the kernel.",
        _channels_agree,
        _CONV.but(X="float[1,4,5,5]"),
        also=("W.C1",),
        ruling="D-CONV-2",
    ),
    _CONV.own(
        "X.C3",
        "The dilated kernel must fit into the padded input at least once on each spatial axis.",
        "Otherwise Y would have no element, or a negative size.",
        _kernel_fits,
        _CONV.but(X="float[1,2,5,0]"),
        also=("W.C2", "strides.C2", "pads.C3", "dilations.C3"),
        ruling="D-CONV-1",
    ),
    made_lists.denoted(
        _CONV, "X.C4", _X_AXES, ("DATA_BATCH", "DATA_FEATURE", "DATA_FEATURE", "DATA_CHANNEL")
    ),
    replace(
        made.allowed_types(_CONV, X, "D1", (X, W, B)),
        reason="These are the types whose sum and product, and their rounding, are defined here.",
        failing=_CONV.but(X="int32[1,2,5,5]", W="int32[3,2,3,3]", B="int32[3]"),
        passing=_CONV.but(X="double[1,2,5,5]", W="double[3,2,3,3]", B="double[3]"),
    ),
    made_lists.denoted(_CONV, "W.C3", _W_AXES, (_W_AXES[1], _W_AXES[0], *_W_AXES[2:])),
    made_lists.rank(
        _CONV,
        "W.D1",
        "output channels, input channels per group, lines, columns",
        "The kernel has the two spatial axes of the input.",
        "float[3,2,3]",
        predicate=_kernel_rank,
        restricts_onnx=True,
        ruling="D-CONV-2",
    ),
    made.same_type(_CONV, W, "D2", "X", "Products of unlike types would need a conversion."),
    _CONV.own(
        "B.C1",
        "`B`, if given, must have one value per output channel.",
        "Each output channel starts from its own bias.",
        _bias_length,
        _CONV.but(B="float[2]"),
        ruling="D-CONV-4",
    ),
    made_lists.rank(
        _CONV,
        "B.D1",
        "one value per output channel",
        "A bias is a list of values; any other shape would need broadcasting.",
        "float[3,1]",
        statement="`B`, if given, must have rank 1.",
        ruling="D-CONV-4",
    ),
    made.same_type(_CONV, B, "D2", "X", "Sums of unlike types would need a conversion."),
    replace(
        made.output_shape(_CONV, Y, "C1", CONVOLUTION.output_shape, "X"),
        statement="`Y` must have the shape (batch of X, output channels of W, positions down lines, along "
        "columns).",
        reason="The number of positions follows from the sizes, pads, dilations and strides.",
        predicate=declared_shape("Y", CONVOLUTION.output_shape, "X", "W"),
        failing=_CONV.declared(Y="float[1,3,4,4]"),
        ruling="D-CONV-1",
    ),
    replace(
        made.output_type(_CONV, Y, "D1", CONVOLUTION.output_shape, "X"),
        reason="The result is rounded once to that type.",
        ruling="D-CONV-6",
    ),
    _CONV.rule(
        "size of Y",
        "Y.D2",
        "`Y` and the padded input must have fewer than 2^31 elements each (sizes 0 not counted).",
        "Indices of generated code are 32 bits wide; a larger padding is a mistake or an attack on memory.",
        addressable(_made_shapes, "X", "W"),
        _CONV.but(pads=(2**60, 1, 1, 1)),
        restricts_onnx=True,
    ),
)

_LISTS = made_lists.listed(
    _CONV,
    _axes,
    (
        (
            *("strides.C1", "[down lines, along columns]", (1, 1, 1), ""),
            "One step for the lines and one for the columns.",
        ),
        (
            *("strides.D1", 1, (0, 1), "D-CONV-3"),
            "A step of 0 would never end, and no direction but forward is defined.",
        ),
        (
            *("pads.C1", 0, (1, 1, 1, -1), "D-CONV-7"),
            "A pad counts zeros to be inserted; taking elements away is another operation.",
        ),
        (
            "pads.C2",
            "[begin0, begin1, end0, end1]",
            (1, 1),
            "D-CONV-7",
            "Each axis has a beginning and an end.",
        ),
        ("dilations.C1", 1, (1, 0), "", "Neighbouring taps of the kernel lie one or more elements apart."),
        (
            *("dilations.C2", "[between lines, between columns]", (1,), ""),
            "One distance for the lines of the kernel and one for its columns.",
        ),
        ("kernel_shape.C1", 1, (0, 3), "", "A kernel without taps sums nothing."),
        ("kernel_shape.D1", "[lines, columns]", (3, 3, 3), "D-CONV-3", "The kernel has lines and columns."),
    ),
)
_TWO_STEPS = "The values of `strides` must be integers from 1 up: the step down lines, then along columns."
_ATTRIBUTE_RULES = (
    _LISTS["strides"][0],
    replace(_LISTS["strides"][1], statement=_TWO_STEPS),
    _CONV.own(
        "auto_pad.C1",
        "`auto_pad` must be NOTSET.",
        "Padding is written as numbers, so that everybody pads alike.",
        _explicit_padding,
        _CONV.but(auto_pad="SAME_UPPER"),
        restricts_onnx=True,
    ),
    _LISTS["pads"][0],
    replace(_LISTS["pads"][1], statement="`pads` needs two values per spatial axis of X."),
    *_LISTS["dilations"],
    _CONV.own(
        "group.C1",
        "`group` must be 1 (standard) or the number of channels of `X` (depthwise).",
        "Other groupings are outside the profile.",
        _group_known,
        _CONV.but(group=0),
        restricts_onnx=True,
        ruling="D-CONV-2",
        covered=_groups_fit,
    ),
    _CONV.own(
        "group.D1",
        "In a depthwise convolution `W` must have as many output channels as `X` has channels.",
        "Each channel has one kernel; several kernels per channel are outside the profile.",
        _multiplier_one,
        _CONV.but(W="float[4,1,3,3]", B="float[4]", group=2),
        passing=_CONV.but(W="float[2,1,3,3]", B="float[2]", group=2),
        restricts_onnx=True,
        ruling="D-CONV-2",
        covered=_groups_fit,
    ),
    replace(_LISTS["kernel_shape"][0], failing=_CONV.but(W="float[3,2,0,3]", kernel_shape=(0, 3))),
    _CONV.own(
        "kernel_shape.C2",
        "`kernel_shape` must be (lines, columns) of `W`: its last two axes.",
        "Two statements of one fact must agree.",
        _kernel_shape_agrees,
        _CONV.but(kernel_shape=(3, 1)),
        ruling="D-CONV-3",
    ),
    _LISTS["kernel_shape"][1],
    made_lists.mode(
        _CONV,
        "accumulate.D1",
        MODES,
        'write accumulate = "separate" or accumulate = "fused"',
        ruling="D-CONV-6",
    ),
)
RULES = (*_OPERAND_RULES, *_ATTRIBUTE_RULES)
