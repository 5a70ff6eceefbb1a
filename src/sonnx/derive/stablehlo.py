"""Operations of StableHLO from a definition: one method a word.

XLA takes subnormal numbers for zero where it calculates or compares, contracts x·y + z, may keep float16 in
float, leaves out zeros that are added, and divides by constants through their reciprocals. So floats are
compared through their bits, and what was calculated is sealed: it passes through its bits, behind which XLA
does not look.
"""

import operator as python
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from sonnx.derive.boxes import Box, Read, affine, boxes, element_strides
from sonnx.derive.literals import literal
from sonnx.derive.stablehlo_moves import gathered, joined, placed
from sonnx.derive.tracing import element_type, suited, traced
from sonnx.derive.walking import methods
from sonnx.mlir import operations as hlo
from sonnx.mlir.conversion import converted
from sonnx.mlir.operations import Block, ExportError, Tensor
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.products import ACCUMULATOR
from sonnx.numeric.rounding import FORMATS
from sonnx.terms.tensors import Made
from sonnx.terms.term import Sort, Term, Truth, lift, make
from sonnx.terms.walking import rebuilt, without_names
from sonnx.terms.words import value
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator, operand_names

# Each takes some lines of the text; a model of a few bytes can ask for very many.
_MOST_STEPS = 4096


def lower(
    operator: Operator, inputs: Mapping[str, Any], attributes: Mapping[str, Any]
) -> Mapping[str, Tensor]:
    """The results of a node: as its operator writes them by hand, or as its definition says.

    An operand whose elements decide a shape comes as an array.
    """
    if operator.stablehlo is not None:
        return operator.stablehlo(inputs, attributes)
    tensors = {name: x for name, x in inputs.items() if isinstance(x, Tensor)}
    constants = {name: tuple(x.tolist()) for name, x in inputs.items() if name not in tensors}
    dialect = operator.dialect
    types = {name: TensorType(x.dtype, x.shape, dialect=dialect) for name, x in tensors.items()}
    types |= {name: TensorType(DType.INT64, (len(x),), dialect=dialect) for name, x in constants.items()}
    trace = traced(operator, types, attributes, constants)
    call = Call(operator.name, types, attributes, constants=constants)
    declared = operator.contract.output_types(call)
    dtype, block = element_type(operator, types), next(iter(tensors.values())).block
    made = {}
    for name, each in zip(operand_names(operator.contract.outputs, len(trace.made)), trace.made, strict=True):
        target = declared[name].dtype
        assert target is not None  # the call obeys every rule
        walk = Walk(block, dtype, target, each.shape, dict(tensors), each.indices)
        if trace.element is not None:
            made[name] = walk.result(trace.element.executed)
        else:
            made[name] = moves(each, tensors, walk)
    return made


def moves(made: Made, operands: Mapping[str, Tensor], walk: "Walk") -> Tensor:
    """A result of tensors: boxes side by side where elements only move, or else element by element."""
    if 0 in made.shape:
        return hlo.zeros(walk.block, walk.target, made.shape)
    found = boxes(made)
    if found is None:
        return walk.result(made.term)

    def source(box: Box) -> Tensor:
        if isinstance(box.source, Term):
            return walk.constant(box.source, walk.dtype, box.sizes)
        return placed(operands[box.source.operand], box.source, box)

    return joined(found, source, len(made.shape))


# What a term of a definition becomes; a literal has neither type nor shape until it meets a tensor.
Lowered = Tensor | Term


