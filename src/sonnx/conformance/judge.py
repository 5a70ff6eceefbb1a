"""Compares what a runtime says with what the specification says, element by element."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from sonnx.conformance.words import text_at
from sonnx.derive.domains import domain_of
from sonnx.evaluate.apply import apply
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, describe, held_type, numpy_dtype
from sonnx.numeric.bits import NanRule, differing
from sonnx.numeric.convert import PART
from sonnx.numeric.enclosure import Enclosure
from sonnx.numeric.environment import NotIeeeError
from sonnx.operators.rules.wording import count
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.rule import DomainError, RuleError
from sonnx.vocabulary.special_values import is_nan
from sonnx.vocabulary.trial import Clause

# How a sum must be taken: with the bits of one of the two modes, or in any order inside the enclosure.
Sums = Literal["free", "separate", "fused"]
# What a result was found to be: the specified bits (of a mode of sums), or inside the enclosure; or there is
# none, as it must be where a run stops.
Grade = Literal["bits", "separate", "fused", "enclosure", "stop"]
# In what an element differs: not at all in its value, or in that too.
DifferenceKind = Literal["value", "sign of zero", "bits of NaN", "type or shape"]


class SpecifiedError(ValueError):
    """An operator's own definition failed on a trial; the text says which, on which, and why."""


# Clauses about outputs as a whole: a runtime may break one and keep the others.
_NUMBER = "there are as many outputs as the contract has"
_TYPES = "outputs have the types of the contract"
_SHAPES = "outputs have the shapes of the contract"


@dataclass(frozen=True)
class Difference:
    """An element, or a whole output, that is not as specified; `place` is None for the whole of it."""

    identifier: str
    clause: str
    kind: DifferenceKind
    output: str
    place: tuple[int, ...] | None
    expected: str
    found: str
    elements: int = 1


@dataclass(frozen=True)
class Judgement:
    """What became of one trial: how far it is as specified, or how it breaks which clauses."""

    grade: Grade | None
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class Specified:
    """What the specification says of one trial; everything is found out when it is asked for."""

    operator: Operator
    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any]
    nan: NanRule
    # Those that decide an output, by its name.
    clauses: Callable[[str], tuple[Clause, ...]]
    enclosure: Callable[[], Mapping[str, Enclosure]] | None = None
    modes: tuple[str, ...] = ()
    # What the trial is called.
    trial: str = ""
    _results: dict[str, Mapping[str, Array]] = field(default_factory=dict, repr=False)

    @cached_property
    def stop(self) -> str:
        """The elements at which a run must stop, and give no output (D-ALL-11); nothing where it goes on."""
        if domain_of(self.operator) is None:
            return ""
        try:
            self.results(self.modes[0] if self.modes else "")
        except DomainError as error:
            return ", ".join(f"{value.name} is {value.value}" for value in error.findings[0].values)
        return ""

    def results(self, mode: str = "") -> Mapping[str, Array]:
        """The outputs by name; of an operator that sums, in one of its modes. Raises SpecifiedError."""
        if mode not in self._results:
            modes = {"accumulate": mode} if mode else {}
            try:
                self._results[mode] = apply(self.operator, self.inputs, {**self.attributes, **modes})
            except (NotIeeeError, RuleError):
                raise
            except Exception as error:  # whatever a definition does that is wrong
                raise SpecifiedError(
                    f"the definition of {self.operator.name} fails on the trial {self.trial}: "
                    f"{type(error).__name__}: {error}"
                ) from error
        return self._results[mode]


def judge(specified: Specified, found: Sequence[Any], sums: Sums = "free") -> Judgement:
    """Judge the outputs of a runtime, which are in the order of the operator's outputs."""
    if specified.stop:
        return Judgement(None, (_gone_on(specified, found),))
    wanted = sums if sums != "free" or not specified.modes else specified.modes[0]
    expected = specified.results(wanted if specified.modes else "")
    if len(found) != len(expected):
        numbers = count(len(expected), "output"), count(len(found), "output")
        return Judgement(None, (_whole(specified, _NUMBER, *numbers),))
    # What is no array of one of the profile's types is its description.
    described = [(v, None) if isinstance(v, TensorType) else describe(v) for v in found]
    arrays: dict[str, Array] = {}
    broken: dict[str, Difference] = {}
    for (name, right), (kind, array) in zip(expected.items(), described, strict=True):
        right_kind = describe(right)[0]
        for clause in _broken(right_kind, kind, array is not None):
            told = _whole(specified, clause, f"`{name}` of type {right_kind}", str(kind))
            broken.setdefault(clause, told)
        if array is not None:
            arrays[name] = array
    if broken:
        return Judgement(None, tuple(broken.values()))
    if not specified.modes:
        wrong = {name: differing(arrays[name], expected[name], nan=specified.nan) for name in expected}
        return _judged("bits", specified, expected, arrays, wrong)
    return _judged_sums(specified, arrays, sums)


