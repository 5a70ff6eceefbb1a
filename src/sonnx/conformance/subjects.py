"""What can be judged: the operators with their trials, and how their results are compared."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from sonnx.conformance.judge import Specified
from sonnx.conformance.words import did_you_mean, meant_by
from sonnx.derive.clauses import clauses
from sonnx.derive.forms import form_of
from sonnx.derive.tracing import makes_nans
from sonnx.derive.trials import drawn, stopping, trials
from sonnx.model.dtype import IEEE, DType
from sonnx.numeric.bits import NanRule
from sonnx.operators.catalogue import OPERATORS
from sonnx.operators.shared.cases import load_cases
from sonnx.vocabulary.draws import Drawn
from sonnx.vocabulary.form import ALIGNED, Form
from sonnx.vocabulary.operator import Operand, Operator
from sonnx.vocabulary.trial import Clause, Trial, Trials
from sonnx.vocabulary.trying import Enclose

# An operator by its identifier, on one type.
Unit = tuple[str, DType]


def _nowhere(dtype: DType) -> Iterator[Trial]:
    return iter(())


@dataclass(frozen=True)
class Subject:
    """An operator on trial.

    `clauses` takes operands and attributes, and the name of an output where it is not the first. `enclose` is
    there for operators that sum, and so have modes. `stopping` are trials at which a run must stop.
    """

    operator: Operator
    systematic: Trials
    clauses: Callable[..., tuple[Clause, ...]]
    drawn: Drawn
    form: Form = ALIGNED
    enclose: Enclose | None = None
    stopping: Callable[[DType], Iterator[Trial]] = _nowhere

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
        """The operand whose element type is on trial: a condition has one alone."""
        inputs = self.operator.contract.inputs
        return next((each for each in inputs if each.types != (DType.BOOL,)), inputs[0])

    @cached_property
    def nan(self) -> NanRule:
        """Whether NaNs are calculated, and so any will do, or moved bit for bit (D-ALL-4)."""
        case, settled = load_cases(self.identifier)[0], self.operator.contract.settled
        types = {name: tensor.type for name, tensor in case.inputs.items()}
        constants = {name: tuple(case.inputs[name].array().tolist()) for name in types if name in settled}
        return "any" if makes_nans(self.operator, types, case.attributes, constants) else "bits"

    @property
    def asked_otherwise(self) -> bool:
        """Tell whether a model asks another operator of ONNX's."""
        return self.operator.trying.asked_as is not None

    def trials(self, dtype: DType, seed: int) -> Iterator[Trial]:
        """The cases that were worked out by hand, all systematic and random ones, then those that stop."""
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
        # At the end it is known whether a runtime answers at all, so that a refusal means something.
        yield from self.stopping(dtype)

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
            trial.name,
        )


def _subject(operator: Operator) -> Subject:
    """An operator with what it says of trials itself, or what follows from its definition."""
    said = operator.trying
    return Subject(
        operator,
        said.trials or partial(trials, operator),
        partial(clauses, operator),
        said.drawn or partial(drawn, operator),
        said.form or (ALIGNED if operator.contract.good is None else form_of(operator)),
        said.enclose,
        partial(stopping, operator),
    )


def _is_tried(operator: Operator) -> bool:
    """Tell whether there are trials: such as are written, or those of operators on elements and of moves."""
    contract, said = operator.contract, operator.trying
    written = bool(said.trials or said.converts_to)
    return written or contract.good is not None or all(operand.form for operand in contract.inputs)


SUBJECTS = tuple(map(_subject, filter(_is_tried, OPERATORS)))


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
