"""Definitions executed on arrays: floats and integers as NumPy has them, reals as fractions.

NumPy's operations round once in the type of elements, or not at all on fractions: one walk for all domains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from sonnx.derive.domains import inside, require_decided, require_inside
from sonnx.derive.evaluate_boxes import Elements, Patch, parts_of, shapes_of
from sonnx.derive.evaluate_folds import fold
from sonnx.derive.evaluate_known import is_one_operation, quickly, unlike_of
from sonnx.derive.literals import literal
from sonnx.derive.tracing import element_type, frozen, held_in, signs, suited, traced
from sonnx.derive.walking import methods
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, finish, held_type, numpy_dtype
from sonnx.numeric.balls import UndecidedError, left_over, roots, rounded_down
from sonnx.numeric.blocks import by_blocks
from sonnx.numeric.convert import convert
from sonnx.numeric.fused import fma
from sonnx.numeric.products import ACCUMULATOR
from sonnx.numeric.rounding import FORMATS, rounded_array
from sonnx.numeric.select import select
from sonnx.terms.tensors import Made
from sonnx.terms.term import DefinitionError, Sort, Term
from sonnx.terms.walking import asks_indices, without_statements
from sonnx.terms.words import Named
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Body, BodyConstant, Operator, operand_names

_BITS_A_BYTE = 8
_LEFT_OVER = np.frompyfunc(left_over, 2, 1)


def evaluate(
    operator: Operator, arrays: Mapping[str, Array], attributes: Mapping[str, Any]
) -> Mapping[str, Array]:
    """Execute an operator on arrays that obey every rule: by operand name in, by output name out."""
    if operator.meaning is not None:
        return operator.meaning(arrays, attributes)
    if operator.body is not None:
        return _by_parts(operator, operator.body, arrays, attributes)
    ready = _ready(operator, arrays, attributes)
    try:
        return _evaluated(operator, ready, arrays)
    except UndecidedError:  # of which element, nobody has told
        require_decided(
            operator,
            ready.operands,
            arrays,
            [(name, made.shape) for name, made in zip(ready.names, ready.made, strict=True)],
            lambda name, at: _at_one_index(operator, ready, arrays, name, at),
        )
        raise


def require_defined(operator: Operator, arrays: Mapping[str, Array], attributes: Mapping[str, Any]) -> None:
    """Raise OutsideError where an operator is not defined for elements of such arrays (D-ALL-11)."""
    _require_inside(operator, _ready(operator, arrays, attributes), arrays)


def _ready(operator: Operator, arrays: Mapping[str, Array], attributes: Mapping[str, Any]) -> "_Prepared":
    settled = operator.contract.settled
    return _prepared(
        operator,
        tuple([(name, held_type(array), array.shape) for name, array in arrays.items()]),
        tuple([(name, frozen(value)) for name, value in attributes.items()]),
        tuple([(name, tuple(arrays[name].tolist())) for name in settled if name in arrays]),
        signs(attributes),
    )


def _at_one_index(
    operator: Operator, ready: "_Prepared", arrays: Mapping[str, Array], name: str, at: tuple[int, ...]
) -> None:
    """Execute an operator for one element of a result."""
    if ready.element is not None:
        place: tuple[Any, ...] = (*at, ...)
        here = {operand: array[place] if array.ndim else array for operand, array in arrays.items()}
        _evaluated(operator, replace(ready, whole=()), here)
        return
    made = ready.made[ready.names.index(name)]
    indices = {index.data: np.asarray(place) for index, place in zip(made.indices, at, strict=True)}
    Walk(ready.kind, ready.kind, arrays, indices=indices)(_executed(made.term, ready.kind))


def _evaluated(operator: Operator, ready: "_Prepared", arrays: Mapping[str, Array]) -> Mapping[str, Array]:
    if ready.element is not None:
        _require_inside(operator, ready, arrays)
        walk = Walk(ready.kind, ready.types[0], arrays, accumulate=ready.accumulate)
        result = _element_by_element(walk, ready.whole, ready.element)
        return {ready.names[0]: finish(result, ready.types[0])}
    outputs = zip(ready.names, ready.made, ready.types, ready.parts, strict=True)
    return {
        name: _tensor(Walk(ready.kind, dtype, arrays, accumulate=ready.accumulate), made, parts)
        for name, made, dtype, parts in outputs
    }


def _require_inside(operator: Operator, ready: "_Prepared", arrays: Mapping[str, Array]) -> None:
    """Raise OutsideError at the first element for which the operator is not defined (D-ALL-11)."""
    term = ready.inside
    if term is not None:
        walk = Walk(ready.kind, DType.BOOL, arrays, dict(arrays))
        require_inside(operator, ready.operands, arrays, lambda: walk(term))


def _by_parts(
    operator: Operator, body: Body, arrays: Mapping[str, Array], attributes: Mapping[str, Any]
) -> Mapping[str, Array]:
    """Executing a composition is executing its body (D-ALL-14)."""
    types = {name: TensorType(held_type(array), array.shape) for name, array in arrays.items()}
    tensors = dict(arrays)
    for part in body(Call(operator.name, types, attributes)):
        if isinstance(part, BodyConstant):
            tensors[part.name] = rounded_array(part.elements, part.type)
            continue
        given = zip(operand_names(part.operator.contract.inputs, len(part.inputs)), part.inputs, strict=False)
        made = evaluate(part.operator, {operand: tensors[name] for operand, name in given}, part.attributes)
        tensors |= zip(part.outputs, made.values(), strict=True)
    return {operand.name: tensors[operand.name] for operand in operator.contract.outputs}


@dataclass(frozen=True)
class _Prepared:
    """What operands of given types come to: names, element types and parts of the results.

    `element` is that of an element-wise definition, `operands` are those in it, `whole` the ones among them
    that are no scalars; `inside` says where it is defined.
    """

    names: tuple[str, ...]
    types: tuple[DType, ...]
    kind: DType
    element: Term | None
    inside: Term | None
    operands: tuple[str, ...]
    whole: tuple[str, ...]
    made: tuple[Made, ...]
    parts: tuple[tuple[Patch, ...] | None, ...]
    accumulate: str


# Tracing takes longer than small arrays do; so many calls that differ in shapes are remembered.
@lru_cache(1024)
def _prepared(
    operator: Operator,
    operands: tuple[tuple[str, DType, tuple[int, ...]], ...],
    written: tuple[tuple[str, Any], ...],
    settled: tuple[tuple[str, tuple[Any, ...]], ...],
    _told_apart: tuple[float, ...],
) -> _Prepared:
    types = {name: TensorType(dtype, shape) for name, dtype, shape in operands}
    attributes, constants = dict(written), dict(settled)
    found = traced(operator, types, attributes, constants)
    kind = element_type(operator, types)
    names = tuple(operand_names(operator.contract.outputs, len(found.made)))
    made = operator.contract.output_types(Call(operator.name, types, attributes, constants=constants))
    element, shapes = found.element, {name: shape for name, _, shape in operands}
    return _Prepared(
        names,
        tuple(held_in(made[name].dtype or kind, attributes.get("domain", "ieee")) for name in names),
        kind,
        None if element is None else _executed(element.executed, kind),
        inside(operator, element, kind),
        () if element is None else element.names,
        () if element is None else tuple(name for name in element.names if shapes[name]),
        found.made,
        () if element else tuple(parts_of(each, tuple(shapes.items())) for each in found.made),
        attributes.get("accumulate", "separate"),
    )


@lru_cache(1024)
def _executed(term: Term, kind: DType) -> Term:
    """What is to be evaluated in a type: without what its branches state, and without what it never has."""
    silent = without_statements(term)
    return suited(silent, kind)


def _element_by_element(walk: "Walk", whole: Sequence[str], term: Term) -> Array:
    """Block by block, so that temporaries stay in the cache; scalars serve all elements."""
    arrays, made = walk.arrays, numpy_dtype(walk.made)
    walk.values = dict(arrays)
    if not whole:
        result = np.empty((), made)
        walk.fill(result, term)
        return result

    if is_one_operation(term):  # that makes no temporaries, and its result is what is asked for
        return walk.as_result(walk(term), arrays[whole[0]].shape)

    def block(*parts: Array) -> None:
        *given, out = parts
        walk.values.update(zip(whole, given, strict=True))
        walk.memo.clear()
        walk.fill(out, term)

    return by_blocks(block, *(arrays[name] for name in whole), dtype=made)


def _tensor(walk: "Walk", made: Made, parts: tuple[Patch, ...] | None) -> Array:
    """A result by its parts where it is a move, else by its element at all indices at once.

    A result that one read gives as a whole is a read-only view.
    """
    if parts is None:
        return walk.everywhere(made)
    if len(parts) == 1 and isinstance(parts[0].source, Elements):
        return parts[0].source.of(walk.arrays)
    out = np.empty(made.shape, numpy_dtype(walk.made))
    fillings = {part.source for part in parts if isinstance(part.source, Term)}
    if len(fillings) == 1:  # as where padding is: boxes of it are many and small
        out[...] = walk(*fillings)
    for part in parts:
        source = part.source
        if isinstance(source, Elements):
            out[part.place] = source.of(walk.arrays)
        elif len(fillings) > 1:
            out[part.place] = walk(source)
    return out


@dataclass(slots=True)
class Walk:
    """Gives the value of a term: of numbers in the type `kind`, or in the wider one of its sums.

    `made` is the type of the result, which is another one where elements are converted or compared.

    `values` are blocks of element-wise operands, `arrays` whole operands; `indices` and `carried` are what
    these words stand for just now. `asked` says for which elements a value is asked for: only those may be
    read, and whatever a guard keeps out is not looked at.
    """

    kind: DType
    made: DType
    arrays: Mapping[str, Array] = field(default_factory=dict)
    values: dict[str, Array] = field(default_factory=dict)
    indices: Mapping[str, Array] = field(default_factory=dict)
    carried: Mapping[str, Array] = field(default_factory=dict)
    asked: Array | None = None
    accumulate: str = "separate"
    memo: dict[Term, Array] = field(default_factory=dict)

    def __call__(self, term: Term) -> Array:
        """The value of a term; what occurs twice is calculated once."""
        found = self.memo.get(term)
        if found is None:
            found = self.memo[term] = _WORDS[term.word](self, term)
        return found

    def _with(
        self,
        *,
        made: DType | None = None,
        values: dict[str, Array] | None = None,
        indices: Mapping[str, Array] | None = None,
        carried: Mapping[str, Array] | None = None,
        asked: Array | None = None,
    ) -> "Walk":
        """The same walk where something stands for something else; so nothing is remembered."""
        return Walk(
            self.kind,
            self.made if made is None else made,
            self.arrays,
            self.values if values is None else values,
            self.indices if indices is None else indices,
            self.carried if carried is None else carried,
            self.asked if asked is None else asked,
            self.accumulate,
        )

    def fill(self, out: Array, term: Term) -> None:
        """Write the value of a term where it belongs; a choice between elements goes there at once."""
        if term.word == "named":
            if quickly(term, self.kind, self, out) is None:
                self._inside(term).fill(out, _executed(term.data.body, self.kind))
        elif term.word == "select" and not asks_indices(term.arguments[0]):
            self._choose(term, out)
        else:
            out[...] = self(term)

    def everywhere(self, made: Made) -> Array:
        """The element at all indices of a result at once."""
        lines = zip(made.indices, _lines(made.shape), strict=True)
        walk = self._with(indices={index.data: line for index, line in lines})
        return self.as_result(walk(_executed(made.term, self.kind)), made.shape)

    def as_result(self, value: Array, shape: tuple[int, ...]) -> Array:
        """A value as it stands where it is the result already; an operand becomes a read-only view of it."""
        dtype = numpy_dtype(self.made)
        if value.shape == shape != () and value.dtype == dtype:
            if any(np.may_share_memory(value, each) for each in self.arrays.values()):
                found = value.view()
                found.flags.writeable = False
                return found
            if value.flags.c_contiguous:
                return value
        out = np.empty(shape, dtype)
        out[...] = value
        return out

    # --- what stands for something else -----------------------------------------------------------------

    def _literal(self, term: Term) -> Array:
        return literal(term, self.kind)

    _lowest = _literal

    def _whole(self, term: Term) -> Array:
        return np.asarray(term.data)

    _decided = _whole

    def _index(self, term: Term) -> Array:
        return self.indices[term.data]

    def _carried(self, term: Term) -> Array:
        return self.carried[term.data]

    def _value(self, term: Term) -> Array:
        return _truth(self.values[term.data]) if term.sort is Sort.TRUTH else self.values[term.data]

    def _named(self, term: Term) -> Array:
        found = quickly(term, self.kind, self)
        return self._inside(term)(_executed(term.data.body, self.kind)) if found is None else found

    def _inside(self, term: Term) -> "Walk":
        """The walk over the body of a word that is defined by others."""
        said: Named = term.data
        return self._with(values=dict(zip(said.parameters, map(self, term.arguments), strict=True)))

    def _read(self, term: Term) -> Array:
        return self._at(term, self.arrays[term.data])

    def _read_flat(self, term: Term) -> Array:
        return self._at(term, self.arrays[term.data].reshape(-1))

    def _at(self, term: Term, array: Array) -> Array:
        """Elements at indices; outside only what nobody asks for, and then any element will do."""
        at = [self(argument) for argument in term.arguments]
        outside = np.zeros((), bool)
        for index, size in zip(at, array.shape, strict=True):
            outside = outside | (index < 0) | (index >= size)
        if outside.any():
            if self.asked is None or (outside & self.asked).any():
                raise DefinitionError(
                    f"{term.data} is read outside its shape {array.shape}: guard it by a select"
                )
            at = [np.where(outside, 0, index) for index in at]
            if not array.size:
                array = np.zeros((1,) * array.ndim, array.dtype)
        found = np.asarray(array[tuple(at)] if at else array)
        return _truth(found) if term.sort is Sort.TRUTH else found

    # --- choosing -----------------------------------------------------------------------------------------

    def _select(self, term: Term) -> Array:
        condition, chosen, otherwise = term.arguments
        if not asks_indices(condition):
            return self._choose(term)
        held = self(condition)
        asked = np.ones((), bool) if self.asked is None else self.asked
        inside, outside = (self._with(asked=part & asked) for part in (held, ~held))
        return np.where(held, inside(chosen), outside(otherwise))

    def _choose(self, term: Term, out: Array | None = None, asked: Array | None = None) -> Array:
        """An element of one of two; what nobody takes is not calculated.

        `asked` says of which elements somebody wants to know, where that is not all of them.
        """
        found = quickly(term, self.kind, self, out)
        if found is not None:
            return found
        condition, (chosen, otherwise) = self(term.arguments[0]), term.arguments[1:]
        if not condition.ndim:  # it decides for all elements at once
            return _placed(self(chosen if condition else otherwise), out)
        if not condition.any():
            return self._next(otherwise, out, asked)
        left = ~condition if asked is None else asked & ~condition
        if not left.any():
            return _placed(self(chosen), out)
        return select(condition, self(chosen), self._next(otherwise, None, left), out)

    def _next(self, term: Term, out: Array | None, asked: Array | None) -> Array:
        """What comes after a case that is left: another one, or an element."""
        if term.word != "select" or term in self.memo or asks_indices(term.arguments[0]):
            return _placed(self(term), out)
        return self._choose(term, out, asked)

    def _is_nan(self, term: Term) -> Array:
        x = self(term.arguments[0])
        return np.asarray(x != x)  # noqa: PLR0124  only a NaN differs from itself

    def _is_minus_zero(self, term: Term) -> Array:
        x = self(term.arguments[0])
        return np.asarray(x.view(f"u{x.itemsize}") == 1 << (_BITS_A_BYTE * x.itemsize - 1))

    def _less(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a < b)

    def _less_equal(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a <= b)

    def _equal(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a == b)

    def _both(self, term: Term) -> Array:
        return np.asarray(np.logical_and(*map(self._bytes, term.arguments)))

    def _either(self, term: Term) -> Array:
        unlike = unlike_of(term)
        if unlike is not None:
            return np.asarray(np.logical_xor(*map(self._bytes, unlike)))
        return np.asarray(np.logical_or(*map(self._bytes, term.arguments)))

    def _opposite(self, term: Term) -> Array:
        return np.asarray(np.logical_not(self._bytes(term.arguments[0])))

    def _bytes(self, truth: Term) -> Array:
        """A truth in bytes, of which all but 0 are true: an operand's as they lie in memory."""
        found = self.values[truth.data] if truth.word == "value" else self(truth)
        return found.view(np.uint8)

    # --- calculating --------------------------------------------------------------------------------------

    def _add(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a + b)

    def _subtract(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a - b)

    def _multiply(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a * b)

    def _divide(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a / b)

    def _floor(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a // b)

    def _remainder(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a % b)

    def _truncated(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        # NumPy's // rounds down: one more where that cut a part off and the signs differ.
        down = a // b
        return np.asarray(down + ((a % b != 0) & ((a < 0) != (b < 0))).astype(down.dtype))

    def _left_over(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        # NumPy takes C's fmod, for float16 that of float: nothing is rounded, what is left fits in the type.
        return np.asarray(_LEFT_OVER(a, b) if self.kind is DType.REAL else np.fmod(a, b))

    def _rounded_down(self, term: Term) -> Array:
        x = self(term.arguments[0])
        return rounded_down(x) if self.kind is DType.REAL else np.asarray(np.floor(x))

    def _bits_and(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a & b)

    def _bits_or(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a | b)

    def _bits_xor(self, term: Term) -> Array:
        a, b = map(self, term.arguments)
        return np.asarray(a ^ b)

    def _shifted_left(self, term: Term) -> Array:
        x, places, lost = self._shifted(term)
        return np.where(lost, x.dtype.type(0), x << places)

    def _shifted_right(self, term: Term) -> Array:
        x, places, lost = self._shifted(term)
        return np.where(lost, x.dtype.type(0), x >> places)

    def _shifted(self, term: Term) -> tuple[Array, Array, Array]:
        """What is shifted, by fewer places than it has bits, and where all bits are lost instead."""
        x, places = map(self, term.arguments)
        lost = np.asarray(places >= _BITS_A_BYTE * x.itemsize)
        return x, np.where(lost, places.dtype.type(0), places), lost

    def _bits_not(self, term: Term) -> Array:
        return np.asarray(~self(term.arguments[0]))

    def _negate(self, term: Term) -> Array:
        found = quickly(term, self.kind, self)
        return np.asarray(-self(term.arguments[0])) if found is None else found

    def _absolute(self, term: Term) -> Array:
        return np.asarray(abs(self(term.arguments[0])))

    def _root(self, term: Term) -> Array:
        x = self(term.arguments[0])
        return np.asarray(roots(x) if self.kind is DType.REAL else np.sqrt(x))

    def _converted(self, term: Term) -> Array:
        return convert(self(term.arguments[0]), self.kind, self.made)

    # --- sums -----------------------------------------------------------------------------------------------

    @property
    def sums(self) -> DType:
        """The type in which sums are made (D-CONV-6)."""
        return ACCUMULATOR.get(self.kind, self.kind)

    def _wide(self, term: Term) -> Array:
        (x,) = term.arguments
        return literal(x, self.sums) if x.word == "literal" else _in_type(self(x), self.kind, self.sums)

    def _narrow(self, term: Term) -> Array:
        return _in_type(self(term.arguments[0]), self.sums, self.kind)

    def _plus_product(self, term: Term) -> Array:
        total, a, b = map(self, term.arguments)
        # The product of two float16 is exact in float, so there both modes are one; as on integers and reals.
        if self.accumulate == "fused" and self.sums in FORMATS and self.kind is not DType.FLOAT16:
            return fma(a, b, total)
        return np.asarray(total + a * b)

    def _fold(self, term: Term) -> Array:
        return fold(term, self)

    def over(self, made: Made, dtype: DType) -> Array:
        """All elements of a result that is made of the operands, in a type."""
        return _tensor(self._with(made=dtype), made, parts_of(made, shapes_of(self.arrays)))

    def within(self, indices: Mapping[str, Array], carried: Mapping[str, Array]) -> "Walk":
        """The same walk in a step of a fold: some more indices, and what it carries."""
        return self._with(indices={**self.indices, **indices}, carried={**self.carried, **carried})


_WORDS = methods(Walk)


@lru_cache(1024)
def _lines(shape: tuple[int, ...]) -> tuple[Array, ...]:
    """The indices of a shape, one array for each axis, which are as large as their axis alone."""
    rank = len(shape)
    found = []
    for axis, size in enumerate(shape):
        line = np.arange(size).reshape((1,) * axis + (size,) + (1,) * (rank - axis - 1))
        line.flags.writeable = False
        found.append(line)
    return tuple(found)


def _placed(value: Array, out: Array | None) -> Array:
    if out is None:
        return value
    out[...] = value
    return out


def _truth(array: Array) -> Array:
    """A byte that is not zero is true, whatever its value (D-WHERE-1)."""
    return np.asarray(array.view(np.uint8) != 0)


def _in_type(x: Array, source: DType, target: DType) -> Array:
    if source is target:
        return x
    # No cast of another library defines bfloat16; NumPy's between float16 and float round once.
    if DType.BFLOAT16 in (source, target):
        return convert(x, source, target)
    return x.astype(numpy_dtype(target))
