"""Domains: for which elements a definition is defined, and the first one for which it is not (D-ALL-11).

Where reals are too close to decide, that element is found here too (D-ALL-8).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sonnx.derive.tracing import suited
from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.arrays import Array
from sonnx.numeric.balls import MOST_PRECISION, Ball, UndecidedError
from sonnx.numeric.real import real_text
from sonnx.terms.term import Term
from sonnx.terms.tracing import Domain, Element, Kind
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.outside import Outside, OutsideError, Undecided
from sonnx.vocabulary.rule import Shown

# Of an operator that takes any number of operands, an error shows so many elements.
_MOST_SHOWN = 8


def kind_of(dtype: DType) -> Kind:
    """Which kind of types one belongs to, as domains tell them apart."""
    return "integers" if dtype in INTEGERS else "reals" if dtype is DType.REAL else "floats"


def inside(operator: Operator, element: Element | None, dtype: DType) -> Term | None:
    """The tree that says for which elements an operator is defined; None where it is for all of a type."""
    domain = domain_of(operator)
    if domain is None or element is None or element.inside is None or kind_of(dtype) not in domain.kinds:
        return None
    return suited(element.inside, dtype)


def domain_of(operator: Operator) -> Domain | None:
    """The domain of an operator's definition, if it has one."""
    return None if operator.definition is None else operator.definition.domain


def require_inside(
    operator: Operator, names: Sequence[str], arrays: Mapping[str, Array], walk: Callable[[], Array]
) -> None:
    """Raise OutsideError where `walk` gives a truth that is false somewhere; `names` are the operands."""
    shape = np.broadcast_shapes(*(arrays[name].shape for name in names))
    held = np.broadcast_to(walk(), shape)
    if not held.all():
        raise OutsideError(met(operator, names, arrays, int(np.argmin(held))))


def met(operator: Operator, names: Sequence[str], arrays: Mapping[str, Array], number: int) -> Outside:
    """The element of this number, counted in C order, as errors show it."""
    domain = domain_of(operator)
    assert domain is not None  # it was left
    shape = np.broadcast_shapes(*(arrays[name].shape for name in names))
    at = tuple(int(each) for each in np.unravel_index(number, shape))
    listed = [name for name in names if name in domain.operands]
    listed += [name for name in names if name not in domain.operands][: _MOST_SHOWN - len(listed)]
    shown = elements_at([name for name in names if name in listed], arrays, at)
    return Outside(f"{operator.identifier}.{domain.place}", operator.name, domain, shown)


def elements_at(names: Sequence[str], arrays: Mapping[str, Array], at: tuple[int, ...]) -> tuple[Shown, ...]:
    """The elements of operands at one index; a scalar has none."""
    return tuple(
        Shown(f"{name}[{','.join(map(str, at))}]", _text(arrays[name][at]))
        if arrays[name].ndim
        else Shown(name, _text(arrays[name][()]))
        for name in names
    )


def _text(element: object) -> str:
    """An element as text, a real however long it is."""
    return real_text(element) if isinstance(element, (Fraction, Ball)) else str(element)


def require_decided(
    operator: Operator,
    names: Sequence[str],
    arrays: Mapping[str, Array],
    made: Sequence[tuple[str, tuple[int, ...]]],
    walk: Callable[[str, tuple[int, ...]], object],
) -> None:
    """Raise OutsideError at the first result and index where `walk` cannot decide (D-ALL-8).

    `names` are those of operands, where the result takes its elements from the same index of these.
    """
    for result, shape in made:
        for at in np.ndindex(shape):
            try:
                walk(result, at)
            except UndecidedError as error:
                shown = elements_at(names[:_MOST_SHOWN], arrays, at) if names else ()
                place = Shown(f"{result}[{','.join(map(str, at))}]" if at else result, "not decided")
                told = Undecided(operator.name, (*shown, place), str(error), error.likely, MOST_PRECISION)
                raise OutsideError(told) from None
            except OutsideError as error:  # at one index elements are scalars, which have no place
                values = elements_at([each.name for each in error.outside.values], arrays, at)
                raise OutsideError(replace(error.outside, values=values)) from None
