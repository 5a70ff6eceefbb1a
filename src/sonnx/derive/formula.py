"""A definition as a formula in LaTeX, with the symbols of the contract: one function a word, few brackets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from sonnx.derive.symbols import symbolic
from sonnx.derive.tracing import traced
from sonnx.terms.tensors import Made
from sonnx.terms.term import DefinitionError, Sort, Term
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operand, Operator, operand_names

# How tightly a text holds together: what stands inside something tighter needs brackets.
_CHOICE, _SUM, _PRODUCT, _ATOM = range(4)
_GREEK = frozenset(("alpha", "beta", "gamma", "delta", "epsilon", "lambda"))
_MOST_DIGITS = 6

Text = tuple[str, int]


def formula(operator: Operator) -> str | None:
    """What an element of the output is; of one that moves elements, in the call that its contract shows.

    None where the definition is neither one of elements nor of a move.
    """
    found = symbolic(operator)
    if found is None:
        return None if operator.contract.good is None else _moved(operator, operator.contract.good)
    contract = operator.contract
    symbols: dict[str, str] = {each.name: _attribute(each.name) for each in contract.attributes}
    for operand in contract.inputs:
        for name in operand_names((operand,), 2 if operand.variadic else 1):
            symbols[name] = _operand(operand, name)
    output = contract.outputs[0].symbol
    return f"{output}[i] = {latex(found.element.term, symbols)}"


def _moved(operator: Operator, good: Call) -> str:
    """The definition for one call, and which call that is."""
    trace = traced(operator, good.inputs, good.attributes, good.constants)
    symbols = {
        name: operand.symbol + (f"_{name.removeprefix(operand.name)}" if operand.variadic else "")
        for operand in operator.contract.inputs
        for name in operand_names((operand,), len(good.inputs) if operand.variadic else 1)
    }
    given = {rf"\text{{shape of }} {symbols[name]}": each.shape for name, each in trace.operands.items()}
    given |= {_attribute(name): value for name, value in good.attributes.items()}
    given |= {symbols[name]: held for name, held in good.constants.items()}
    told = (f"{what} = {list(held) if isinstance(held, tuple) else held}" for what, held in given.items())
    element = made_formula(trace.made[0], operator.contract.outputs[0].symbol, symbols)
    return rf"{element} \qquad \text{{for }} " + r", \; ".join(told)


def _operand(operand: Operand, name: str) -> str:
    symbol = operand.symbol + (f"_{name.removeprefix(operand.name)}" if operand.variadic else "")
    return symbol if operand.form == "scalar" else f"{symbol}[i]"


def _attribute(name: str) -> str:
    return rf"\{name}" if name in _GREEK else rf"\text{{{name.replace('_', ' ')}}}"


def made_formula(made: Made, output: str, symbols: Mapping[str, str]) -> str:
    """What an element of a result of tensors is, for the shapes that it was traced with."""
    at = ", ".join(_index_name(each.data) for each in made.indices)
    return f"{output}[{at}] = {latex(made.term, symbols)}"


def latex(term: Term, symbols: Mapping[str, str]) -> str:
    """A term; values and operands that are read are called by their symbols."""
    return _Formula(symbols).text(term)


@dataclass(frozen=True)
class _Formula:
    symbols: Mapping[str, str]

    def text(self, term: Term, tightness: int = _CHOICE) -> str:
        """A term's text, in brackets where it holds less tightly than its place asks for."""
        text, own = self.word(term)
        return rf"\left({text}\right)" if own < tightness else text

    def word(self, term: Term) -> Text:
        """A term's text, and how tightly it holds together."""
        method: Callable[[Term], Text] | None = getattr(self, f"word_{term.word}", None)
        if method is None:
            raise DefinitionError(f"no formula has a word for `{term.word}`")
        return method(term)

    # Names and numbers

    def word_value(self, term: Term) -> Text:
        """An operand's element."""
        symbol = self.symbols[term.data]
        return (rf"{symbol} \text{{ is true}}", _SUM) if term.sort is Sort.TRUTH else (symbol, _ATOM)

    def word_literal(self, term: Term) -> Text:
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

    def word_lowest(self, _term: Term) -> Text:
        """The least element of the type."""
        return r"\text{lowest}", _ATOM

    def word_carried(self, term: Term) -> Text:
        """What a fold has come to."""
        return term.data, _ATOM

    def word_index(self, term: Term) -> Text:
        """An index."""
        return _index_name(term.data), _ATOM

    def word_whole(self, term: Term) -> Text:
        """A known index."""
        return str(term.data), _SUM if term.data < 0 else _ATOM

    def word_read(self, term: Term) -> Text:
        """An element at indices."""
        return f"{self.symbols[term.data]}[{', '.join(map(self.text, term.arguments))}]", _ATOM

    def word_read_flat(self, term: Term) -> Text:
        """An element at a place in C order."""
        return rf"{self.symbols[term.data]}_{{\text{{flat}}}}[{self.text(term.arguments[0])}]", _ATOM

    # Arithmetic

    def word_add(self, term: Term) -> Text:
        """Sums."""
        a, b = term.arguments
        return f"{self.text(a, _SUM)} + {self.text(b, _PRODUCT)}", _SUM

    def word_subtract(self, term: Term) -> Text:
        """Differences."""
        a, b = term.arguments
        return f"{self.text(a, _SUM)} - {self.text(b, _PRODUCT)}", _SUM

    def word_multiply(self, term: Term) -> Text:
        """Products."""
        return r" \cdot ".join(self.text(each, _PRODUCT) for each in term.arguments), _PRODUCT

    def word_plus_product(self, term: Term) -> Text:
        """A sum with a product."""
        total, a, b = term.arguments
        factors = r" \cdot ".join(self.text(each, _PRODUCT) for each in (a, b))
        return f"{self.text(total, _SUM)} + {factors}", _SUM

    def word_divide(self, term: Term) -> Text:
        """Quotients."""
        return rf"\frac{{{self.text(term.arguments[0])}}}{{{self.text(term.arguments[1])}}}", _ATOM

    def word_truncated(self, term: Term) -> Text:
        """Quotients rounded towards zero."""
        return rf"\text{{truncated}}\left({self.word_divide(term)[0]}\right)", _ATOM

    def word_floor(self, term: Term) -> Text:
        """Quotients rounded down."""
        return rf"\left\lfloor {self.word_divide(term)[0]} \right\rfloor", _ATOM

    def word_remainder(self, term: Term) -> Text:
        """Remainders."""
        a, b = term.arguments
        return rf"{self.text(a, _ATOM)} \bmod {self.text(b, _ATOM)}", _PRODUCT

    def word_negate(self, term: Term) -> Text:
        """The other sign."""
        return f"-{self.text(term.arguments[0], _PRODUCT)}", _SUM

    def word_absolute(self, term: Term) -> Text:
        """No sign."""
        return rf"\left|{self.text(term.arguments[0])}\right|", _ATOM

    def word_root(self, term: Term) -> Text:
        """Square roots."""
        return rf"\sqrt{{{self.text(term.arguments[0])}}}", _ATOM

    def word_converted(self, term: Term) -> Text:
        """An element of another type."""
        return rf"\text{{converted}}({self.text(term.arguments[0])})", _ATOM

    def word_wide(self, term: Term) -> Text:
        """In which type is calculated, formulas do not say."""
        return self.word(term.arguments[0])

    word_narrow = word_stated = word_wide

    def word_named(self, term: Term) -> Text:
        """A word by its symbol."""
        return f"{term.data.symbol}({', '.join(map(self.text, term.arguments))})", _ATOM

    # Choices and conditions

    def word_select(self, term: Term) -> Text:
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

    def word_less(self, term: Term) -> Text:
        """Whether a < b."""
        return self.compared("<", term)

    def word_less_equal(self, term: Term) -> Text:
        """Whether a ≤ b."""
        return self.compared(r"\le", term)

    def word_equal(self, term: Term) -> Text:
        """Whether a = b."""
        return self.compared("=", term)

    def word_is_nan(self, term: Term) -> Text:
        """Whether it is a NaN."""
        return rf"{self.text(term.arguments[0], _SUM)} \text{{ is NaN}}", _SUM

    def word_is_minus_zero(self, term: Term) -> Text:
        """Whether it is -0."""
        return rf"{self.text(term.arguments[0], _SUM)} \text{{ is }} -0", _SUM

    def word_both(self, term: Term) -> Text:
        """Both."""
        return r" \text{ and } ".join(self.text(each, _SUM) for each in term.arguments), _SUM

    def word_either(self, term: Term) -> Text:
        """One or both."""
        return r" \text{ or } ".join(self.text(each) for each in term.arguments), _CHOICE

    def word_opposite(self, term: Term) -> Text:
        """Not so."""
        return rf"\text{{not }} {self.text(term.arguments[0], _ATOM)}", _SUM

    # Folds

    def word_fold(self, term: Term) -> Text:
        """A sum or a repeated named word where the step is one; else the step, again and again."""
        sizes, running, names = term.data
        start, step = term.arguments
        while step.word == "stated":
            (step,) = step.arguments
        below = ", ".join(
            rf"0 \le {_index_name(name)} < {size}" for name, size in zip(names, sizes, strict=True)
        )
        first, *rest = step.arguments or (step,)
        if first.word == "carried" and first.data == running and prod(sizes):
            if step.word in ("add", "plus_product"):
                factors = r" \cdot ".join(self.text(each, _PRODUCT) for each in rest)
                total = rf"\sum_{{{below}}} {factors}"
                zero = start.word == "literal" and start.data == 0
                return (total if zero else f"{self.text(start, _SUM)} + {total}"), _SUM
            if step.word == "named":
                words = ", ".join(self.text(each, _PRODUCT) for each in rest)
                return rf"{step.data.symbol}_{{{below}}} {words}", _SUM
        return (
            rf"{running} \text{{ from }} {self.text(start)} \text{{ by }} {running} \leftarrow "
            rf"{self.text(step)} \text{{ for }} {below}",
            _CHOICE,
        )


def _index_name(name: str) -> str:
    """i0 with its number below."""
    letters = name.rstrip("0123456789")
    digits = name[len(letters) :]
    return f"{letters}_{{{digits}}}" if digits else name
