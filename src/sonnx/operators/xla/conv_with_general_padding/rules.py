"""The rules that both XLA convolutions have; each has its own identifiers and examples."""

from collections.abc import Callable
from dataclasses import replace

from sonnx.operators.rules import made, made_lists
from sonnx.operators.rules.contracts import completed
from sonnx.operators.rules.limits import addressable
from sonnx.operators.rules.operands import extents
from sonnx.operators.rules.values import POSITIVE
from sonnx.operators.rules.wording import count, noted, show
from sonnx.operators.shared.convolution_operator import ACCUMULATE, LEADING, MODES, Convolution, Told
from sonnx.operators.shared.xla_types import OUTPUT_WORDS, SUMMED
from sonnx.operators.xla.conv_with_general_padding.geometry import spatial
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Attribute, Contract, Operand
from sonnx.vocabulary.rule import Broken, Rule

_LHS, _RHS, _OUTPUT = (
    completed(operand, SUMMED, "")
    for operand in (
        Operand("lhs", "X", "the base area: batch, features, spatial dimensions"),
        Operand("rhs", "W", "the window: output features, input features, spatial dimensions"),
        Operand("output", "Y", "the result: batch, output features, positions"),
    )
)
# Numbers are unlike wherever they may differ.
_SHOWN = {"lhs": "f32[2,3,101,103]", "rhs": "f32[5,3,7,11]"}
_STRIDES = Attribute("window_strides", "integers", "steps of the window, one for each spatial dimension")


def _rank(call: Call) -> Broken | None:
    lhs = extents(call, "lhs")
    if lhs is None or len(lhs) >= LEADING:
        return None
    return Broken(show(call, "lhs"), "give `lhs` the dimensions batch, features, then the spatial ones")


def _same_rank(call: Call) -> Broken | None:
    number, rhs = spatial(call), extents(call, "rhs")
    if number is None or rhs is None or len(rhs) == number + LEADING:
        return None
    return Broken(
        show(call, "rhs", "lhs"), "give `rhs` output features, input features, and as many spatial dimensions"
    )


def _features(call: Call) -> Broken | None:
    lhs, rhs = extents(call, "lhs"), extents(call, "rhs")
    if lhs is None or rhs is None or min(len(lhs), len(rhs)) < LEADING or None in (lhs[1], rhs[1]):
        return None
    if lhs[1] == rhs[1]:
        return None
    values = noted(call, lhs=count(lhs[1] or 0, "feature"), rhs=count(rhs[1] or 0, "input feature"))
    return Broken(values, "give both the same number of input features (dimension 1)")


def _window(call: Call) -> Broken | None:
    rhs = extents(call, "rhs")
    if rhs is None or all(size is None or size >= 1 for size in rhs[LEADING:]):
        return None
    return Broken(show(call, "rhs"), "give the window at least one element along every spatial dimension")


def contract(
    of: Convolution,
    name: str,
    summary: str,
    good: Told,
    shown: Told,
    padded: tuple[Attribute, ...],
    more: Callable[[made.Owner], tuple[Rule, ...]],
) -> Contract:
    """The contract of a convolution with such attributes for its padding, and `more` rules on them.

    `good` are values of these attributes that break no rule, `shown` those for which the page has a formula.
    """
    told = {"window_strides": (1, 1), **good, "accumulate": "separate"}
    example = call(f"xla.{name}", {"lhs": "f32[1,2,5,5]", "rhs": "f32[3,2,3,3]"}, told)
    this = made.Owner(name, example, "D-XLA-5", "xla")
    return Contract(
        name=name,
        domain="xla",
        versions=(),
        summary=summary,
        inputs=(_LHS, _RHS),
        outputs=(_OUTPUT,),
        attributes=(_STRIDES, *padded, ACCUMULATE),
        rules=(*_operand_rules(this), _stride_rule(this), *more(this), *_whole_rules(this, of)),
        output_types=of.output_types,
        uses_arithmetic=True,
        shown=call(example.operator, _SHOWN, {**told, "window_strides": (13, 17), **shown}),
    )


def _operand_rules(this: made.Owner) -> tuple[Rule, ...]:
    return (
        replace(
            made.allowed_types(this, _LHS, "D1", (_LHS, _RHS)),
            statement="`lhs` must hold reals, integers or floats.",
            reason="Neither pred nor complex numbers are convolved, and strings cannot be.",
            restricts_onnx=False,
            failing=this.but(lhs="pred[1,2,5,5]", rhs="pred[3,2,3,3]"),
            passing=this.but(lhs="s8[1,2,5,5]", rhs="s8[3,2,3,3]"),
        ),
        this.own(
            "lhs.D2",
            "`lhs` must have rank 2 at least: batch, features, then the spatial dimensions.",
            "Without these two there is nothing to sum over and nothing to repeat.",
            _rank,
            this.but(lhs="f32[5]"),
        ),
        replace(
            made.same_type(this, _RHS, "D1", "lhs"),
            reason="A product of two types would need a conversion, and conversions may round.",
            ruling=this.ruling,
        ),
        this.own(
            "rhs.D2",
            "`rhs` must have the rank of `lhs`.",
            "The window has one size for each dimension of the base area.",
            _same_rank,
            this.but(rhs="f32[3,2,3]"),
        ),
        this.own(
            "rhs.D3",
            "`rhs` must have as many input features (dimension 1) as `lhs` has features.",
            "Each feature of the base area meets its own slice of the window.",
            _features,
            this.but(rhs="f32[3,4,3,3]"),
        ),
        this.own(
            "rhs.D4",
            "The window must have at least one element along every spatial dimension.",
            "A window without extent has no place.",
            _window,
            this.but(rhs="f32[3,2,0,3]"),
            passing=this.but(rhs="f32[3,2,1,3]"),
        ),
    )


def _stride_rule(this: made.Owner) -> Rule:
    reason = "A window that does not move forward would stay for ever."
    place = "window_strides.D1"
    return made_lists.one_per_axis(this, place, POSITIVE, spatial, reason, (1, 0), (2, 3))


def _whole_rules(this: made.Owner, of: Convolution) -> tuple[Rule, ...]:
    mode = made_lists.mode(this, "accumulate.D1", MODES, 'write "separate" or "fused"')
    shape = made.output_shape(this, _OUTPUT, "D1", of.output_shape, "lhs")
    kind = made.output_type(this, _OUTPUT, "D2", of.output_shape, "lhs")
    return (
        replace(mode, passing=this.but(accumulate="fused")),
        this.rule(
            "size of output",
            "output.D3",
            "The result and the padded base area must have fewer than 2^31 elements (sizes 0 not counted).",
            "Indices of generated code are 32 bits wide.",
            addressable(of.made_shapes, "lhs", "rhs"),
            this.but(lhs="f32[60000,1,1,1]", rhs="f32[60000,1,1,1]"),
        ),
        replace(shape, **OUTPUT_WORDS["shape of output"], failing=this.declared(output="f32[1,3,9,9]")),
        replace(kind, **OUTPUT_WORDS["type of output"], failing=this.declared(output="f64[1,3,3,3]")),
    )
