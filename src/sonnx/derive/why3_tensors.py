"""Definitions of tensors for Why3, traced for the shapes and attributes of cases: one module a case.

A module says what the definition makes of operands of these shapes, index by index as the definition counts
them, over any type of elements; what it asks of the type is for a theory to give. `defined` ties that to the
tensors of shared/shapes.mlw, so that a theory's general function can be held against it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Protocol

from sonnx.derive.tracing import traced
from sonnx.derive.walking import methods
from sonnx.derive.why3 import FUNCTIONS, PREDICATES, called, literal_name, module, variable
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array
from sonnx.terms.tensors import Made
from sonnx.terms.term import DefinitionError, Sort, Term
from sonnx.terms.tracing import Trace
from sonnx.terms.walking import parts, without_names
from sonnx.vocabulary.operator import Operator, operand_names

# A fold is written out step by step; cases with more steps, or with more axes, have no module.
_MOST_STEPS = 16
_MOST_AXES = 4
_AND = " /\\ "
_INDEX_SIGNS = {"add": "+", "subtract": "-", "multiply": "*"}
_DIVISIONS = {"floor": "div", "remainder": "mod"}
_COMPARISONS = {"less": "<", "less_equal": "<=", "equal": "="}


class Tensor(Protocol):
    """What a case holds for an operand or a result."""

    @property
    def type(self) -> TensorType:
        """Its type."""
        ...

    def array(self) -> Array:
        """Its elements."""
        ...


class Case(Protocol):
    """A call that obeys every rule."""

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


def traces(operators: Iterable[Operator], cases_of: Callable[[str], Iterable[Case]]) -> dict[str, str]:
    """The modules of all operators that are defined by tensors, by the path beside their theories."""
    found = {
        f"{each.contract.domain or 'onnx'}/{each.folder}/definition.mlw": theory(
            each, cases_of(each.identifier)
        )
        for each in operators
        if each.definition is not None and not each.definition.elementwise
    }
    return {file: text for file, text in found.items() if text}


def theory(operator: Operator, cases: Iterable[Case]) -> str:
    """The modules of an operator's cases, each called as its case is."""
    return "\n".join(text for case in cases for text in _module(operator, case))


def _module(operator: Operator, case: Case) -> Iterator[str]:
    types = {name: tensor.type for name, tensor in case.inputs.items()}
    constants = {name: tuple(case.inputs[name].array().tolist()) for name in operator.contract.settled}
    found = traced(operator, types, case.attributes, constants)
    names = operand_names(operator.contract.outputs, len(found.made))
    written = Traced(found, dict(zip(names, found.made, strict=True)))
    if written.is_small:
        call = [f"{name} {kind}" for name, kind in types.items()]
        call += [f"{name} = {value}" for name, value in case.attributes.items()]
        yield f"(* {case.name}: {', '.join(call)}. *)\n{module(title(case.name), written.lines())}\n"


def title(name: str) -> str:
    """A case's name as that of a module: `OneTensorKeepsItsShape`."""
    words = re.findall("[A-Za-z0-9]+", name)
    return "".join(word[0].upper() + word[1:] for word in words)


