"""Definitions, and what they become for operands of given shapes and given attributes: traces."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from sonnx.terms.tensors import Given, Made, tensor
from sonnx.terms.term import DefinitionError, Sort, Term, condition, number, truth
from sonnx.terms.walking import substituted
from sonnx.terms.words import value

# The kinds of types between which domains tell.
Kind = Literal["integers", "reals", "floats"]


@dataclass(frozen=True)
class Domain:
    """Where a definition is defined, if not everywhere (D-ALL-11): a truth over some of its operands.

    `text` says it as a sentence without its full stop, such as "the divisor is not 0". It holds for `kinds`
    of types; of others it asks nothing. Where it is false a run stops, and no output is given. `shown` are
    two integers for examples: where all its operands are the first it holds, where the second it does not.
    """

    inside: Callable[..., Any]
    text: str
    ruling: str = "D-ALL-11"
    kinds: tuple[Kind, ...] = ("integers", "reals")
    shown: tuple[int, int] = (1, 0)

    @property
    def operands(self) -> tuple[str, ...]:
        """The operands on which it hangs."""
        return tuple(each.name for each in _parameters(self.inside))

    @property
    def statement(self) -> str:
        """What its rule says."""
        return f"{'In the reals, at' if self.kinds == ('reals',) else 'At'} every element, {self.text}."

    @property
    def place(self) -> str:
        """What the identifier of its rule ends with, such as `B.D8`."""
        return f"{self.operands[0]}.D8"


@dataclass(frozen=True)
class Definition:
    """What an operator means: a function in the language, whose parameters are operands and attributes.

    An *element-wise* definition is a function of elements: all operands have the shape of the result but for
    scalars. Otherwise it is a function of tensors, and gives `tensor(shape, at)` or a tuple of them.
    `executed` is another function with the same bits that costs less: engines use it, contracts do not, and a
    proof shows that both agree. `integers` is the definition on integers where that differs. A definition is
    total even where it has a `domain`: what it gives outside is harmless, and nobody gets it.
    """

    function: Callable[..., Any]
    elementwise: bool
    executed: Callable[..., Any] | None = None
    integers: Callable[..., Any] | None = None
    domain: Domain | None = None


def elementwise(
    function: Callable[..., Any],
    *,
    executed: Callable[..., Any] | None = None,
    integers: Callable[..., Any] | None = None,
    domain: Domain | None = None,
) -> Definition:
    """A definition by one function of elements."""
    return Definition(function, True, executed, integers, domain)


def tensorwise(function: Callable[..., Any], *, integers: Callable[..., Any] | None = None) -> Definition:
    """A definition by a function of tensors."""
    return Definition(function, False, integers=integers)


@dataclass(frozen=True, eq=False)
class Element:
    """An element-wise definition: the operands whose elements it takes, and the trees over `value`s.

    `inside` is the tree of its domain, whatever the type of elements; None where it has no domain.
    """

    names: tuple[str, ...]
    term: Term
    executed: Term
    inside: Term | None = None


@dataclass(frozen=True, eq=False)
class Trace:
    """A definition for given shapes and attributes: operands by name, and what is made of them."""

    operands: Mapping[str, Given]
    made: tuple[Made, ...]
    element: Element | None = None


def trace(
    definition: Definition,
    operands: Mapping[str, Given | tuple[Any, ...] | None],
    attributes: Mapping[str, Any],
    *,
    integers: bool = False,
) -> Trace:
    """Call a definition; operands that decide a shape come as tuples of elements, absent ones as None."""
    function = definition.function
    if integers and definition.integers is not None:
        function = definition.integers
    given = {name: operand for name, operand in operands.items() if isinstance(operand, Given)}
    if not definition.elementwise:
        found = called(function, operands, attributes)
        made = found if isinstance(found, tuple) else (found,)
        for each in made:
            if not isinstance(each, Made):
                raise DefinitionError(f"{_name(function)} gives tensor(shape, at), not {type(each).__name__}")
        return Trace(given, made)
    element = _element(definition, function, given, attributes)
    return Trace(given, (at_every_index(element, given),), element)


def _element(
    definition: Definition,
    function: Callable[..., Any],
    given: Mapping[str, Given],
    attributes: Mapping[str, Any],
) -> Element:
    values = {name: value(name, operand.sort) for name, operand in given.items()}

    def term(written: Callable[..., Any]) -> Term:
        found = called(written, values, attributes)
        is_truth = isinstance(found, bool) or (isinstance(found, Term) and found.sort is Sort.TRUTH)
        return condition(found) if is_truth else number(found)

    meant = term(function)
    same = definition.executed is None or function is not definition.function
    domain = definition.domain
    inside = None if domain is None else truth(called(domain.inside, values, attributes))
    return Element(tuple(given), meant, meant if same else term(definition.executed or function), inside)


def at_every_index(element: Element, given: Mapping[str, Given]) -> Made:
    """The element-wise definition as one of tensors: scalars are read as such."""
    shape = next((operand.shape for operand in given.values() if operand.rank), ())

    def at(*i: Term) -> Term:
        reads = {name: operand[i if operand.rank else ()] for name, operand in given.items()}
        return substituted(element.term, reads)

    return tensor(shape, at)


def called(function: Callable[..., Any], operands: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:
    """Call a function with what it names; operands of no parameter's name belong to the `*` one."""
    known = {**attributes, **operands}
    parameters = _parameters(function)
    named = {each.name for each in parameters if each.kind is not each.VAR_POSITIONAL}
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += [operand for name, operand in operands.items() if name not in named]
        elif parameter.name not in known:
            raise DefinitionError(
                f"{_name(function)} takes `{parameter.name}`, which is no operand or attribute"
            )
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[parameter.name] = known[parameter.name]
        else:
            positional.append(known[parameter.name])
    return function(*positional, **keywords)


# To ask Python for them takes as long as a call does that checks its rules.
@lru_cache(1024)
def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", "a definition")
