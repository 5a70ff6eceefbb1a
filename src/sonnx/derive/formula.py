"""A definition as a formula in LaTeX, with the symbols of the contract: one function a word, few brackets."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from string import digits
from types import MappingProxyType
from typing import Any

from sonnx.derive.general import General, general, known
from sonnx.derive.symbols import symbolic
from sonnx.derive.walking import methods
from sonnx.terms.tensors import Made, flat_place, index
from sonnx.terms.term import DefinitionError, Sort, Term, lift
from sonnx.terms.walking import parts
from sonnx.terms.words import maximum, minimum, value
from sonnx.vocabulary.operator import BodyConstant, BodyNode, Contract, Operand, Operator, operand_names

# How tightly a text holds together: what stands inside something tighter needs brackets.
# A sum by its sign is open at its end: whatever follows would seem to belong to it.
_CHOICE, _OPEN, _SUM, _PRODUCT, _ATOM = range(5)
_MAXIMUM, _MINIMUM = (each(value("a"), value("b")).data for each in (maximum, minimum))
_ORDERS = {"less": "<", "less_equal": r"\le"}
_GREEK = frozenset(("alpha", "beta", "gamma", "delta", "epsilon", "lambda"))
_MOST_DIGITS = 6

_NONE: Mapping[Term, str] = MappingProxyType({})

Text = tuple[str, int]


def formula(operator: Operator) -> str | None:
    """What an element of the output is; of tensors, for any sizes of the call that its contract shows.

    Where a definition asks for more than names of sizes, it is the formula of that one call. None where it
    is no definition of elements, and the contract shows no call.
    """
    contract = operator.contract
    if operator.body is not None:
        return _of_parts(operator, operator.body(contract.rules[0].passing))
    found = symbolic(operator)
    if found is None:
        shown = contract.shown or contract.good
        return (
            None if shown is None else _of_call(operator, general(operator, shown) or known(operator, shown))
        )
    symbols: dict[str, str] = {each.name: _attribute(each.name) for each in contract.attributes}
    for operand in contract.inputs:
        for name in operand_names((operand,), 2 if operand.variadic else 1):
            symbols[name] = _operand(operand, name)
    output = contract.outputs[0].symbol
    is_truth = found.element.term.sort is Sort.TRUTH
    means = r"\text{ is true if and only if }" if is_truth else "="
    return f"{output}[i] {means} {latex(found.element.term, symbols)}"


def _of_parts(operator: Operator, body: Sequence[BodyNode | BodyConstant]) -> str:
    """The operators that a composition consists of, in the order in which they are executed."""
    contract = operator.contract
    symbols = {operand.name: operand.symbol for operand in (*contract.inputs, *contract.outputs)}
    held = {part.name: part.elements for part in body if isinstance(part, BodyConstant)}
    lines = []
    for part in body:
        if isinstance(part, BodyConstant):
            continue
        made, taken = (
            ", ".join(symbols.get(name, _attribute(name)) for name in names)
            for names in (part.outputs, part.inputs)
        )
        if held.keys() >= {*part.inputs}:  # as where one number is repeated
            lines.append(rf"{made} & = {_shown(held[part.inputs[0]][0])} \text{{ at every index}}")
            continue
        written = ", ".join(f"{_attribute(name)} = {_shown(each)}" for name, each in part.attributes.items())
        told = rf"{taken};\ {written}" if written else taken
        lines.append(rf"{made} & = \text{{{part.operator.name}}}({told})")
    rows = r" \\ ".join(lines)
    return rf"\begin{{array}}{{ll}} {rows} \end{{array}}"


def _shown(number: Any) -> str:
    """A number as it is written; a float that is no short decimal, bit for bit."""
    short = f"{number:.{_MOST_DIGITS}g}" if isinstance(number, float) else str(number)
    return short if float(short) == number else rf"\text{{{re.sub('0+p', 'p', number.hex())}}}"


def _of_call(operator: Operator, found: General) -> str:
    """The definition for a call, what stands in it more than once, and which call that is."""
    contract = operator.contract
    operands = {
        name: operand.symbol + (f"_{name.removeprefix(operand.name)}" if operand.variadic else "")
        for operand in contract.inputs
        for name in operand_names((operand,), len(found.call.inputs) if operand.variadic else 1)
    }
    attributes = {name: held for name, held in found.call.attributes.items() if name in found.taken}
    symbols = operands | _sizes(found, operands, attributes)
    walk = _Formula(symbols)
    given = {rf"\text{{shape of }} {operands[name]}": shape for name, shape in found.shapes.items()}
    given |= {_attribute(name): held for name, held in attributes.items()}
    given |= {operands[name]: held for name, held in found.call.constants.items()}
    told = r"\text{for } " + r", \; ".join(f"{what} = {walk.listed(held)}" for what, held in given.items())
    names = _repeated([each.term for each in found.made], set(symbols.values()))
    made = zip(_made_symbols(contract, len(found.made)), found.made, strict=True)
    elements = [made_formula(each, symbol, symbols, names) for symbol, each in made]
    if len(elements) == 1 and not names:
        return rf"{elements[0]} \qquad {told}"
    where = r", \quad ".join(f"{name} = {walk.text(term)}" for term, name in names.items())
    lines = (*elements, *([rf"\text{{where }} {where}"] if names else []), told)
    return r"\begin{array}{l} " + r" \\ ".join(lines) + r" \end{array}"


def _sizes(found: General, operands: Mapping[str, str], attributes: Mapping[str, Any]) -> dict[str, str]:
    """Symbols of sizes that may be any: those of shapes are N, others have a letter of their name."""
    # Letters of indices, and of what recurrences number, are others.
    every = [part for each in found.made for part in parts(each.term)]
    words = {part.data for part in every if part.word == "index"}
    for part in every:
        if part.word == "fold" and not taken(part.arguments[1], part.data[1])[1]:
            words.add(part.data[1])
    letters = {word.rstrip(digits) for word in words} | set(operands.values())
    initials = [name[0] for name in attributes]
    held = {
        name: name[0] if initials.count(name[0]) == 1 and name[0] not in letters else _attribute(name)
        for name in attributes
    }
    owners = {"": "N", **operands, **held}
    return {
        key: f"{owners[owner]}_{{{place}}}" if place else owners[owner]
        for key, (owner, place) in found.places.items()
    }


def _made_symbols(contract: Contract, count: int) -> list[str]:
    """What results are called; of any number of them each by its own."""
    names = operand_names(contract.outputs, count)
    symbols = {each.name: each.symbol for each in contract.outputs}
    (last,) = contract.outputs[-1:]
    return [symbols.get(name) or f"{last.symbol}_{name.removeprefix(last.name)}" for name in names]


def _repeated(terms: Sequence[Term], taken_symbols: set[str]) -> dict[Term, str]:
    """Names for indices that are calculated and asked for more than once."""
    every = dict.fromkeys(part for term in terms for part in parts(term))
    asked = Counter(
        argument
        for part in every
        if part.sort is not Sort.INDEX
        for argument in part.arguments
        if argument.sort is Sort.INDEX and argument.arguments
    )
    found = [each for each, times in asked.items() if times > 1]
    letters = {part.data.rstrip(digits) for part in every if part.word == "index"} | taken_symbols
    letter = next(each for each in "jqtuv" if each not in letters)
    return {each: f"{letter}_{{{number}}}" for number, each in enumerate(found)}


def _operand(operand: Operand, name: str) -> str:
    symbol = operand.symbol + (f"_{name.removeprefix(operand.name)}" if operand.variadic else "")
    return symbol if operand.form == "scalar" else f"{symbol}[i]"


def _attribute(name: str) -> str:
    return rf"\{name}" if name in _GREEK else rf"\text{{{name.replace('_', ' ')}}}"


def made_formula(
    made: Made, output: str, symbols: Mapping[str, str], names: Mapping[Term, str] = _NONE
) -> str:
    """What an element of a result of tensors is, for the shapes that it was traced with."""
    at = ", ".join(_index_name(each.data) for each in made.indices)
    return f"{output}[{at}] = {_Formula(symbols, names).text(made.term)}"


def latex(term: Term, symbols: Mapping[str, str]) -> str:
    """A term; values and operands that are read are called by their symbols."""
    return _Formula(symbols).text(term)


@dataclass(frozen=True)
class _Formula:
    symbols: Mapping[str, str]
    # Terms that have a name of their own, told elsewhere.
    names: Mapping[Term, str] = field(default_factory=dict)
    # What folds have come to, where it is numbered.
    carried: Mapping[str, str] = field(default_factory=dict)

    def text(self, term: Term, tightness: int = _CHOICE) -> str:
        """A term's text, in brackets where it holds less tightly than its place asks for."""
        if term in self.names:
            return self.names[term]
        text, own = self.word(term)
        return rf"\left({text}\right)" if own < tightness else text

    def word(self, term: Term) -> Text:
        """A term's text, and how tightly it holds together."""
        method = _WORDS.get(term.word)
        if method is None:
            raise DefinitionError(f"no formula has a word for `{term.word}`")
        found: Text = method(self, term)
        return found

    # Names and numbers

    def _value(self, term: Term) -> Text:
        """An operand's element."""
        symbol = self.symbols[term.data]
        return (rf"{symbol} \text{{ is true}}", _SUM) if term.sort is Sort.TRUTH else (symbol, _ATOM)

    def _literal(self, term: Term) -> Text:
        """A number: a decimal where that is short, else a quotient."""
        value = term.data
        if not isinstance(value, Fraction):
            return {"inf": (r"+\infty", _SUM), "-inf": (r"-\infty", _SUM), "nan": (r"\text{NaN}", _ATOM)}[
                value
            ]
        own = _SUM if value < 0 else _ATOM
        scaled = value * 10**_MOST_DIGITS
        if value.denominator == 1 or scaled.denominator > 1:
            sign = "-" if value < 0 else ""
            over = rf"\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
            return (str(value) if value.denominator == 1 else sign + over), own
        return f"{float(value):.{_MOST_DIGITS}f}".rstrip("0"), own

    def _lowest(self, _term: Term) -> Text:
        """The least element of the type."""
        return r"\text{lowest}", _ATOM

    def _carried(self, term: Term) -> Text:
        """What a fold has come to."""
        return self.carried.get(term.data, term.data), _ATOM

    def _index(self, term: Term) -> Text:
        """An index."""
        return _index_name(term.data), _ATOM

    def _whole(self, term: Term) -> Text:
        """A known index."""
        return str(term.data), _SUM if term.data < 0 else _ATOM

    def _size(self, term: Term) -> Text:
        """A size that may be any."""
        return self.symbols[term.data], _ATOM

    def _counted(self, term: Term) -> Text:
        """A size among numbers."""
        return self.word(term.arguments[0])

    def _read(self, term: Term) -> Text:
        """An element at indices."""
        return f"{self.symbols[term.data]}[{', '.join(map(self.text, term.arguments))}]", _ATOM

    def _read_flat(self, term: Term) -> Text:
        """An element at a place in C order."""
        return rf"{self.symbols[term.data]}_{{\text{{flat}}}}[{self.text(term.arguments[0])}]", _ATOM

    # Arithmetic

    def _add(self, term: Term) -> Text:
        """Sums."""
        a, b = term.arguments
        return f"{self.text(a, _SUM)} + {self.text(b, _PRODUCT)}", _SUM

    def _subtract(self, term: Term) -> Text:
        """Differences."""
        a, b = term.arguments
        return f"{self.text(a, _SUM)} - {self.text(b, _PRODUCT)}", _SUM

    def _multiply(self, term: Term) -> Text:
        """Products."""
        return r" \cdot ".join(self.text(each, _PRODUCT) for each in term.arguments), _PRODUCT

    def _plus_product(self, term: Term) -> Text:
        """A sum with a product."""
        total, a, b = term.arguments
        factors = r" \cdot ".join(self.text(each, _PRODUCT) for each in (a, b))
        return f"{self.text(total, _SUM)} + {factors}", _SUM

    def _divide(self, term: Term) -> Text:
        """Quotients."""
        return rf"\frac{{{self.text(term.arguments[0])}}}{{{self.text(term.arguments[1])}}}", _ATOM

    def _truncated(self, term: Term) -> Text:
        """Quotients rounded towards zero."""
        return rf"\text{{truncated}}\left({self._divide(term)[0]}\right)", _ATOM

    def _left_over(self, term: Term) -> Text:
        """What a division leaves over."""
        a, b = term.arguments
        divided = rf"\text{{truncated}}\left({self._divide(term)[0]}\right)"
        return rf"{self.text(a, _SUM)} - {self.text(b, _PRODUCT)} \cdot {divided}", _SUM

    def _rounded_down(self, term: Term) -> Text:
        """Numbers rounded down."""
        return rf"\left\lfloor {self.text(term.arguments[0])} \right\rfloor", _ATOM

    def bitwise(self, sign: str, term: Term) -> Text:
        """Two numbers bit by bit."""
        return sign.join(self.text(each, _ATOM) for each in term.arguments), _SUM

    def _bits_and(self, term: Term) -> Text:
        """Bits that both have."""
        return self.bitwise(r" \mathbin{\&} ", term)

    def _bits_or(self, term: Term) -> Text:
        """Bits that one of both has."""
        return self.bitwise(r" \mathbin{|} ", term)

    def _bits_xor(self, term: Term) -> Text:
        """Bits in which they differ."""
        return self.bitwise(r" \oplus ", term)

    def _shifted_left(self, term: Term) -> Text:
        """Bits further up, as a product; what a type has no bits for is lost."""
        a, b = term.arguments
        return rf"{self.text(a, _PRODUCT)} \cdot 2^{{{self.text(b)}}} \bmod 2^n", _PRODUCT

    def _shifted_right(self, term: Term) -> Text:
        """Bits further down, as a quotient."""
        a, b = term.arguments
        return rf"\left\lfloor \frac{{{self.text(a)}}}{{2^{{{self.text(b)}}}}} \right\rfloor", _ATOM

    def _bits_not(self, term: Term) -> Text:
        """All bits the other way."""
        return rf"\mathord{{\sim}} {self.text(term.arguments[0], _ATOM)}", _PRODUCT

    def _floor(self, term: Term) -> Text:
        """Quotients rounded down."""
        return rf"\left\lfloor {self._divide(term)[0]} \right\rfloor", _ATOM

    def _remainder(self, term: Term) -> Text:
        """Remainders."""
        a, b = term.arguments
        return rf"{self.text(a, _ATOM)} \bmod {self.text(b, _ATOM)}", _PRODUCT

    def _negate(self, term: Term) -> Text:
        """The other sign."""
        return f"-{self.text(term.arguments[0], _PRODUCT)}", _SUM

    def _absolute(self, term: Term) -> Text:
        """No sign."""
        return rf"\left|{self.text(term.arguments[0])}\right|", _ATOM

    def _root(self, term: Term) -> Text:
        """Square roots."""
        return rf"\sqrt{{{self.text(term.arguments[0])}}}", _ATOM

    def _converted(self, term: Term) -> Text:
        """An element of another type."""
        return rf"\text{{converted}}({self.text(term.arguments[0])})", _ATOM

    def _wide(self, term: Term) -> Text:
        """In which type is calculated, formulas do not say."""
        return self.word(term.arguments[0])

    _narrow = _stated = _wide

    def _named(self, term: Term) -> Text:
        """A word by its symbol."""
        return f"{term.data.symbol}({', '.join(map(self.text, term.arguments))})", _ATOM

    # Choices and conditions

    def _select(self, term: Term) -> Text:
        """Cases, the first that applies."""
        rows = []
        while term.word == "select":
            condition, chosen, term = term.arguments
            rows.append(rf"{self.text(chosen)} & \text{{if }} {self.text(condition)}")
        rows.append(rf"{self.text(term)} & \text{{otherwise}}")
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}", _ATOM

    def compared(self, sign: str, term: Term) -> Text:
        """Two sides."""
        a, b = term.arguments
        return f"{self.text(a, _SUM)} {sign} {self.text(b, _SUM)}", _SUM

    def _less(self, term: Term) -> Text:
        """Whether a < b."""
        return self.compared("<", term)

    def _less_equal(self, term: Term) -> Text:
        """Whether a ≤ b."""
        return self.compared(r"\le", term)

    def _equal(self, term: Term) -> Text:
        """Whether a = b."""
        return self.compared("=", term)

    def _decided(self, term: Term) -> Text:
        """What is known beforehand."""
        return rf"\text{{{str(term.data).lower()}}}", _ATOM

    def _is_nan(self, term: Term) -> Text:
        """Whether it is a NaN."""
        return rf"{self.text(term.arguments[0], _SUM)} \text{{ is NaN}}", _SUM

    def _is_minus_zero(self, term: Term) -> Text:
        """Whether it is -0."""
        return rf"{self.text(term.arguments[0], _SUM)} \text{{ is }} -0", _SUM

    def _both(self, term: Term) -> Text:
        """All of several; two bounds of one term stand at its sides."""
        told: list[str] = []
        last: Term | None = None
        for each in _conditions(term):
            if last is not None and each.word in _ORDERS and last.arguments[1] is each.arguments[0]:
                told[-1] += rf" {_ORDERS[each.word]} {self.text(each.arguments[1], _SUM)}"
                last = None
            else:
                told.append(self.text(each, _SUM))
                last = each if each.word in _ORDERS else None
        return r" \text{ and } ".join(told), _SUM

    def _either(self, term: Term) -> Text:
        """One or both."""
        return r" \text{ or } ".join(self.text(each) for each in term.arguments), _CHOICE

    def _opposite(self, term: Term) -> Text:
        """Not so."""
        return rf"\text{{not }} {self.text(term.arguments[0], _ATOM)}", _SUM

    # Folds

    def _fold(self, term: Term) -> Text:
        """A sum, product, maximum or minimum where the step is one; else a recurrence.

        An axis of size 1 has no index, so nothing runs along it. A fold over nothing is its start.
        """
        sizes, running, names = term.data
        start, step = term.arguments
        along = [pair for pair in zip(names, sizes, strict=True) if pair[1] != 1]
        if 0 in sizes:
            return self.word(start)
        step, rest = taken(step, running)
        if not rest:
            return self.recurrence(running, start, step, along)
        if step.word == "named":
            return self.extreme(step, start, rest[0], along)
        is_product = step.word == "multiply"
        sign, neutral, joined = (r"\prod", 1, r"\cdot") if is_product else (r"\sum", 0, "+")
        every = "".join(rf"{sign}_{{{_index_name(k)}=0}}^{{{self.size(size - 1)}}} " for k, size in along)
        every += r" \cdot ".join(self.text(each, _PRODUCT) for each in rest)
        while start.word in ("wide", "stated"):
            (start,) = start.arguments
        if start.word == "literal" and start.data == neutral:
            return every, _OPEN
        return f"{self.text(start, _PRODUCT if is_product else _SUM)} {joined} {every}", _OPEN

    def extreme(self, step: Term, start: Term, each: Term, along: Sequence[tuple[str, int]]) -> Text:
        """The greatest or least of many; what it starts from is told unless nothing lies beyond it."""
        symbol = step.data.symbol
        every = rf"{symbol}_{{{self.below(along, ', ')}}} {self.text(each, _PRODUCT)}"
        end = "-inf" if step.data is _MAXIMUM else "inf"
        if (start.word == "literal" and start.data == end) or (
            start.word == "lowest" and step.data is _MAXIMUM
        ):
            return every, _OPEN
        return f"{symbol}({self.text(start)}, {every})", _ATOM

    def recurrence(self, running: str, start: Term, step: Term, along: Sequence[tuple[str, int]]) -> Text:
        """The last of numbered values, each made from the one before; they are counted in C order."""
        sizes = [size for _, size in along]
        place = flat_place([index(name) for name, _ in along], sizes)
        inner = replace(self, carried={**self.carried, running: f"{running}_{{{self.text(place)}}}"})
        return (
            rf"{running}_{{{self.size(prod(sizes))}}} \text{{ where }} "
            rf"{running}_{{0}} = {self.text(start, _OPEN)}, \; "
            rf"{running}_{{{self.text(place + 1)}}} = {inner.text(step, _OPEN)} "
            rf"\text{{ for }} {self.below(along, ', ')}",
            _CHOICE,
        )

    def listed(self, held: Any) -> str:
        """A shape, or what an attribute holds."""
        if isinstance(held, tuple):
            return f"[{', '.join(map(self.listed, held))}]"
        return self.size(held) if isinstance(held, int) else rf"\text{{{held}}}"

    def size(self, size: int) -> str:
        """A size, or one less."""
        return self.text(lift(size, Sort.INDEX))

    def below(self, along: Sequence[tuple[str, int]], between: str) -> str:
        """The ranges of indices."""
        return between.join(rf"0 \le {_index_name(name)} < {self.size(size)}" for name, size in along)


_WORDS = methods(_Formula)


def taken(step: Term, running: str) -> tuple[Term, tuple[Term, ...]]:
    """A step without what is stated of it, and what it adds to, multiplies or compares with what is carried.

    That is nothing where the step is none of these, or where what is carried stands elsewhere as well.
    """
    while step.word == "stated":
        (step,) = step.arguments
    many = step.word in ("add", "multiply", "plus_product") or (
        step.word == "named" and step.data in (_MAXIMUM, _MINIMUM)
    )
    first, *others = step.arguments if many else (step,)
    if step.word in ("add", "multiply") and first.word != "carried":
        # The order of two does not matter to a number, and which NaN comes out is any's.
        first, others = others[0], [first]
    apart = all(part.word != "carried" or part.data != running for other in others for part in parts(other))
    return step, tuple(others) if first.word == "carried" and first.data == running and apart else ()


def _conditions(term: Term) -> Iterator[Term]:
    """The conditions that must all hold."""
    if term.word == "both":
        for each in term.arguments:
            yield from _conditions(each)
    else:
        yield term


def _index_name(name: str) -> str:
    """i0 with its number below."""
    letters = name.rstrip("0123456789")
    digits = name[len(letters) :]
    return f"{letters}_{{{digits}}}" if digits else name