@dataclass(frozen=True)
class Traced:
    """A definition traced for some shapes, and its results by name."""

    trace: Trace
    made: Mapping[str, Made]

    @property
    def is_small(self) -> bool:
        """Whether it has few axes and few steps, so that it can be written out."""
        shapes = [*self._operands.values(), *(each.shape for each in self.made.values())]
        folds = (
            part.data[0] for each in self.made.values() for part in parts(each.term) if part.word == "fold"
        )
        return all(len(shape) <= _MOST_AXES for shape in shapes) and all(
            prod(counts) <= _MOST_STEPS for counts in folds
        )

    @property
    def _operands(self) -> Mapping[str, tuple[int, ...]]:
        return {name: each.shape for name, each in self.trace.operands.items()}

    def lines(self) -> list[str]:
        """What is asked of the type, the results, and what ties them to tensors."""
        lines = ["use int.Int", "use int.EuclideanDivision", "use shared.shapes.Shape"]
        lines += ["use shared.shapes.Sizes", "", "type t", *sorted(self._asked())]
        walk = Walk(self._operands)
        taken = self._taken()
        for name, made in self.made.items():
            indices = _indices(made, self._operands)
            counted = f" ({' '.join(indices.values())}: int)" if indices else ""
            element = walk.expression(without_names(made.term), Values(indices))
            lines += ["", f"function {variable(name)}{taken}{counted} : t =", f"  {element}"]
        return [*lines, "", *self._tied()]

    def _tied(self) -> Iterator[str]:
        """The operands as tensors, and a predicate: others hold the results for all indices."""
        for name, shape in self._operands.items():
            own = variable(name)
            yield f"function {own}_of ({own}: {_function(len(shape))}) : tensor t ="
            yield f"  {_tensor(own, shape)}"
        given = "".join(f" {variable(name)}" for name in self._operands)
        tensors = " ".join(f"{variable(name)}_" for name in self.made)
        yield f"predicate defined{self._taken()} ({tensors}: tensor t) ="
        held = [
            line
            for name, made in self.made.items()
            for line in _holds(variable(name), made.shape, f"{variable(name)}{given}")
        ]
        yield from (f"  {line} /\\" for line in held[:-1])
        yield f"  {held[-1]}"

    def _taken(self) -> str:
        """The operands as functions of their indices."""
        return "".join(
            f" ({variable(name)}: {_function(len(shape))})" for name, shape in self._operands.items()
        )

    def _asked(self) -> set[str]:
        found = {part for each in self.made.values() for part in parts(without_names(each.term))}
        numbers = [part for part in found if part.sort is not Sort.INDEX and part.word in FUNCTIONS]
        functions = {
            f"function {called(part.word)} {' '.join('t' * FUNCTIONS[part.word])} : t" for part in numbers
        }
        predicates = {
            f"predicate {part.word} {' '.join('t' * PREDICATES[part.word])}"
            for part in found
            if part.word in PREDICATES and part.arguments[0].sort is not Sort.INDEX
        }
        literals = {
            f"constant {literal_name(part)}: t" for part in found if part.word in ("literal", "lowest")
        }
        return functions | predicates | literals


def _function(rank: int) -> str:
    return " -> ".join(["int"] * rank + ["t"])


def _places(rank: int) -> list[str]:
    """The indices of a tensor of shared/shapes.mlw, the outermost first."""
    return [f"(i {axis})" for axis in reversed(range(rank))]


def _tensor(function: str, shape: Sequence[int]) -> str:
    """A function of indices as a tensor."""
    sizes = " ".join([f"sizes{len(shape)}", *map(str, shape)])
    index = "i" if shape else "_"
    return f"{{ shape = {sizes}; value = fun {index} -> {' '.join([function, *_places(len(shape))])} }}"


def _holds(name: str, shape: Sequence[int], function: str) -> tuple[str, str]:
    """That a tensor has a shape, and at its indices what the function says."""
    own = f"{name}_"
    sizes = [f"{own}.shape.size {axis} = {size}" for axis, size in enumerate(reversed(shape))]
    bounds = [f"0 <= i {axis} < {size} ->" for axis, size in enumerate(reversed(shape))]
    element = f"{own}.value i = {' '.join([function, *_places(len(shape))])}"
    has_shape = _AND.join([f"{own}.shape.rank = {len(shape)}", *sizes])
    return has_shape, f"(forall i: index. {' '.join([*bounds, element])})"


def _indices(made: Made, operands: Iterable[str]) -> dict[str, str]:
    """Indices by name, as they are called where an operand may have the same name."""
    taken = {variable(name) for name in operands}
    names = [each.data for each in made.indices]
    return {name: f"{name}_" if name in taken else variable(name) for name in names}


