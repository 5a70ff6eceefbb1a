"""The definition of an operator traced for one call: which operands are there, and of which shapes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import copysign
from typing import Any

import numpy as np

from sonnx.model.dtype import INTEGERS, UNSIGNED, DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, held_type
from sonnx.numeric.rounding import FORMATS
from sonnx.terms.tensors import Given
from sonnx.terms.term import DefinitionError, Sort, Term, lift
from sonnx.terms.tracing import Element, Trace, at_every_index, trace
from sonnx.terms.walking import calculates, substituted, without_nans
from sonnx.terms.words import value
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import BodyConstant, BodyNode, Operator, operand_names


def traced(
    operator: Operator,
    types: Mapping[str, TensorType],
    attributes: Mapping[str, Any],
    constants: Mapping[str, tuple[Any, ...]],
) -> Trace:
    """Trace a call that obeys every rule; `types` has the operands that are present, by name.

    `constants` has the elements of those that decide a shape. Whoever asks the same again gets the same.
    """
    return _traced(operator, *_asked(types, attributes, constants), signs(attributes))


def described(
    operator: Operator, arrays: Mapping[str, Array]
) -> tuple[Mapping[str, TensorType], Mapping[str, tuple[Any, ...]]]:
    """What a call with these arrays is traced for: types, and the elements that decide a shape."""
    types = {name: TensorType(held_type(array), array.shape) for name, array in arrays.items()}
    settled = [name for name in arrays if name in operator.contract.settled]
    return types, {name: tuple(arrays[name].tolist()) for name in settled}


def traced_anew(operator: Operator, call: Call, shapes: Mapping[str, tuple[int, ...]]) -> Trace:
    """Trace a call with shapes of sizes that may be any: types hold numbers alone, and would lose them.

    Such sizes are equal whatever they are for example, so nothing is remembered.
    """
    kinds, written, settled = _asked(call.inputs, call.attributes, call.constants)
    kinds = tuple([(name, dtype, shapes.get(name, sizes)) for name, dtype, sizes in kinds])
    return _anew(operator, kinds, written, settled)


_Kinds = tuple[tuple[str, DType | None, tuple[int, ...] | None], ...]
_Values = tuple[tuple[str, Any], ...]


def _asked(
    types: Mapping[str, TensorType], attributes: Mapping[str, Any], constants: Mapping[str, tuple[Any, ...]]
) -> tuple[_Kinds, _Values, _Values]:
    return (
        tuple([(name, kind.dtype, kind.sizes) for name, kind in types.items()]),
        tuple([(name, frozen(value)) for name, value in attributes.items()]),
        tuple(constants.items()),
    )


def frozen(value: Any) -> Any:
    """Lists as tuples, which can be remembered."""
    return tuple(map(frozen, value)) if isinstance(value, (list, tuple, np.ndarray)) else value


def signs(attributes: Mapping[str, Any]) -> tuple[float, ...]:
    """What tells attributes apart that Python takes for equal: 0.0 and -0.0."""
    return tuple(_signs(attributes.values()))


def _signs(values: Iterable[Any]) -> Iterator[float]:
    for each in values:
        if isinstance(each, float):
            yield copysign(1, each)
        elif isinstance(each, (list, tuple)):
            yield from _signs(each)


# Tracing takes longer than small arrays do; so many calls that differ in shapes are remembered.
@lru_cache(1024)
def _traced(
    operator: Operator,
    operands: _Kinds,
    written: _Values,
    settled: _Values,
    _told_apart: tuple[float, ...],
) -> Trace:
    return _anew(operator, operands, written, settled)


def _anew(operator: Operator, operands: _Kinds, written: _Values, settled: _Values) -> Trace:
    types = {name: TensorType(dtype, sizes) for name, dtype, sizes in operands}
    shapes = {name: sizes for name, _, sizes in operands}
    attributes, constants = operator.contract.whole(dict(written)), dict(settled)
    if operator.body is not None:
        return _composed(operator, operator.body(Call(operator.name, types, attributes)), types)
    if operator.definition is None:
        raise DefinitionError(f"{operator.name} has no definition by terms")
    given: dict[str, Given | tuple[Any, ...] | None] = {}
    by_name = {operand.name: operand for operand in operator.contract.inputs}
    # Who answers by truths alone hands no byte on: every byte but 0 is true (D-LOGIC).
    compares_truths = all(_sort(operand.types) is Sort.TRUTH for operand in operator.contract.outputs)
    for name in operand_names(operator.contract.inputs, len(types)):
        # A name of no operand's own is one of several that share an operand; it stands last.
        operand = by_name.get(name) or operator.contract.inputs[-1]
        if operand.constant:
            given[name] = constants[name]
        else:
            sort = Sort.TRUTH if compares_truths and types[name].dtype is DType.BOOL else _sort(operand.types)
            given[name] = Given(name, shapes[name] or (), sort) if name in types else None
    found = trace(operator.definition, given, attributes, integers=element_type(operator, types) in INTEGERS)
    outputs = operator.contract.outputs
    if len(found.made) != len(outputs) and not any(operand.variadic for operand in outputs):
        raise DefinitionError(
            f"the definition of {operator.name} gives {len(found.made)} tensors, its contract lists "
            f"{len(outputs)}; a variadic output stands for any number of them"
        )
    return found


def _composed(
    operator: Operator, body: Sequence[BodyNode | BodyConstant], types: Mapping[str, TensorType]
) -> Trace:
    """The body of a composition as one definition, where all its parts are element-wise."""
    known: dict[str, Term] = {name: value(name) for name in types}
    executed = dict(known)
    inside = dict(types)
    held: dict[str, tuple[Any, ...]] = {}
    for part in body:
        if isinstance(part, BodyConstant):
            inside[part.name], held[part.name] = part.type, part.elements
            if len(part.elements) == 1:
                known[part.name] = executed[part.name] = lift(part.elements[0])
            continue
        names = operand_names(part.operator.contract.inputs, len(part.inputs))
        given = dict(zip(names, part.inputs, strict=True))
        here = {operand: inside[name] for operand, name in given.items()}
        settled = {operand: held[given[operand]] for operand in part.operator.contract.settled}
        found = traced(part.operator, here, part.attributes, settled)
        element = found.element or _left_alone(found)
        if element is None:
            raise DefinitionError(f"{operator.name} is more than one function of elements")
        (made,) = part.outputs
        inside |= {made: TensorType(here[names[0]].dtype, found.made[0].shape)}
        for trees, term in ((known, element.term), (executed, element.executed)):
            trees[made] = substituted(term, {operand: trees[given[operand]] for operand in element.names})
    (output,) = operator.contract.outputs
    operands = {name: Given(name, kind.sizes or ()) for name, kind in types.items()}
    whole = Element(tuple(types), known[output.name], executed[output.name])
    return Trace(operands, (at_every_index(whole, operands),), whole)


def _left_alone(found: Trace) -> Element | None:
    """What a move makes of an element that it leaves at its place, or of the only one; else None."""
    made, *others = found.made
    # As in a definition, the one index of an axis of size 1 is 0.
    here = tuple(0 if size == 1 else each for each, size in zip(made.indices, made.shape, strict=True))
    for name, operand in found.operands.items():
        place = here if operand.shape else ()
        if not others and operand.shape in (made.shape, ()) and operand[place] is made.term:
            return Element((name,), value(name), value(name))
    return None


def _sort(types: tuple[DType, ...]) -> Sort:
    return Sort.TRUTH if types == (DType.BOOL,) else Sort.NUMBER


def element_type(operator: Operator, types: Mapping[str, TensorType]) -> DType:
    """The type that elements have where a definition speaks of numbers."""
    contract = operator.contract
    for operand in contract.inputs:
        if not operand.constant and _sort(operand.types) is Sort.NUMBER:
            name = f"{operand.name}0" if operand.variadic else operand.name
            found = types[name].dtype
            assert found is not None  # the call obeys every rule
            return found
    return DType.BOOL


def held_in(dtype: DType, domain: str) -> DType:
    """The type in which results are held: in the domain of the reals a float type has every real number."""
    return DType.REAL if domain == "real" and dtype in FORMATS else dtype


def makes_nans(
    operator: Operator,
    types: Mapping[str, TensorType],
    attributes: Mapping[str, Any],
    constants: Mapping[str, tuple[Any, ...]],
) -> bool:
    """Tell whether NaNs that come out may be calculated, so that any will do, not only moved (D-ALL-4)."""
    return any(calculates(each.term) for each in traced(operator, types, attributes, constants).made)


def suited(term: Term, dtype: DType, *, named: bool = False) -> Term:
    """The tree for a type of elements: what they never are, a NaN, -0 or below zero, is not asked for.

    So nothing is left that compilers warn of, and no literal below zero that an unsigned type does not have.
    """
    return term if dtype in FORMATS else without_nans(term, named=named, signed=dtype not in UNSIGNED)
