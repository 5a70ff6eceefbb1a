"""Cases by hand as goals for Why3: what modules written from a definition must give, element by element.

An element is said as far as its type has words. Reals and integers are exact; where integers are calculated
with, results are compared modulo 2^n. Floats and doubles are the same float: a NaN is any NaN, the same one
wherever its bits are the same. Of other formats zeros, infinities and NaN have words, and elements with other
operands are left out, and so are sums and products of floats. A definition that asks nothing of its type is
asked for any elements whatever.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from math import copysign, isinf, isnan
from typing import Any, Protocol

import numpy as np

from sonnx.derive.why3 import DOMAINS, Written, module, written
from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.terms.term import Sort, make
from sonnx.vocabulary.operator import Operator

# What the module that speaks of a type is called after; none speaks of texts and of complex numbers.
_SUFFIXES = {
    DType.REAL: "Real",
    DType.BOOL: "Int",
    **dict.fromkeys(INTEGERS, "Int"),
    DType.FLOAT: "Float32",
    DType.DOUBLE: "Float64",
    DType.FLOAT16: "Float",
    DType.BFLOAT16: "Float",
}
_DOMAINS = {domain.suffix: domain for domain in DOMAINS}
_ZEROS = {"Float": ("plus_zero", "minus_zero"), "Float32": ("zeroF", "(.- zeroF)")}
_ZEROS["Float64"] = _ZEROS["Float32"]
# Operations whose results wrap where integers have a width (D-ALL-6), and do not in a theory.
_WRAPPING = frozenset({"plus", "minus", "times", "negate", "absolute"})
# What a goal's lines say, and what must be used for that.
_LIBRARIES = {"mod (": "int.EuclideanDivision", "on_tensors (": "shared.tensor.Tensor"}


class Tensor(Protocol):
    """What a case holds for an operand or a result."""

    def array(self) -> Array:
        """Its elements."""
        ...


class Case(Protocol):
    """A call and what it must give, worked out by hand."""

    @property
    def name(self) -> str:
        """What it shows."""
        ...

    @property
    def inputs(self) -> Mapping[str, Tensor]:
        """Operands by name."""
        ...

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Attributes by name."""
        ...

    @property
    def outputs(self) -> Mapping[str, Tensor]:
        """Results by name."""
        ...

    @property
    def nan(self) -> str:
        """Whether a NaN is one by its "bits", or "any"."""
        ...


def case_theories(operators: Iterable[Operator], cases_of: Callable[[str], Iterable[Case]]) -> dict[str, str]:
    """The goals of all operators that are defined element by element, by the path beside their laws."""
    found: dict[str, str] = {}
    for each in operators:
        folder = f"{each.contract.domain or 'onnx'}/{each.folder}"
        text = case_theory(written(each), folder, cases_of(each.identifier))
        found |= {f"{folder}/cases.mlw": text} if text else {}
    return found


def case_theory(text: Written | None, folder: str, cases: Iterable[Case]) -> str:
    """The modules of an operator's cases, each called as that of the definition which it speaks of."""
    if text is None:
        return ""
    goals: dict[str, list[str]] = {}
    for case in cases:
        suffix = _suffix(text, case)
        if suffix is not None:
            goals.setdefault(suffix, []).extend(_goal(text, suffix, case))
    place = f"{folder.replace('/', '.')}.definition.{text.title}"
    made = {suffix: [*_uses(place, suffix, lines), *lines] for suffix, lines in goals.items() if lines}
    return "\n".join(f"{module(text.title + suffix, lines)}\n" for suffix, lines in made.items())


def _suffix(text: Written, case: Case) -> str | None:
    """Which module of a definition speaks of a case; a variadic operand is there twice, not more or less."""
    given = case.inputs.keys() | case.attributes.keys()
    if not case.inputs.keys() <= text.operands.keys() <= given:
        return None
    if not text.asks:
        return ""
    dtype = _calculated_in(text, case)
    if dtype is DType.BOOL and text.makes is Sort.TRUTH:  # whose bytes are no numbers to be compared
        return None
    suffix = _SUFFIXES.get(dtype, "")
    # What a float is rounded to is found by one prover alone, the one that calculates with floats itself. It
    # is asked after all others have taken their time, half a minute for every element, so whoever calculates
    # is asked for reals and integers only.
    rounds = suffix.startswith("Float") and text.functions_asked
    # Which number a root of reals is, none of them finds; laws say what roots are.
    sought = suffix == "Real" and "root" in text.functions_asked
    found = suffix and not rounds and not sought
    return suffix if found and text.suits(_DOMAINS[suffix]) else None


