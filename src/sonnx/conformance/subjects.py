"""What can be judged: the operators with their trials, and how their results are compared."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sonnx.conformance.judge import Specified
from sonnx.conformance.words import did_you_mean, meant_by
from sonnx.model.dtype import IEEE, DType
from sonnx.model.operator import Operand, Operator
from sonnx.numeric.arrays import Array
from sonnx.numeric.bits import NanRule
from sonnx.numeric.enclosure import Enclosure
from sonnx.operators import catalogue
from sonnx.operators.onnx.clip import trials as clip
from sonnx.operators.onnx.conv import trials as conv
from sonnx.operators.onnx.conv.accuracy import enclosure as conv_enclosure
from sonnx.operators.onnx.expand import trials as expand
from sonnx.operators.onnx.where import trials as where
from sonnx.operators.shared.cases import load_cases
from sonnx.operators.shared.draws import Drawn
from sonnx.operators.shared.trials import Clauses, Trial, Trials
from sonnx.operators.xla.broadcast import trials as xla_broadcast
from sonnx.operators.xla.clamp import trials as xla_clamp
from sonnx.operators.xla.collapse import trials as xla_collapse
from sonnx.operators.xla.concatenate import trials as xla_concatenate
from sonnx.operators.xla.conv import trials as xla_conv
from sonnx.operators.xla.conv.accuracy import enclosure as xla_conv_enclosure
from sonnx.operators.xla.conv_with_general_padding import trials as xla_general
from sonnx.operators.xla.conv_with_general_padding.accuracy import enclosure as xla_general_enclosure
from sonnx.operators.xla.convert_element_type import trials as xla_convert

# An operator by its identifier, on one type.
Unit = tuple[str, DType]
Enclose = Callable[[Mapping[str, Array], Mapping[str, Any]], Mapping[str, Enclosure]]


@dataclass(frozen=True)
class Subject:
    """An operator on trial.

    `nan` is "any" where NaNs are computed, "bits" where they are moved (D-ALL-4); `enclose` is there for
    operators that sum, and so have modes.
    """

    operator: Operator
    systematic: Trials
    clauses: Clauses
    drawn: Drawn
    nan: NanRule
    enclose: Enclose | None = None

    @property
    def identifier(self) -> str:
        """What its rules begin with, such as `clip` or `xla.clamp`."""
        return self.operator.identifier

    @property
    def types(self) -> tuple[DType, ...]:
        """The element types that can be tried; reals are held by no runtime."""
        return tuple(dtype for dtype in self._typed.types if dtype is not DType.REAL)

    @property
    def _typed(self) -> Operand:
        """The operand whose element type is on trial: Where's condition has one alone."""
        return self.operator.contract.inputs[-1 if self.identifier == "where" else 0]

    @property
    def asked_otherwise(self) -> bool:
        """Tell whether a model asks another operator, ONNX's Cast, which is outside the profile."""
        return self.operator is catalogue.XLA_CONVERT_ELEMENT_TYPE

    def trials(self, dtype: DType, seed: int) -> Iterator[Trial]:
        """The cases that were worked out by hand, then all systematic and random ones."""
        for number, case in enumerate(load_cases(self.identifier)):
            first = next(iter(case.inputs)) if self._typed.variadic else self._typed.name
            # What is converted over the reals has results that no runtime holds.
            if case.inputs[first].type.dtype is dtype and case.attributes.get("domain") != "real":
                inputs = {name: tensor.array() for name, tensor in case.inputs.items()}
                text = f"By hand: {case.name} ({case.source})."
                # No runtime is told how to sum: each mode is specified for whoever takes it.
                asked = {name: value for name, value in case.attributes.items() if name != "accumulate"}
                yield Trial(f"by-hand-{number}", inputs, case.rulings, text, asked)
        yield from self.systematic(dtype, seed)

    def specified(self, trial: Trial, dtype: DType) -> Specified:
        """What the specification says of a trial."""
        sums = self.enclose is not None
        floats = dtype in (*IEEE, DType.BFLOAT16)
        return Specified(
            self.operator,
            trial.inputs,
            trial.attributes,
            self.nan,
            partial(self.clauses, trial.inputs, trial.attributes),
            partial(self.enclose, trial.inputs, trial.attributes) if self.enclose and floats else None,
            ("separate", "fused") if sums else (),
        )