@dataclass(frozen=True)
class Values:
    """What indices and running values are called, or which number an index is."""

    indices: Mapping[str, str | int]
    running: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Walk:
    """A tree as a formula of Why3, over operands of known shapes: one method a word."""

    operands: Mapping[str, tuple[int, ...]]

    def expression(self, term: Term, values: Values, *, bound: bool = False) -> str:
        """A number or a truth on one line; in brackets where it is bound to something beside it."""
        text = self._written(term, values)
        return f"({text})" if bound and " " in text else text

    def _written(self, term: Term, values: Values) -> str:
        method = _WORDS.get(term.word)
        if method is None:
            raise DefinitionError(f"`{term.word}` is no word for tensors that Why3 is told of")
        found: str = method(self, term, values)
        return found

    def _read(self, term: Term, values: Values) -> str:
        return _applied(variable(term.data), [self.index(each, values) for each in term.arguments])

    def _read_flat(self, term: Term, values: Values) -> str:
        """An element by its place in C order, which is taken apart by the operand's shape."""
        place, shape = self.index(term.arguments[0], values), self.operands[term.data]
        after = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        digits = (_calculated("floor", place, size) for size in after)
        first, *others = zip(digits, shape, strict=True)
        # The first index is not bounded by its axis, but by the number of elements.
        indices = [first[0], *(_calculated("remainder", digit, size) for digit, size in others)]
        return _applied(variable(term.data), indices)

    def _carried(self, term: Term, values: Values) -> str:
        return values.running[term.data]

    def _fold(self, term: Term, values: Values) -> str:
        """Step by step, each after a name for what the one before has given."""
        start, step = term.arguments
        counts, running, names = term.data
        called_so = variable(running)
        own = Values(values.indices, {**values.running, running: called_so})
        text = f"let {called_so} = {self.expression(start, values)} in "
        for place in product(*map(range, counts)):
            here = Values({**own.indices, **dict(zip(names, place, strict=True))}, own.running)
            text += f"let {called_so} = {self.expression(step, here)} in "
        return text + called_so

    def _select(self, term: Term, values: Values) -> str:
        condition, chosen, otherwise = (self.expression(each, values) for each in term.arguments)
        return f"if {condition} then {chosen} else {otherwise}"

    def _stated(self, term: Term, values: Values) -> str:
        return self._written(term.arguments[0], values)

    def _literal(self, term: Term, _values: Values) -> str:
        return literal_name(term)

    _lowest = _literal

    def _both(self, term: Term, values: Values) -> str:
        return _AND.join(self._bound(term, values))

    def _either(self, term: Term, values: Values) -> str:
        return " \\/ ".join(self._bound(term, values))

    def _opposite(self, term: Term, values: Values) -> str:
        return " ".join(["not", *self._bound(term, values)])

    def _operation(self, term: Term, values: Values) -> str:
        """What is asked of the type of elements."""
        return " ".join([called(term.word), *self._bound(term, values)])

    def _less(self, term: Term, values: Values) -> str:
        """Two indices, which have signs, or two elements."""
        if term.arguments[0].sort is not Sort.INDEX:
            return self._operation(term, values)
        a, b = (self.index(each, values) for each in term.arguments)
        return f"{a} {_COMPARISONS[term.word]} {b}"

    _less_equal = _equal = _less

    def _bound(self, term: Term, values: Values) -> Iterator[str]:
        return (self.expression(each, values, bound=True) for each in term.arguments)

    def index(self, term: Term, values: Values) -> str | int:
        """An index: a number where it is known, else a formula."""
        if term.word == "whole":
            return int(term.data)
        if term.word == "index":
            return values.indices[term.data]
        first, second = (self.index(each, values) for each in term.arguments)
        return _calculated(term.word, first, second)


_WORDS = dict.fromkeys((*FUNCTIONS, *PREDICATES), Walk._operation) | methods(Walk)


def _calculated(word: str, a: str | int, b: str | int) -> str | int:
    """Known numbers are calculated at once, and what changes nothing is left out."""
    if isinstance(a, int) and isinstance(b, int):
        known = {"add": a + b, "subtract": a - b, "multiply": a * b}
        return known[word] if word in known else a // b if word == "floor" else a % b
    if (b == 0 and word in ("add", "subtract")) or (b == 1 and word in ("multiply", "floor")):
        return a
    if a == 0 and word == "add":
        return b
    if word in _DIVISIONS:
        return _applied(_DIVISIONS[word], [a, b])
    return f"{_bound(a)} {_INDEX_SIGNS[word]} {_bound(b)}"


def _bound(index: str | int) -> str:
    """An index beside which something stands."""
    text = str(index)
    return f"({text})" if " " in text or text.startswith("-") else text


def _applied(name: str, indices: Sequence[str | int]) -> str:
    return " ".join([name, *map(_bound, indices)])
