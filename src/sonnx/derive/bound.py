"""How far an IEEE result may lie from the exact one: a running error bound along the tree of a definition.

Every number is carried with a bound on its distance from the number that exact arithmetic gives there, every
truth with whether exact arithmetic is sure to say the same. Notation: u is the unit roundoff of a type and η
its smallest positive number.

- A rounded result r is within max(u·|r|, η/2) of what was rounded; sums never meet η/2.
- A choice whose condition may go either way is as far off as the farther of both ways.
- Integers are exact as long as nothing wraps, which is what "no finite number" means for them.
- Orders: a fold that adds one term at a time may be asked for any order of its terms; then every term passes
  as many roundings as there are terms, and products may be fused into their sums. An engine that flushes
  replaces every result, of sums too, by zero where that is subnormal; operands must not be subnormal then.

  Such a result is another number than the one followed here, within twice the bound of it (`loose`): whatever
  is done with sizes then reckons with that.

Bounds are doubles, and everything done with them is rounded up; what is exactly 0 stays so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from sonnx.derive.literals import literal
from sonnx.derive.tracing import described, element_type, held_in, suited, traced
from sonnx.derive.walking import methods
from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.numeric.convert import PART, convert
from sonnx.numeric.fused import fma
from sonnx.numeric.products import ACCUMULATOR
from sonnx.numeric.rounding import FORMATS, nearest
from sonnx.terms.tensors import Made
from sonnx.terms.term import Sort, Term
from sonnx.terms.tracing import Trace
from sonnx.terms.walking import parts, substituted
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator, operand_names

# Where exp(n·u) - 1 is taken in doubles, this much more is more than it lost.
_SLACK = 1 + 2.0**-40


@dataclass(frozen=True)
class Near:
    """Numbers of a type, and how far from each the exact one may lie; a truth holds its doubt as 0 or 1."""

    value: Array
    error: Array


def exactly(array: Array) -> Near:
    """Numbers that are what they are."""
    return Near(array, np.zeros(array.shape))


def bound(
    operator: Operator, arrays: Mapping[str, Array], attributes: Mapping[str, Any], order: str
) -> Mapping[str, Array]:
    """Bound every element of an operator's results, by name, for arrays that obey every rule.

    `order` is "specified", "any" or "flushing". Where numbers are only moved and chosen among exact ones, the
    bound is exactly 0; it is +inf where a result may be no finite number.
    """
    if operator.error_bound is not None:
        return operator.error_bound(arrays, attributes, order)
    types, constants = described(operator, arrays)
    trace = traced(operator, types, attributes, constants)
    given = {name: exactly(arrays[name]) for name in trace.operands}
    kind, names = element_type(operator, types), operand_names(operator.contract.outputs, len(trace.made))
    made = operator.contract.output_types(Call(operator.name, types, attributes, constants=constants))
    into = [held_in(made[name].dtype or kind, attributes.get("domain", "ieee")) for name in names]
    found = bounds(trace, given, kind, order, attributes, into)
    return {name: each.error for name, each in zip(names, found, strict=True)}


def bounds(
    trace: Trace,
    operands: Mapping[str, Near],
    dtype: DType,
    order: str = "specified",
    attributes: Mapping[str, Any] | None = None,
    into: Sequence[DType] = (),
) -> tuple[Near, ...]:
    """What a traced definition gives for operands of a type, each number with its bound.

    `into` are the types of the results where these have others. Reals are exact, and not even followed: their
    results are not told.
    """
    made_types = into or [dtype] * len(trace.made)
    folds = any(each.word == "fold" for made in trace.made for each in parts(made.term))
    loose = order == "flushing" or (order == "any" and folds)
    fused = (attributes or {}).get("accumulate", "separate") == "fused"
    walk = _Walk(dtype, dtype, operands, order, fused, loose)
    with np.errstate(all="ignore"):
        return tuple(
            exactly(np.zeros(made.shape)) if each is DType.REAL else replace(walk, into=each).made(made)
            for made, each in zip(trace.made, made_types, strict=True)
        )


@dataclass
class _Walk:
    """One evaluation; the method of a word takes the term and gives what it stands for."""

    dtype: DType
    into: DType
    operands: Mapping[str, Near]
    order: str
    fused: bool
    loose: bool
    # What indices and running values stand for, by name.
    scope: Mapping[str, Any] = field(default_factory=dict)
    known: dict[Term, Any] = field(default_factory=dict)

    def made(self, made: Made) -> Near:
        """A result at every index."""
        places = np.ogrid[tuple(slice(0, size) for size in made.shape)]
        at = {each.data: place for each, place in zip(made.indices, places, strict=True)}
        term = suited(made.term, self.dtype)
        found: Near = replace(self, scope=at, known={})(term)
        return Near(*(np.broadcast_to(each, made.shape) for each in (found.value, found.error)))

    def __call__(self, term: Term) -> Any:
        """A Near for numbers and truths, an array of integers for indices."""
        if term not in self.known:
            self.known[term] = _WORDS[term.word](self, term)
        return self.known[term]

    def _all(self, term: Term) -> list[Any]:
        """The arguments of a term; literals beside wide numbers are wide."""
        wide = any(map(_is_wide, term.arguments))
        return [self._typed(each, wide) for each in term.arguments]

    def _typed(self, term: Term, wide: bool) -> Any:
        if term.word == "literal" and wide:
            return _literal(term, ACCUMULATOR.get(self.dtype, self.dtype))
        return self(term)

    # --- leaves ---

    def _literal(self, term: Term) -> Near:
        found = _literal(term, self.dtype)
        if self.order == "flushing" and self.dtype in FORMATS:
            form = FORMATS[self.dtype]
            tiny = 0 < abs(float(found.value)) < float(form.smallest_normal)
            return Near(found.value, _plus(found.error, np.asarray(float(form.smallest_normal) * tiny)))
        return found

    def _lowest(self, term: Term) -> Near:
        return exactly(literal(term, self.dtype))

    def _read(self, term: Term) -> Near:
        operand = self.operands[term.data]
        shape = operand.value.shape
        return self._element(term, operand, tuple(map(_on_axis, map(self, term.arguments), shape)))

    def _read_flat(self, term: Term) -> Near:
        operand = self.operands[term.data]
        flat = Near(operand.value.reshape(-1), operand.error.reshape(-1))
        return self._element(term, flat, (_on_axis(self(term.arguments[0]), flat.value.size),))

    def _element(self, term: Term, operand: Near, at: tuple[Array, ...]) -> Near:
        if 0 in operand.value.shape and at:  # a select on indices guards what cannot be read
            at, operand = (), exactly(np.zeros((), operand.value.dtype))
        value, error = (each[at] if at else each for each in (operand.value, operand.error))
        # Every byte of a bool but 0 is true (D-WHERE-1).
        return Near(value.view(np.uint8) != 0 if term.sort is Sort.TRUTH else value, error)

    def _index(self, term: Term) -> Any:
        return self.scope[term.data]

    _carried = _index

    def _whole(self, term: Term) -> Any:
        return np.asarray(term.data, np.int64)

    # --- arithmetic ---

    def _add(self, term: Term) -> Any:
        return self._sum(term, np.add)

    def _subtract(self, term: Term) -> Any:
        return self._sum(term, np.subtract)

    def _sum(self, term: Term, operation: Callable[..., Any]) -> Any:
        a, b = self._all(term)
        if term.sort is Sort.INDEX:
            return operation(a, b)
        return self._total(operation, a, b)

    def _total(self, operation: Callable[..., Any], a: Near, b: Near) -> Near:
        value = operation(a.value, b.value)
        if self.dtype not in FORMATS:
            return _unrounded(operation, value, a, b)
        return self._rounded(value, _plus(a.error, b.error), _relative(value), a, b)

    def _multiply(self, term: Term) -> Any:
        a, b = self._all(term)
        if term.sort is Sort.INDEX:
            return a * b
        return self._product(a, b)

    def _product(self, a: Near, b: Near) -> Near:
        value = np.multiply(a.value, b.value)
        if self.dtype not in FORMATS:
            return _unrounded(np.multiply, value, a, b)
        rounding = np.where((a.value == 0) | (b.value == 0), 0.0, _rounding(value))
        return self._rounded(value, self._product_error(a, b), rounding, a, b)

    def _product_error(self, a: Near, b: Near) -> Array:
        """A·B - a·b, where A and B lie so near to a and b."""
        crossed = _plus(_times(self._size(a), b.error), _times(self._size(b), a.error))
        return _plus(crossed, _times(a.error, b.error))

    def _size(self, number: Near) -> Array:
        """A bound on the magnitude of whatever an engine has there."""
        size = _size(number.value)
        return _plus(size, 2 * number.error) if self.loose else size

    def _divide(self, term: Term) -> Near:
        """a/b - A/B = (a·(B - b) - b·(A - a)) / (b·B), and |B| is at least |b| less its error."""
        a, b = self._all(term)
        value = np.divide(a.value, b.value)
        rounding = np.where(a.value == 0, 0.0, _rounding(value))
        least = _down(_size(b.value) - (2 * b.error if self.loose else b.error))
        quotient = _over(self._size(a), least) if self.loose else _plus(_size(value), rounding)
        moved = _plus(a.error, _times(quotient, b.error))
        return self._rounded(value, np.where(moved == 0, 0.0, _over(moved, least)), rounding, a, b)

    def _root(self, term: Term) -> Near:
        """√A - √a = (A - a) / (√A + √a); no number where A may be below 0."""
        (a,) = self._all(term)
        value = np.sqrt(a.value)
        size = _size(a.value)
        least = _down(size - 2 * a.error) if self.loose else np.where(size > a.error, size, 0.0)
        error = np.where(a.error == 0, 0.0, _over(a.error, _down(np.sqrt(least))))
        return self._rounded(value, error, _relative(value), a)

    def _plus_product(self, term: Term) -> Near:
        total, a, b = self._all(term)
        if self.fused and self.dtype in (DType.FLOAT, DType.DOUBLE):
            value = fma(*np.broadcast_arrays(a.value, b.value, total.value))
            error = _plus(total.error, self._product_error(a, b))
            return self._rounded(value, error, _rounding(value), total, a, b)
        return self._total(np.add, total, self._product(a, b))

    def _negate(self, term: Term) -> Near:
        return self._unary(np.negative, term)

    def _absolute(self, term: Term) -> Near:
        return self._unary(np.absolute, term)

    def _unary(self, operation: Callable[..., Any], term: Term) -> Near:
        (a,) = self._all(term)
        value = np.asarray(operation(a.value))
        return _unrounded(operation, value, a) if self.dtype not in FORMATS else Near(value, a.error)

    def _truncated(self, term: Term) -> Near:
        """Where a definition asks for no quotient by 0, that number is divided by 1 instead."""
        a, b = self._all(term)
        divisor = np.where(b.value == 0, b.value.dtype.type(1), b.value)
        rest = np.fmod(a.value, divisor)
        value = np.floor_divide(a.value - rest, divisor)
        return Near(value, np.where((a.error == 0) & (b.error == 0), 0.0, np.inf))

    def _left_over(self, term: Term) -> Near:
        """Exact, unless it is flushed; a dividend or divisor that is off may leave over anything."""
        a, b = self._all(term)
        value = np.asarray(np.fmod(a.value, b.value))
        size, least = _size(value), float(FORMATS[held_type(value)].smallest_normal)
        lost = np.where((size < least) & (self.order == "flushing"), size, 0.0)
        off = (a.error != 0) | (b.error != 0) | ~np.isfinite(value)
        return Near(value, np.where(off, np.inf, lost))

    def _rounded_down(self, term: Term) -> Near:
        """Exact; where it is asked of a number that is off, each of both may be up to 1 further down."""
        (a,) = self._all(term)
        value = np.floor(a.value)
        return Near(value, np.where(a.error == 0, 0.0, _plus(a.error, np.ones(()))))

    def _bits(self, term: Term, operation: Callable[..., Any]) -> Near:
        """Bits of what is off say nothing."""
        given = self._all(term)
        off = sum(np.asarray(each.error != 0) for each in given)
        return Near(np.asarray(operation(*(each.value for each in given))), np.where(off, np.inf, 0.0))

    def _bits_and(self, term: Term) -> Near:
        return self._bits(term, np.bitwise_and)

    def _bits_or(self, term: Term) -> Near:
        return self._bits(term, np.bitwise_or)

    def _bits_xor(self, term: Term) -> Near:
        return self._bits(term, np.bitwise_xor)

    def _shifted_left(self, term: Term) -> Near:
        return self._bits(term, lambda x, n: np.where(n < 8 * x.itemsize, x << n, x.dtype.type(0)))

    def _shifted_right(self, term: Term) -> Near:
        return self._bits(term, lambda x, n: np.where(n < 8 * x.itemsize, x >> n, x.dtype.type(0)))

    def _bits_not(self, term: Term) -> Near:
        return self._bits(term, np.bitwise_not)

    def _rounded(self, value: Array, error: Array, rounding: Array, *arguments: Near) -> Near:
        """A result with what it took along and its own rounding; none where a number is not finite."""
        form = FORMATS[held_type(value)]
        total = _plus(error, rounding)
        finite = np.isfinite(value)
        if self.loose:
            total = _plus(total, _times(_plus(2 * error, rounding), np.asarray(float(form.unit_roundoff))))
        if self.order == "flushing":
            total = _plus(total, np.asarray(float(form.smallest_normal)))
        if self.loose:
            finite = finite & (_plus(_size(value), 2 * total) <= float(form.largest))
        for each in arguments:
            finite = finite & np.isfinite(each.value)
        return Near(value, np.where(finite & ~np.isnan(total), total, np.inf))

    # --- types ---

    def _wide(self, term: Term) -> Near:
        (a,) = self._all(term)
        return Near(convert(a.value, self.dtype, ACCUMULATOR.get(self.dtype, self.dtype)), a.error)

    def _narrow(self, term: Term) -> Near:
        (a,) = self._all(term)
        if ACCUMULATOR.get(self.dtype, self.dtype) is self.dtype:
            return Near(a.value, a.error)
        value = convert(a.value, ACCUMULATOR.get(self.dtype, self.dtype), self.dtype)
        return self._rounded(value, a.error, np.where(a.value == 0, 0.0, _rounding(value)), a)

    def _converted(self, term: Term) -> Near:
        """Truncation and the low bits of integers are what is meant, so only roundings to floats are off."""
        (a,) = self._all(term)
        value = convert(np.asarray(a.value), self.dtype, self.into)
        part = PART.get(self.into, self.into)
        if part not in FORMATS:
            return Near(value, np.where(a.error == 0, 0.0, _plus(a.error, np.ones(()))))
        if _holds(part, PART.get(self.dtype, self.dtype)):
            return Near(value, a.error)
        pieces = (value.real, value.imag) if self.into in PART else (value,)
        rounding = _rounding(pieces[0]) if len(pieces) == 1 else _plus(*map(_rounding, pieces))
        return Near(value, np.where(np.isfinite(value), _plus(a.error, rounding), np.inf))

    # --- choices ---

    def _select(self, term: Term) -> Near:
        condition = self(term.arguments[0])
        wide = any(map(_is_wide, term.arguments[1:]))
        a, b = (self._typed(each, wide) for each in term.arguments[1:])
        holds = condition.value
        value = np.where(holds, a.value, b.value)
        chosen, other = np.where(holds, a.error, b.error), np.where(holds, b.error, a.error)
        if not condition.error.any():
            return Near(value, chosen)
        farther = _plus(_apart(a, b), 2 * _plus(chosen, other) if self.loose else other)
        either = np.where(farther > chosen, farther, chosen)
        either = np.where(np.isnan(either), np.inf, either)
        return Near(value, np.where(condition.error == 0, chosen, either))

    def _stated(self, term: Term) -> Near:
        found: Near = self(term.arguments[0])
        return found

    def _named(self, term: Term) -> Near:
        given = dict(zip(term.data.parameters, term.arguments, strict=True))
        found: Near = self(substituted(term.data.body, given))
        return found

    def _fold(self, term: Term) -> Near:
        counts, running, names = term.data
        start, step = term.arguments
        total = self._typed(start, _is_wide(step))
        added = _added(step) if self.order != "specified" and self.dtype in FORMATS else None
        sizes, errors, count = _size(total.value), total.error, 0
        for at in product(*map(range, counts)):
            scope = {**self.scope, running: total, **dict(zip(names, map(np.asarray, at), strict=True))}
            inner = replace(self, scope=scope, known={})
            if added is not None:
                one = inner(added)
                sizes, errors, count = _plus(sizes, _size(one.value)), _plus(errors, one.error), count + 1
            total = inner(step)
        return total if added is None else self._in_any_order(total, sizes, errors, count)

    def _in_any_order(self, total: Near, sizes: Array, errors: Array, count: int) -> Near:
        """Terms of these sizes together, each off by its own error, added in any order.

        A fused step rounds no product: what it rounds is as large as the rounded one and its error.
        """
        form = FORMATS[held_type(total.value)]
        growth = float(np.expm1(count * float(form.unit_roundoff))) * _SLACK
        most = _plus(sizes, 2 * errors)
        error = _plus(errors, _times(most, np.asarray(growth)))
        if self.order == "flushing":
            lost = count * float(form.smallest_normal) * (1 + growth) * _SLACK
            error = _plus(error, np.asarray(lost))
        fits = _plus(most, error) <= float(form.largest)
        return Near(total.value, np.where(fits & np.isfinite(total.value), error, np.inf))

    # --- truths ---

    def _decided(self, term: Term) -> Near:
        return exactly(np.asarray(term.data))

    def _less(self, term: Term) -> Near:
        return self._compared(term, np.less)

    def _less_equal(self, term: Term) -> Near:
        return self._compared(term, np.less_equal)

    def _equal(self, term: Term) -> Near:
        return self._compared(term, np.equal)

    def _compared(self, term: Term, comparison: Callable[..., Any]) -> Near:
        """Sure where both are exact, or farther apart than both errors together."""
        a, b = self._all(term)
        if term.arguments[0].sort is Sort.INDEX:
            return exactly(np.asarray(comparison(a, b)))
        value, off = np.asarray(comparison(a.value, b.value)), _plus(a.error, b.error)
        if not off.any():
            return exactly(value)
        apart = _down(np.abs(_double(a.value) - _double(b.value)))
        sure = (off == 0) | (apart > (2 * off if self.loose else off))
        return Near(value, np.where(sure, 0.0, 1.0))

    def _is_nan(self, term: Term) -> Near:
        (a,) = self._all(term)
        return Near(np.asarray(np.isnan(a.value)), np.where(np.isfinite(a.error), 0.0, 1.0))

    def _is_minus_zero(self, term: Term) -> Near:
        """The exact number is never -0."""
        (a,) = self._all(term)
        holds = np.asarray((a.value == 0) & np.signbit(a.value))
        doubtful = holds | (self.loose & (a.error > 0))
        return Near(holds, np.where(doubtful, 1.0, 0.0))

    def _both(self, term: Term) -> Near:
        return self._joined(term, False)

    def _either(self, term: Term) -> Near:
        return self._joined(term, True)

    def _joined(self, term: Term, decides: bool) -> Near:
        """What decides is enough, if it is sure."""
        a, b = self._all(term)
        value = a.value | b.value if decides else a.value & b.value
        settled = ((a.value == decides) & (a.error == 0)) | ((b.value == decides) & (b.error == 0))
        doubt = np.where(settled | ((a.error == 0) & (b.error == 0)), 0.0, 1.0)
        return Near(value, doubt)

    def _opposite(self, term: Term) -> Near:
        (a,) = self._all(term)
        return Near(~a.value, a.error)

    # --- indices ---

    def _floor(self, term: Term) -> Any:
        a, b = self._all(term)
        return a // b

    def _remainder(self, term: Term) -> Any:
        a, b = self._all(term)
        return a % b


_WORDS = methods(_Walk)


# --- bounds: doubles that are never less than what they stand for -------------------------------------------


def _double(array: Array) -> Array:
    return np.asarray(array).astype(np.float64)


def _size(array: Array) -> Array:
    """Magnitudes; of no type is one rounded on its way to double but of long integers, which need none."""
    return np.abs(_double(array))


def _up(bound: Array) -> Array:
    """The next double above, but for an exact 0: a sum or difference of doubles is 0 only if it is exact."""
    return np.where(bound == 0, 0.0, np.nextafter(bound, np.inf))


def _plus(a: Array, b: Array) -> Array:
    # What is added to nothing is not rounded.
    return np.where(a == 0, b, np.where(b == 0, a, np.nextafter(a + b, np.inf)))


def _times(a: Array, b: Array) -> Array:
    """A product of bounds; one of 0 and +inf is +inf, for nothing is known of what such a bound is for."""
    found = np.where((a == 0) | (b == 0), a * b, np.nextafter(a * b, np.inf))
    return np.where(np.isnan(found), np.inf, found)


def _relative(value: Array) -> Array:
    """What a sum may have lost: half a step at most, and nothing where steps are the smallest."""
    form = FORMATS[held_type(value)]
    return np.where(_size(value) < float(form.smallest_normal), 0.0, _size(value) * float(form.unit_roundoff))


def _rounding(value: Array) -> Array:
    """What any operation may have lost; half the smallest double is no double."""
    form = FORMATS[held_type(value)]
    least = float(form.smallest / 2) or float(form.smallest)
    relative = _size(value) * float(form.unit_roundoff)
    return np.where(relative > least, relative, least)


def _down(bound: Array) -> Array:
    return np.nextafter(bound, -np.inf)


def _over(a: Array, b: Array) -> Array:
    """A quotient of bounds; +inf where the divisor is not known to be positive."""
    return np.where(b > 0, np.nextafter(a / b, np.inf), np.inf)


def _apart(a: Near, b: Near) -> Array:
    return _up(np.abs(_double(a.value) - _double(b.value)))


def _unrounded(operation: Callable[..., Any], value: Array, *arguments: Near) -> Near:
    """An operation of integers: exact, unless it wraps or something before it may have."""
    exact = operation(*(each.value.astype(object) for each in arguments))
    kept = np.asarray(exact == value.astype(object), bool)
    for each in arguments:
        kept = kept & (each.error == 0)
    return Near(value, np.where(kept, 0.0, np.inf))


# --- literals and types -------------------------------------------------------------------------------------


def _literal(term: Term, dtype: DType) -> Near:
    """A literal rounded once to a type, and by how much."""
    return Near(literal(term, dtype), np.asarray(_literal_error(term, dtype)))


def _literal_error(term: Term, dtype: DType) -> float:
    said = term.data
    if not isinstance(said, Fraction) or dtype not in FORMATS:
        return 0.0
    held = float(nearest(said, dtype))
    if not np.isfinite(held):
        return float(np.inf)
    lost = abs(Fraction(held) - said)
    found = float(lost)
    return found if Fraction(found) >= lost else float(np.nextafter(found, np.inf))


def _holds(target: DType, source: DType) -> bool:
    """Tell whether a float type holds every value of another type."""
    form, held = FORMATS[target], FORMATS.get(source)
    if source in INTEGERS:
        return int(np.iinfo(numpy_dtype(source)).max).bit_length() <= min(form.precision, form.emax)
    if held is None:
        return source is DType.BOOL
    return held.precision <= form.precision and held.emin >= form.emin


def _is_wide(term: Term) -> bool:
    """Whether a number is of the type in which sums are made."""
    if term.word == "wide":
        return True
    if term.word in ("narrow", "converted") or term.sort is not Sort.NUMBER:
        return False
    return any(map(_is_wide, term.arguments))


def _added(step: Term) -> Term | None:
    """What a fold adds at every index, if adding is all that it does with its running value."""
    if step.word == "plus_product":
        total, a, b = step.arguments
        term = a * b
    elif step.word == "add":
        total, term = step.arguments
    else:
        return None
    return None if total.word != "carried" or any(each is total for each in parts(term)) else term


def _on_axis(index: Array, size: int) -> Array:
    """An index that lies on its axis; a select on indices guards where that is another one."""
    return np.where(index < 0, 0, np.where(index >= size, size - 1, index))