def _judged_sums(specified: Specified, found: Mapping[str, Array], sums: Sums) -> Judgement:
    """Sums: the bits of a mode where one is asked for, else those of any mode, else the enclosure."""
    asked = specified.modes if sums == "free" else (sums,)
    for mode in asked:
        expected = specified.results(mode)
        wrong = {name: differing(found[name], expected[name], nan="any") for name in expected}
        if not any(mask.any() for mask in wrong.values()):
            return Judgement("separate" if mode == "separate" else "fused")
    expected = specified.results(asked[0])
    if sums == "free" and specified.enclosure:
        inside = specified.enclosure()
        wrong = {name: ~inside[name].holds(found[name]) for name in inside}
    return _judged("enclosure", specified, expected, found, wrong)


def _judged(
    grade: Grade,
    specified: Specified,
    expected: Mapping[str, Array],
    found: Mapping[str, Array],
    wrong: Mapping[str, Array],
) -> Judgement:
    """The differences of every clause that decides a wrong element."""
    if not any(mask.any() for mask in wrong.values()):
        return Judgement(grade)
    differences: list[Difference] = []
    for name, mask in wrong.items():
        left = mask.copy()
        for clause in specified.clauses(name):
            blamed = left & clause.mask
            if clause.only_values and blamed.any():
                blamed &= ~_kinds(expected[name], found[name])[0]
            left &= ~blamed
            if blamed.any():
                differences += by_kind(clause, name, blamed, expected[name], found[name])
    return Judgement(None, tuple(differences))


def by_kind(clause: Clause, name: str, wrong: Array, expected: Array, found: Array) -> Iterator[Difference]:
    """One difference for every way in which elements of an output are wrong: its first one."""
    dtype = held_type(expected)
    masks = _kinds(expected, found)[1]
    lost = np.ones(expected.shape, bool)
    for mask in masks.values():
        lost &= ~mask
    for kind, kept in {"value": lost, **masks}.items():
        mask = wrong & kept
        if mask.any():
            place = tuple(int(index) for index in np.argwhere(mask)[0])
            right, wrong_one = (text_at(array, place, dtype) for array in (expected, found))
            yield Difference(
                clause.identifier, clause.text, kind, name, place, right, wrong_one, int(mask.sum())
            )


def _kinds(expected: Array, found: Array) -> tuple[Array, Mapping[DifferenceKind, Array]]:
    """Where elements have the same value but for their bits; and what these may differ in.

    Of a complex number both parts must have the same value. Of a bool any byte but 0 is true, and a wrong
    byte has no kind of its own.
    """
    dtype = held_type(expected)
    if dtype is DType.STRING:
        return np.zeros(expected.shape, bool), {}
    part = numpy_dtype(PART.get(dtype, dtype))
    one, other = (np.ascontiguousarray(array).reshape(-1, 1).view(part) for array in (expected, found))
    with np.errstate(invalid="ignore"):  # comparing NaNs of bfloat16 raises a flag
        equal = one == other
    nan = is_nan(one) & is_nan(other)
    same = (equal | nan).all(axis=1).reshape(expected.shape)
    if dtype is DType.BOOL:
        return same, {}
    nans = nan.any(axis=1).reshape(expected.shape)
    return same, {"sign of zero": same & ~nans, "bits of NaN": same & nans}


def _broken(right: TensorType, found: TensorType, held: bool) -> Iterator[str]:
    """What a whole output is wrong in: its type, its shape, or both; `held` says that it has elements."""
    shape = found.sizes is not None and found.sizes != right.sizes
    # What is told of a tensor alone, without its elements, is no tensor of that type.
    if found.dtype != right.dtype or not (held or shape):
        yield _TYPES
    if shape:
        yield _SHAPES


def _gone_on(specified: Specified, found: Sequence[Any]) -> Difference:
    """There are outputs where a run must stop."""
    domain = domain_of(specified.operator)
    assert domain is not None  # a run stops
    clause = f"At every element, {domain.text}; where not, the run stops and gives no output."
    described = (v if isinstance(v, TensorType) else describe(v)[0] for v in found)
    given = ", ".join(map(str, described)) or "no error"
    expected = f"no output: the run stops, for {specified.stop}"
    return Difference(domain.ruling, clause, "value", "", None, expected, given)


def _whole(specified: Specified, clause: str, expected: str, found: str) -> Difference:
    rule = f"{specified.operator.identifier}.outputs"
    return Difference(rule, clause, "type or shape", "", None, expected, found)