SUBJECTS = (
    Subject(catalogue.CLIP, clip.trials, clip.clauses, clip.drawn, "bits"),
    Subject(catalogue.CONV, conv.trials, conv.clauses, conv.drawn, "any", conv_enclosure),
    Subject(catalogue.WHERE, where.trials, where.clauses, where.drawn, "bits"),
    Subject(catalogue.EXPAND, expand.trials, expand.clauses, expand.drawn, "bits"),
    Subject(
        catalogue.XLA_BROADCAST, xla_broadcast.trials, xla_broadcast.clauses, xla_broadcast.drawn, "bits"
    ),
    Subject(catalogue.XLA_CLAMP, xla_clamp.trials, xla_clamp.clauses, xla_clamp.drawn, "any"),
    Subject(catalogue.XLA_COLLAPSE, xla_collapse.trials, xla_collapse.clauses, xla_collapse.drawn, "bits"),
    Subject(
        catalogue.XLA_CONCATENATE,
        xla_concatenate.trials,
        xla_concatenate.clauses,
        xla_concatenate.drawn,
        "bits",
    ),
    Subject(
        catalogue.XLA_CONVERT_ELEMENT_TYPE, xla_convert.trials, xla_convert.clauses, xla_convert.drawn, "any"
    ),
    Subject(catalogue.XLA_CONV, xla_conv.trials, xla_conv.clauses, xla_conv.drawn, "any", xla_conv_enclosure),
    Subject(
        catalogue.XLA_CONV_WITH_GENERAL_PADDING,
        xla_general.trials,
        xla_general.clauses,
        xla_general.drawn,
        "any",
        xla_general_enclosure,
    ),
)


def subject_named(identifier: str) -> Subject:
    """The subject of an operator by its identifier, such as `clip`; raises KeyError."""
    return _BY_IDENTIFIER[identifier]


# Types as others and the report's matrix write them.
_ALIASES = {
    **{"float32": "float", "f32": "float", "float64": "double", "f64": "double", "f16": "float16"},
    **{"bf16": "bfloat16", "c64": "complex64", "c128": "complex128", "str": "string", "pred": "bool"},
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
_BY_IDENTIFIER = {subject.identifier: subject for subject in SUBJECTS}


def units(operators: Sequence[str] = (), types: Sequence[str] = ()) -> tuple[Unit, ...]:
    """The operators and types to judge, in the order of the report; without a name, all.

    An operator is named as in ONNX, or `xla.` and its name; letters may be of any case. Raises ValueError
    with all names that there are not, and where nothing is left.
    """
    known = {subject.identifier: subject for subject in SUBJECTS}
    by_name = {name: name for name in known}
    by_name |= {subject.operator.name.lower(): name for name, subject in known.items()}
    spelled = {name: subject.operator.name for name, subject in known.items()}
    wanted = [by_name.get(name.lower()) for name in operators]
    all_types = {str(dtype): str(dtype) for subject in SUBJECTS for dtype in subject.types}
    unknown = [name for name, found in zip(operators, wanted, strict=True) if found is None]
    strange = [name for name in types if _ALIASES.get(name.lower(), name.lower()) not in all_types]
    problems = (
        [f"no operator {', '.join(unknown)}; there are {', '.join(spelled.values())}"] if unknown else []
    )
    problems += [f"no type {', '.join(strange)}; there are {', '.join(all_types)}"] if strange else []
    if problems:
        near = (
            *meant_by(unknown, {name: spelled[found] for name, found in by_name.items()}),
            *meant_by(strange, {**_ALIASES, **all_types}),
        )
        raise ValueError("; ".join(problems) + did_you_mean(near))
    chosen = {_ALIASES.get(name.lower(), name.lower()) for name in types} or set(all_types)
    found = tuple(
        (subject.identifier, dtype)
        for subject in SUBJECTS
        for dtype in subject.types
        if (not operators or subject.identifier in wanted) and str(dtype) in chosen
    )
    if not found:
        raise ValueError(f"none of these operators takes {', '.join(types)}")
    return found