@dataclass
class Walk:
    """The terms of one definition as tensors: all of one shape, or scalars that serve every element."""

    block: Block
    # The type of the definition's numbers, and that of its result.
    dtype: DType
    target: DType
    shape: tuple[int, ...]
    values: dict[str, Tensor]
    indices: Sequence[Term] = ()
    made: dict[Term, Lowered] = field(default_factory=dict)
    # What is known of tensors by their names, so that each is asked once.
    orders: dict[str, Tensor] = field(default_factory=dict)
    nans: dict[str, Tensor] = field(default_factory=dict)

    def result(self, term: Term) -> Tensor:
        """The tensor of a definition's element, in its whole shape."""
        plain = suited(without_names(term), self.dtype)
        return self.spread(self.tensor(self.part(plain)), self.shape)

    def part(self, term: Term) -> Lowered:
        """What a term becomes, once."""
        if term not in self.made:
            method = _WORDS.get(term.word)
            if method is None:
                raise ExportError(f"XLA has no operation with the bits that `{term.word}` has by definition")
            bound = term.word in ("fold", "read", "read_flat")  # these look at their arguments themselves
            self.made[term] = method(self, term, *(() if bound else map(self.part, term.arguments)))
        return self.made[term]

    # Types and shapes

    def tensor(self, part: Lowered, dtype: DType | None = None) -> Tensor:
        """A tensor of what may be a literal still."""
        if isinstance(part, Tensor):
            return part
        return self.constant(part, dtype or self.dtype, ())

    def constant(self, term: Term, dtype: DType, shape: tuple[int, ...]) -> Tensor:
        """A literal, rounded once to a type."""
        return hlo.splat(Tensor(self.block, "", dtype, shape), literal(term, dtype).item())

    def spread(self, tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
        """A scalar at every place of a shape."""
        return tensor if tensor.shape == shape else hlo.repeated(tensor, shape)

    def together(self, *several: Lowered) -> list[Tensor]:
        """Tensors of one type and shape, which those decide that are no literals."""
        tensors = [each for each in several if isinstance(each, Tensor)]
        dtype = tensors[0].dtype if tensors else self.dtype
        shape = max((each.shape for each in tensors), key=len, default=())
        return [
            self.spread(each, shape) if isinstance(each, Tensor) else self.constant(each, dtype, shape)
            for each in several
        ]

    # Values

    def _value(self, term: Term) -> Lowered:
        """An operand."""
        return self.values[term.data]

    def _literal(self, term: Term) -> Lowered:
        """A number."""
        return term

    _lowest = _literal

    def _decided(self, term: Term) -> Lowered:
        """A condition that is known beforehand."""
        return hlo.splat(Tensor(self.block, "", DType.BOOL, ()), term.data)

    # Indices and what is read at them

    def _index(self, term: Term) -> Lowered:
        """An index of the result, at every place of it."""
        axis = [each.data for each in self.indices].index(term.data)
        return hlo.iota(self.block, DType.INT64, self.shape, axis)

    def _whole(self, term: Term) -> Lowered:
        """A known index."""
        return hlo.splat(Tensor(self.block, "", DType.INT64, ()), term.data)

    def _floor(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Quotients rounded down, by a positive divisor."""
        return hlo.elementwise("divide", *self._from_below(a, b))

    def _from_below(self, a: Lowered, b: Lowered) -> list[Tensor]:
        """a less its remainder, and b: XLA's quotients are cut off towards 0."""
        rest = self._remainder(a, a, b)
        whole, divisor = self.together(hlo.elementwise("subtract", *self.together(a, rest)), b)
        return [whole, divisor]

    def _remainder(self, _term: Lowered, a: Lowered, b: Lowered) -> Tensor:
        """Remainders from 0 up to below the divisor; XLA's have the sign of a."""
        x, divisor = self.together(a, b)
        rest = hlo.elementwise("remainder", x, divisor)
        negative = hlo.compare("LT", rest, hlo.splat(rest, 0))
        return hlo.select(negative, hlo.elementwise("add", rest, divisor), rest)

    def _read(self, term: Term) -> Lowered:
        """The elements of an operand at indices; outside of it, where a condition chooses others, any."""
        x = self.values[term.data]
        if not x.shape:
            return x
        indices = tuple(found for each in term.arguments if (found := affine(each)) is not None)
        if len(indices) == len(term.arguments):
            read = Read(term.data, indices, flat=False)
            names = tuple(each.data for each in self.indices)
            box = Box(names, (0,) * len(names), self.shape, read)
            ends = zip(read.extremes(box), x.shape, strict=True)
            if all(low >= 0 and high < size for (low, high), size in ends):
                return placed(x, read, box)
        place = lift(0, Sort.INDEX)
        for each, stride in zip(term.arguments, element_strides(x.shape), strict=True):
            place = place + each * stride
        return gathered(x, self._places(place))

    def _read_flat(self, term: Term) -> Lowered:
        """The elements of an operand at places in C order."""
        return gathered(self.values[term.data], self._places(term.arguments[0]))

    def _places(self, place: Term) -> Tensor:
        found = self.part(place)
        assert isinstance(found, Tensor)  # an index is never a literal
        return self.spread(found, self.shape)

    def _fold(self, term: Term) -> Lowered:
        """One step after the other."""
        sizes, running, names = term.data
        start, step = term.arguments
        if prod(sizes) > _MOST_STEPS:
            raise ExportError(f"a fold of {prod(sizes)} steps; up to {_MOST_STEPS} are written for XLA")
        total = self.part(start)
        for at in product(*map(range, sizes)):
            if isinstance(total, Tensor):
                self.values[total.name] = total
            carried = value(total.name) if isinstance(total, Tensor) else total
            total = self.part(_step(step, {running: carried}, dict(zip(names, at, strict=True))))
        return total

    # Arithmetic

    def calculated(self, operation: str, *operands: Lowered) -> Tensor:
        """One operation, rounded once."""
        return self.sealed(hlo.elementwise(operation, *self.together(*operands)))

    def sealed(self, x: Tensor) -> Tensor:
        """The same number through its bits; a calculated NaN is any NaN, so it may be the quiet one."""
        if x.dtype not in FORMATS:
            return x
        bits = hlo.signed_bits(x)
        quiet = hlo.splat(bits, FORMATS[x.dtype].quiet_nan)
        return hlo.bitcast(hlo.select(hlo.is_nan(bits, x.dtype), quiet, bits), x.dtype)

    def _add(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Sums; XLA would leave out a zero that it knows, though -0 + 0 is +0."""
        terms = [
            x if isinstance(term, Tensor) and term.value is None else hlo.barrier(x)
            for term, x in zip((a, b), self.together(a, b), strict=True)
        ]
        return self.sealed(hlo.elementwise("add", *terms))

    def _subtract(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Differences."""
        return self.calculated("subtract", a, b)

    def _multiply(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Products."""
        return self.calculated("multiply", a, b)

    def _plus_product(self, term: Term, total: Lowered, a: Lowered, b: Lowered) -> Lowered:
        """The product rounded, then the sum."""
        return self._add(term, total, self.calculated("multiply", a, b))

    def _divide(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Quotients; XLA would multiply by the reciprocal of a divisor that it knows."""
        dividend, divisor = self.together(a, b)
        return self.sealed(hlo.elementwise("divide", dividend, hlo.barrier(divisor)))

    def _truncated(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Quotients of integers."""
        return hlo.elementwise("divide", *self.together(a, b))

    def _left_over(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """What a division leaves over."""
        return self.calculated("remainder", a, b)

    def _rounded_down(self, _term: Term, x: Lowered) -> Lowered:
        """The integer below; XLA takes negative subnormal numbers for -0, so that is asked by bits."""
        number = self.tensor(x)
        whole = self.calculated("floor", number)
        below = self.calculated("subtract", whole, lift(1))
        return hlo.select(self.compared("LT", number, whole), below, whole)

    def _bits_and(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Bits of integers that both have."""
        return hlo.elementwise("and", *self.together(a, b))

    def _bits_or(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Bits of integers that one of both has."""
        return hlo.elementwise("or", *self.together(a, b))

    def _bits_xor(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Bits in which integers differ."""
        return hlo.elementwise("xor", *self.together(a, b))

    def shifted(self, operation: str, a: Lowered, b: Lowered) -> Tensor:
        """Bits of unsigned integers at other places; by more than all of them XLA promises nothing."""
        x, places = self.together(a, b)
        width = hlo.splat(places, 8 * numpy_dtype(x.dtype).itemsize)
        fewer = hlo.compare("LT", places, width)
        return hlo.select(fewer, hlo.elementwise(operation, x, places), hlo.splat(x, 0))

    def _shifted_left(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Bits further up."""
        return self.shifted("shift_left", a, b)

    def _shifted_right(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Bits further down."""
        return self.shifted("shift_right_logical", a, b)

    def _bits_not(self, _term: Term, x: Lowered) -> Lowered:
        """All bits of integers the other way."""
        return hlo.elementwise("not", self.tensor(x))

    def _root(self, _term: Term, x: Lowered) -> Lowered:
        """Square roots."""
        return self.calculated("sqrt", x)

    def _negate(self, _term: Term, x: Lowered) -> Lowered:
        """The other sign, of a zero and a NaN too."""
        x = self.tensor(x)
        if x.dtype not in FORMATS:
            return hlo.elementwise("negate", x)
        return self.on_bits("xor", x, -FORMATS[x.dtype].sign_bit)

    def _absolute(self, _term: Term, x: Lowered) -> Lowered:
        """No sign; unsigned integers have none."""
        x = self.tensor(x)
        if x.dtype not in FORMATS:
            return x if x.dtype.value.startswith("u") else hlo.elementwise("abs", x)
        return self.on_bits("and", x, FORMATS[x.dtype].sign_bit - 1)

    def on_bits(self, operation: str, x: Tensor, mask: int) -> Tensor:
        """An operation on the bits of floats and a number."""
        return hlo.bitcast(hlo.with_number(operation, hlo.signed_bits(x), mask), x.dtype)

    # Types

    def _wide(self, _term: Term, x: Lowered) -> Lowered:
        """The type in which sums are made."""
        if isinstance(x, Term):
            return x
        return hlo.convert(x, ACCUMULATOR[self.dtype])

    def _narrow(self, _term: Term, x: Lowered) -> Lowered:
        """Back again, rounded once."""
        x = self.tensor(x, ACCUMULATOR[self.dtype])
        return x if x.dtype is self.dtype else self.sealed(hlo.convert(x, self.dtype))

    def _converted(self, _term: Term, x: Lowered) -> Lowered:
        """The type of the result."""
        return converted(self.tensor(x), self.target)

    # Choice

    def _select(self, _term: Term, condition: Lowered, chosen: Lowered, otherwise: Lowered) -> Lowered:
        """One of two, bit for bit."""
        assert isinstance(condition, Tensor)  # a condition that is known is decided by whoever traces
        a, b = self.together(chosen, otherwise)
        shape = max(condition.shape, a.shape, key=len)
        at = self.spread(condition, shape)
        return hlo.moved(lambda x, y: hlo.select(at, x, y), self.spread(a, shape), self.spread(b, shape))

    def _stated(self, _term: Term, x: Lowered) -> Lowered:
        """What a ruling says, without a choice."""
        return x

    def _both(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Both conditions."""
        return hlo.elementwise("and", *self.together(a, b))

    def _either(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """One of them or both."""
        return hlo.elementwise("or", *self.together(a, b))

    def _opposite(self, _term: Term, a: Lowered) -> Lowered:
        """Not the condition."""
        return hlo.elementwise("not", self.tensor(a))

    # Comparison

    def _less(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Whether a < b; never with a NaN."""
        return self.compared("LT", a, b)

    def _less_equal(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Whether a ≤ b; never with a NaN."""
        return self.compared("LE", a, b)

    def _equal(self, _term: Term, a: Lowered, b: Lowered) -> Lowered:
        """Whether a = b; never with a NaN."""
        return self.compared("EQ", a, b)

    def _is_nan(self, _term: Term, x: Lowered) -> Lowered:
        """Whether it is a NaN."""
        return self.nan(self.tensor(x))

    def _is_minus_zero(self, _term: Term, x: Lowered) -> Lowered:
        """Whether it is -0."""
        x = self.tensor(x)
        bits = hlo.signed_bits(x)
        return hlo.compare("EQ", bits, hlo.splat(bits, -FORMATS[x.dtype].sign_bit))

    def compared(self, direction: str, a: Lowered, b: Lowered) -> Tensor:
        """A comparison; of floats one of integers in their order."""
        x, y = self.together(a, b)
        if x.dtype not in FORMATS:
            return hlo.compare(direction, x, y)
        found = hlo.compare(direction, self.order(x), self.order(y))
        for part, tensor in ((a, x), (b, y)):
            if isinstance(part, Tensor) or part.data == "nan":
                found = hlo.elementwise("and", found, hlo.elementwise("not", self.nan(tensor)))
        return found

    def order(self, x: Tensor) -> Tensor:
        """Integers in the order of floats; both zeros are 0."""
        if x.name not in self.orders:
            bits = hlo.signed_bits(x)
            least = hlo.splat(bits, -FORMATS[x.dtype].sign_bit)
            mirrored = hlo.elementwise("subtract", least, bits)
            negative = hlo.compare("LT", bits, hlo.splat(bits, 0))
            self.orders[x.name] = hlo.select(negative, mirrored, bits)
        return self.orders[x.name]

    def nan(self, x: Tensor) -> Tensor:
        """Whether floats are NaNs."""
        if x.name not in self.nans:
            self.nans[x.name] = hlo.is_nan(hlo.signed_bits(x), x.dtype)
        return self.nans[x.name]


_WORDS = methods(Walk)
_PYTHON = {
    "add": python.add,
    "subtract": python.sub,
    "multiply": python.mul,
    "floor": python.floordiv,
    "remainder": python.mod,
    "less": python.lt,
    "less_equal": python.le,
    "equal": python.eq,
    "both": python.and_,
    "either": python.or_,
}


def _step(step: Term, carried: Mapping[str, Term], known: Mapping[str, int]) -> Term:
    """A step of a fold at known indices: what they decide is decided."""

    def change(each: Term, arguments: tuple[Any, ...]) -> Truth:
        if each.word == "carried":
            return carried.get(each.data, each)
        if each.word == "index" and each.data in known:
            return lift(known[each.data], Sort.INDEX)
        if each.word in _PYTHON:
            found: Truth = _PYTHON[each.word](*arguments)
            return found
        if each.word == "opposite":
            held: Truth = not arguments[0] if isinstance(arguments[0], bool) else ~arguments[0]
            return held
        if each.word == "select" and isinstance(arguments[0], bool):
            chosen: Term = arguments[1] if arguments[0] else arguments[2]
            return chosen
        return make(each.word, arguments, each.data, each.sort)

    made = rebuilt(step, change)
    assert isinstance(made, Term)  # a step gives a number
    return made