def _calculated_in(text: Written, case: Case) -> DType:
    """The type of elements: that of the result, unless it is a truth about others."""
    if text.makes is Sort.NUMBER:
        return held_type(_output(case))
    asked = (name for name, sort in text.operands.items() if sort is Sort.NUMBER and name in case.inputs)
    return next((held_type(case.inputs[name].array()) for name in asked), DType.BOOL)


def _output(case: Case) -> Array:
    (output,) = case.outputs.values()
    return output.array()


def _uses(place: str, suffix: str, lines: Iterable[str]) -> Iterator[str]:
    """What a module needs before its goals."""
    if suffix:
        yield from (f"use {used}" for used in _DOMAINS[suffix].uses)
    every = "\n".join(lines)
    yield from (f"use {used}" for said, used in _LIBRARIES.items() if said in every)
    if suffix:
        yield f"use {place}{suffix}"
    else:
        yield from ("type t", f"clone export {place} with type t = t")


def _goal(text: Written, suffix: str, case: Case) -> Iterator[str]:
    """A case as a goal, each element on a line; nothing where no element can be said."""
    output, elements = _output(case), _Elements(suffix, _calculated_in(text, case))
    given = {name: tensor.array() for name, tensor in case.inputs.items()}
    given |= {name: elements.attribute(case.attributes[name]) for name in text.operands.keys() - given.keys()}
    said = []
    for index in np.ndindex(output.shape):
        operands = [elements.said(given[name], index, sort) for name, sort in text.operands.items()]
        result = elements.said(output, index, text.makes)
        if result is not None and None not in operands:
            applied = " ".join([text.name, *map(str, operands)])
            said.append(_equal(text, elements, applied, result, any_nan=case.nan == "any"))
            if not output.shape and f"{applied} = {result}" == said[-1]:
                scalars = " ".join(f"(scalar {each})" for each in operands)
                said.append(f"on_tensors {scalars} == scalar {result}")
    if said:
        slug = "_".join(re.findall("[a-z0-9]+", case.name.lower()))
        yield from ("", f'(* cases.toml, "{case.name}". *)')
        yield f"goal example_{slug}: {elements.assumed()}".rstrip()
        yield f"  {said[0]}"
        yield from (f"  /\\ {each}" for each in said[1:])


def _equal(text: Written, elements: "_Elements", applied: str, result: str, *, any_nan: bool) -> str:
    """That what a definition gives is the result of a case."""
    if any_nan and result in elements.variables.values():
        return f"is_nan ({applied})"
    if elements.dtype in INTEGERS and not _WRAPPING.isdisjoint(text.functions_asked):
        return f"mod ({applied} - {result}) {2 ** (8 * numpy_dtype(elements.dtype).itemsize)} = 0"
    return f"{applied} = {result}"


class _Elements:
    """How elements of a type are said; `variables` are those that can only be named, by their bits."""

    def __init__(self, suffix: str, dtype: DType) -> None:
        self.suffix, self.dtype = suffix, dtype
        self.variables: dict[Any, str] = {}

    def assumed(self) -> str:
        """What stands before a goal: that a format is one, and what is known of variables."""
        format_is_one = "ieee -> " if self.suffix == "Float" else ""
        if not self.variables:
            return format_is_one
        names = self.variables.values()
        nans = "".join(f"is_nan {name} -> " for name in names) if self.suffix else ""
        return f"{format_is_one}forall {' '.join(names)}: t. {nans}"

    def attribute(self, value: float) -> Array:
        """The value of an attribute in the type, rounded once."""
        exact = Fraction(value) if self.dtype is DType.REAL else value
        return np.array(exact, numpy_dtype(self.dtype))

    def said(self, array: Array, index: tuple[int, ...], sort: Sort = Sort.NUMBER) -> str | None:
        """An operand's element for an index of the result, as an argument; None where there is no word."""
        value = array[index if array.shape else ()]
        if sort is Sort.TRUTH:
            return str(value.view(np.uint8))
        if not self.suffix:
            return self._variable("x", value)
        if self.dtype in (*INTEGERS, DType.BOOL, DType.REAL):
            return self._number(Fraction(value) if self.dtype is DType.REAL else Fraction(int(value)))
        number = float(value)
        if isnan(number):
            return self._variable("nan", value)
        if isinf(number):
            return "plus_infinity" if number > 0 else "minus_infinity"
        return self._number(Fraction(number)) if number else _ZEROS[self.suffix][copysign(1, number) < 0]

    def _number(self, value: Fraction) -> str | None:
        text = _DOMAINS[self.suffix].literal(make("literal", data=value))
        return text if text is None or re.fullmatch(r"[\w.]+|\([^()]*\)", text) else f"({text})"

    def _variable(self, name: str, value: Any) -> str:
        bits = value.tobytes() if isinstance(value, np.generic) else value
        return self.variables.setdefault(bits, f"{name}_{len(self.variables) + 1}")
