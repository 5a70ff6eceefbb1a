"""The rules that both XLA convolutions have; each has its own identifiers and examples."""

from collections.abc import Mapping
from typing import Any

from sonnx.model.call import Call, call
from sonnx.model.rule import Broken, Predicate, Rule, Shown
from sonnx.operators.shared.predicates import (
    addressable,
    count,
    extents,
    integers,
    one_of,
    same_type,
    show,
    written,
)
from sonnx.operators.shared.xla_types import SUMMED, output_rules
from sonnx.operators.xla.conv_with_general_padding.geometry import (
    LEADING,
    made_shapes,
    output_shape,
    positive,
    spatial,
)

GOOD = {"lhs": "f32[1,2,5,5]", "rhs": "f32[3,2,3,3]"}
_PAIR = {"lhs": "pred[1,2,5,5]", "rhs": "pred[3,2,3,3]"}
_LARGE = {"lhs": "f32[60000,1,1,1]", "rhs": "f32[60000,1,1,1]"}


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
    values = (
        Shown("lhs", str(call.inputs["lhs"]), count(lhs[1] or 0, "feature")),
        Shown("rhs", str(call.inputs["rhs"]), count(rhs[1] or 0, "input feature")),
    )
    return Broken(values, "give both the same number of input features (dimension 1)")


def _window(call: Call) -> Broken | None:
    rhs = extents(call, "rhs")
    if rhs is None or all(size is None or size >= 1 for size in rhs[LEADING:]):
        return None
    return Broken(show(call, "rhs"), "give the window at least one element along every spatial dimension")


def at_least_one(name: str) -> Predicate:
    """The attribute has one integer from 1 up for each spatial dimension."""

    def predicate(call: Call) -> Broken | None:
        number = spatial(call)
        if number is None or positive(call, name) is not None:
            return None
        values = integers(call.attributes.get(name))
        note = "" if values is None else count(len(values), "value")
        shown = Shown(name, written(call.attributes.get(name)), note)
        lhs = Shown("lhs", str(call.inputs["lhs"]), count(number, "spatial dimension"))
        return Broken((shown, lhs), f"write {count(number, 'integer')} from 1 up")

    return predicate


def _mode_known(call: Call) -> Broken | None:
    value = call.attributes.get("accumulate")
    if isinstance(value, str) and value in ("separate", "fused"):
        return None
    return Broken((Shown("accumulate", written(value)),), 'write "separate" or "fused"')


def rules(
    name: str, identifier: str, attributes: Mapping[str, Any], more: tuple[Rule, ...]
) -> tuple[Rule, ...]:
    """The common rules of a convolution, and between them those on its padding."""

    def example(inputs: Mapping[str, str] = GOOD, **changed: Any) -> Call:
        return call(name, inputs, {**attributes, **changed})

    def rule(
        label: str,
        statement: str,
        reason: str,
        predicate: Predicate,
        failing: Call,
        passing: Call,
        ruling: str,
    ) -> Rule:
        return Rule(
            f"{identifier}.{label}", statement, reason, False, predicate, failing, passing, ruling=ruling
        )

    zero_window = {**GOOD, "rhs": "f32[3,2,0,3]"}
    return (
        rule(
            "lhs.D1",
            "`lhs` must hold reals, integers or floats.",
            "Neither pred nor complex numbers are convolved, and strings cannot be.",
            one_of("lhs", SUMMED),
            example(_PAIR),
            example({"lhs": "s8[1,2,5,5]", "rhs": "s8[3,2,3,3]"}),
            "D-XLA-5",
        ),
        rule(
            "lhs.D2",
            "`lhs` must have rank 2 at least: batch, features, then the spatial dimensions.",
            "Without these two there is nothing to sum over and nothing to repeat.",
            _rank,
            example({**GOOD, "lhs": "f32[5]"}),
            example(),
            "D-XLA-5",
        ),
        rule(
            "rhs.D1",
            "`rhs` must have the element type of `lhs`.",
            "A product of two types would need a conversion, and conversions may round.",
            same_type("rhs", "lhs"),
            example({**GOOD, "rhs": "f64[3,2,3,3]"}),
            example(),
            "D-XLA-5",
        ),
        rule(
            "rhs.D2",
            "`rhs` must have the rank of `lhs`.",
            "The window has one size for each dimension of the base area.",
            _same_rank,
            example({**GOOD, "rhs": "f32[3,2,3]"}),
            example(),
            "D-XLA-5",
        ),
        rule(
            "rhs.D3",
            "`rhs` must have as many input features (dimension 1) as `lhs` has features.",
            "Each feature of the base area meets its own slice of the window.",
            _features,
            example({**GOOD, "rhs": "f32[3,4,3,3]"}),
            example(),
            "D-XLA-5",
        ),
        rule(
            "rhs.D4",
            "The window must have at least one element along every spatial dimension.",
            "A window without extent has no place.",
            _window,
            example(zero_window),
            example({**GOOD, "rhs": "f32[3,2,1,3]"}),
            "D-XLA-5",
        ),
        rule(
            "window_strides.D1",
            "`window_strides` needs one integer from 1 up for each spatial dimension.",
            "A window that does not move forward would stay for ever.",
            at_least_one("window_strides"),
            example(window_strides=(1, 0)),
            example(window_strides=(2, 3)),
            "D-XLA-5",
        ),
        *more,
        rule(
            "accumulate.D1",
            "The accumulation mode must be `separate` or `fused`.",
            "The two differ in their bits, and there is no third one.",
            _mode_known,
            example(accumulate="fast"),
            example(accumulate="fused"),
            "D-XLA-5",
        ),
        rule(
            "output.D3",
            "The result and the padded base area must have fewer than 2^31 elements (sizes 0 not counted).",
            "Indices of generated code are 32 bits wide.",
            addressable(made_shapes, "lhs", "rhs"),
            example(_LARGE),
            example(),
            "D-ALL-3",
        ),
        *output_rules(identifier, output_shape, example(), "f32[1,3,9,9]", "f64[1,3,3,3]"),
    )
