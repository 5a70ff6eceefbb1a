"""The rules that both XLA convolutions have; each has its own identifiers and examples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sonnx.operators.rules.element_types import one_of, same_type
from sonnx.operators.rules.limits import addressable
from sonnx.operators.rules.lists import integers
from sonnx.operators.rules.operands import extents
from sonnx.operators.rules.wording import count, show, written
from sonnx.operators.shared.xla_types import SUMMED, output_rules
from sonnx.operators.xla.conv_with_general_padding.geometry import (
    LEADING,
    made_shapes,
    output_shape,
    positive,
    spatial,
)
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.rule import Broken, Predicate, Rule, Shown

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


@dataclass(frozen=True)
class _Convolution:
    """One of the two: what its calls are named, what its rules begin with, and attributes that obey them."""

    name: str
    identifier: str
    attributes: Mapping[str, Any]

    def example(self, inputs: Mapping[str, str] = GOOD, **changed: Any) -> Call:
        """A call with other operands or attributes."""
        return call(self.name, inputs, {**self.attributes, **changed})

    def rule(
        self,
        label: str,
        statement: str,
        reason: str,
        predicate: Predicate,
        failing: Call,
        passing: Call | None = None,
        ruling: str = "D-XLA-5",
    ) -> Rule:
        """A rule under this convolution's identifier."""
        right = passing or self.example()
        identifier = f"{self.identifier}.{label}"
        return Rule(identifier, statement, reason, False, predicate, failing, right, ruling=ruling)


def rules(
    name: str, identifier: str, attributes: Mapping[str, Any], more: tuple[Rule, ...]
) -> tuple[Rule, ...]:
    """The common rules of a convolution, and between them those on its padding."""
    this = _Convolution(name, identifier, attributes)
    declared = output_rules(identifier, output_shape, this.example(), "f32[1,3,9,9]", "f64[1,3,3,3]")
    return (*_lhs_rules(this), *_rhs_rules(this), _stride_rule(this), *more, *_whole_rules(this), *declared)


def _lhs_rules(this: _Convolution) -> tuple[Rule, ...]:
    return (
        this.rule(
            "lhs.D1",
            "`lhs` must hold reals, integers or floats.",
            "Neither pred nor complex numbers are convolved, and strings cannot be.",
            one_of("lhs", SUMMED),
            this.example(_PAIR),
            this.example({"lhs": "s8[1,2,5,5]", "rhs": "s8[3,2,3,3]"}),
        ),
        this.rule(
            "lhs.D2",
            "`lhs` must have rank 2 at least: batch, features, then the spatial dimensions.",
            "Without these two there is nothing to sum over and nothing to repeat.",
            _rank,
            this.example({**GOOD, "lhs": "f32[5]"}),
        ),
    )


def _rhs_rules(this: _Convolution) -> tuple[Rule, ...]:
    return (
        this.rule(
            "rhs.D1",
            "`rhs` must have the element type of `lhs`.",
            "A product of two types would need a conversion, and conversions may round.",
            same_type("rhs", "lhs"),
            this.example({**GOOD, "rhs": "f64[3,2,3,3]"}),
        ),
        this.rule(
            "rhs.D2",
            "`rhs` must have the rank of `lhs`.",
            "The window has one size for each dimension of the base area.",
            _same_rank,
            this.example({**GOOD, "rhs": "f32[3,2,3]"}),
        ),
        this.rule(
            "rhs.D3",
            "`rhs` must have as many input features (dimension 1) as `lhs` has features.",
            "Each feature of the base area meets its own slice of the window.",
            _features,
            this.example({**GOOD, "rhs": "f32[3,4,3,3]"}),
        ),
        this.rule(
            "rhs.D4",
            "The window must have at least one element along every spatial dimension.",
            "A window without extent has no place.",
            _window,
            this.example({**GOOD, "rhs": "f32[3,2,0,3]"}),
            this.example({**GOOD, "rhs": "f32[3,2,1,3]"}),
        ),
    )


def _stride_rule(this: _Convolution) -> Rule:
    return this.rule(
        "window_strides.D1",
        "`window_strides` needs one integer from 1 up for each spatial dimension.",
        "A window that does not move forward would stay for ever.",
        at_least_one("window_strides"),
        this.example(window_strides=(1, 0)),
        this.example(window_strides=(2, 3)),
    )


def _whole_rules(this: _Convolution) -> tuple[Rule, ...]:
    return (
        this.rule(
            "accumulate.D1",
            "The accumulation mode must be `separate` or `fused`.",
            "The two differ in their bits, and there is no third one.",
            _mode_known,
            this.example(accumulate="fast"),
            this.example(accumulate="fused"),
        ),
        this.rule(
            "output.D3",
            "The result and the padded base area must have fewer than 2^31 elements (sizes 0 not counted).",
            "Indices of generated code are 32 bits wide.",
            addressable(made_shapes, "lhs", "rhs"),
            this.example(_LARGE),
            ruling="D-ALL-3",
        ),
    )
