"""Definitions of elements for Why3: one module over any type, cloned for reals, integers and floats.

What a definition asks of its type becomes an operation that a module names and a clone gives; what a clone
has nothing for stays unknown. An operator's laws use these modules and define nothing themselves.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from types import MappingProxyType

from sonnx.derive.literals import literal
from sonnx.derive.symbols import symbolic
from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.terms.tensors import Given
from sonnx.terms.term import DefinitionError, Sort, Term
from sonnx.terms.tracing import Definition, Element, trace
from sonnx.terms.walking import parts
from sonnx.terms.words import Clause, Named
from sonnx.vocabulary.operator import Operator

# Operations on elements that a definition may ask for, with the number of their arguments.
FUNCTIONS = {
    "add": 2,
    "subtract": 2,
    "multiply": 2,
    "divide": 2,
    "truncated": 2,
    "left_over": 2,
    "rounded_down": 1,
    "bits_and": 2,
    "bits_or": 2,
    "bits_xor": 2,
    "bits_not": 1,
    "shifted_left": 2,
    "shifted_right": 2,
    "negate": 1,
    "absolute": 1,
    "root": 1,
    "wide": 1,
    "narrow": 1,
    "converted": 1,
    "plus_product": 3,
}
# What they are called where an operator has the word's own name.
_CALLED = {"add": "plus", "subtract": "minus", "multiply": "times", "divide": "over"}
PREDICATES = {"less": 2, "less_equal": 2, "equal": 2, "is_nan": 1, "is_minus_zero": 1}
_KEYWORDS = frozenset(("at", "axiom", "by", "end", "fun", "goal", "in", "match", "so", "type", "val", "with"))
# How many operands the laws of element-wise operators are written for.
_WIDEST = 100
_FAMILIES = {1: "Unary", 2: "Binary", 3: "Ternary"}


def theories(operators: Iterable[Operator]) -> dict[str, str]:
    """The modules of all operators that have some, by the path beside their laws."""
    found = {
        f"{each.contract.domain or 'onnx'}/{each.folder}/definition.mlw": theory(each) for each in operators
    }
    return {file: text for file, text in found.items() if text is not None}


def theory(operator: Operator) -> str | None:
    """The modules of an operator's definition; None where it is not defined element by element.

    They are called as the operator is, then as it is with Real, Int, Float (of any format), Float32 and
    Float64 added, as far as its contract has such types.
    """
    found = written(operator)
    if found is None:
        return None
    types = {dtype for operand in operator.contract.inputs for dtype in operand.types}
    return _modules(found, types)


def written(operator: Operator) -> "Written | None":
    """How an operator's definition is written for Why3; None where it is not defined element by element."""
    found = symbolic(operator)
    return None if found is None else Written(operator.folder, found.operands, found.element)


def modules(name: str, operands: Mapping[str, Sort], definition: Definition, types: set[DType]) -> str:
    """The same for a definition by itself; a name such as `hard_sigmoid` makes `HardSigmoid`."""
    given = {each: Given(each, (), sort) for each, sort in operands.items()}
    element = trace(definition, given, {}).element
    if element is None:
        raise DefinitionError("only definitions of elements are written for Why3")
    return _modules(Written(name, operands, element), types)


def _modules(text: "Written", types: set[DType]) -> str:
    texts = [text.module()]
    texts += [text.clone(domain) for domain in DOMAINS if domain.types & types and text.suits(domain)]
    return "\n\n".join(texts) + "\n"


@dataclass(frozen=True)
class Domain:
    """A type of elements: which operators have it, what its module uses, and what it gives for words."""

    suffix: str
    element: str
    types: frozenset[DType]
    uses: tuple[str, ...]
    lines: tuple[str, ...]
    given: Mapping[str, str]
    # The type to which literals are rounded; None where a format is open, so that only some are known.
    rounded: DType | None
    libraries: Mapping[str, str] = field(default_factory=dict)

    def literal(self, term: Term) -> str | None:
        """A literal as Why3 writes it; None where the domain has no word for it."""
        value = "-inf" if term.word == "lowest" else term.data
        if not isinstance(value, Fraction):
            known = {"-inf": "minus_infinity", "inf": "plus_infinity"}
            return known.get(value) if self.element == "t" else None
        if self.element == "real":
            over = f" /. {value.denominator}.0" if value.denominator > 1 else ""
            quotient = f"{abs(value.numerator)}.0{over}"
            return f"-. ({quotient})" if value < 0 else quotient
        if self.element == "int":
            return str(value.numerator) if value.denominator == 1 else None
        if self.rounded is None:
            return "plus_zero" if value == 0 else None
        number = literal(term, self.rounded).item()
        return "zeroF" if number == 0 else f"{'.- ' * (number < 0)}({abs(number).hex()}: t)"


def _same(element: str) -> str:
    return f"predicate equal (x y: {element}) = x = y"


_NEVER = "predicate never (_x: {}) = false"
_FLOAT = {"less": "(.<)", "less_equal": "(.<=)", "equal": "(.=)", "is_nan": "is_nan"}
_IEEE_CALCULATION = {
    "plus": "(.+)",
    "minus": "(.-)",
    "times": "( .* )",
    "over": "(./)",
    "negate": "(.-_)",
    "absolute": "abs",
}
DOMAINS = (
    Domain(
        "Real",
        "real",
        frozenset((DType.REAL,)),
        ("real.RealInfix",),
        (
            _NEVER.format("real"),
            _same("real"),
            "function negate (x: real) : real = -. x",
            "function rounded_down (x: real) : real = from_int (floor x)",
            "function left_over (x y: real) : real = x -. y *. from_int (truncate (x /. y))",
        ),
        MappingProxyType(
            {
                "less": "(<.)",
                "less_equal": "(<=.)",
                "equal": "equal",
                "is_nan": "never",
                "is_minus_zero": "never",
                "plus": "(+.)",
                "minus": "(-.)",
                "times": "( *. )",
                "over": "(/.)",
                "negate": "negate",
                "absolute": "abs",
                "root": "sqrt",
                "rounded_down": "rounded_down",
                "left_over": "left_over",
            }
        ),
        DType.REAL,
        MappingProxyType(
            {
                "absolute": "real.Abs",
                "root": "real.Square",
                **dict.fromkeys(("rounded_down", "left_over"), "real.FromInt real.Truncate"),
            }
        ),
    ),
    Domain(
        "Int",
        "int",
        frozenset(INTEGERS),
        ("int.Int",),
        (_NEVER.format("int"), _same("int"), "function negate (x: int) : int = - x"),
        MappingProxyType(
            {
                "less": "(<)",
                "less_equal": "(<=)",
                "equal": "equal",
                "is_nan": "never",
                "is_minus_zero": "never",
                "plus": "(+)",
                "minus": "(-)",
                "times": "( * )",
                "truncated": "div",
                "negate": "negate",
                "absolute": "abs",
            }
        ),
        DType.INT64,
        MappingProxyType({"absolute": "int.Abs", "truncated": "int.ComputerDivision"}),
    ),
    Domain(
        "Float",
        "t",
        frozenset(IEEE),
        ("shared.floats.Float",),
        ("predicate is_minus_zero (x: t) = is_zero x /\\ not (positive x)",),
        MappingProxyType(
            {
                "less": "lt",
                "less_equal": "le",
                "equal": "eq",
                "is_nan": "is_nan",
                "is_minus_zero": "is_minus_zero",
            }
        ),
        None,
    ),
    *(
        Domain(
            f"Float{bits}",
            "t",
            frozenset((dtype,)),
            (f"ieee_float.Float{bits}", f"shared.floats.{infinity}"),
            ("predicate is_minus_zero (x: t) = is_zero x /\\ is_negative x",),
            MappingProxyType({**_FLOAT, **_IEEE_CALCULATION, "is_minus_zero": "is_minus_zero"}),
            dtype,
        )
        for bits, dtype, infinity in (
            (32, DType.FLOAT, "InfinityFloat"),
            (64, DType.DOUBLE, "InfinityDouble"),
        )
    ),
)


def called(word: str) -> str:
    """What an operation is called."""
    return _CALLED.get(word, word)


def literal_name(term: Term) -> str:
    """What a literal is called."""
    if term.word == "lowest":
        return "lowest"
    value = term.data
    if not isinstance(value, Fraction):
        return {"inf": "plus_infinity", "-inf": "minus_infinity", "nan": "a_nan"}[value]
    known = {0: "zero", 1: "one", 2: "two"}
    sign, size = ("minus_" if value < 0 else ""), abs(value)
    if size in known:
        return sign + known[int(size)]
    over = f"_over_{size.denominator}" if size.denominator > 1 else ""
    return f"{sign}number_{size.numerator}{over}"


def variable(name: str) -> str:
    """An operand's name as Why3 takes it: names of variables begin with a small letter."""
    small = name[0].lower() + name[1:]
    return f"{small}_" if small in _KEYWORDS else small


class Written:
    """A definition's text; `functions_asked` and `predicates` are what it asks of its type."""

    def __init__(self, name: str, operands: Mapping[str, Sort], element: Element) -> None:
        """Find what there is to write."""
        # A truth is made as a byte, by a function that is not called as the predicate which it asks.
        self.makes = element.term.sort
        self.name = f"{name.removesuffix('_')}_flag" if self.makes is Sort.TRUTH else name
        self.title = "".join(part.capitalize() for part in name.split("_"))
        self.operands = operands
        self.functions = {self.name: element.term}
        if element.executed is not element.term:
            self.functions[f"{self.name}_executed"] = element.executed
        self.named = _named(self.functions.values())
        bodies = [*self.functions.values(), *(each.body for each in self.named)]
        found = {term: None for body in bodies for term in parts(body)}
        self.functions_asked = {called(t.word): FUNCTIONS[t.word] for t in found if t.word in FUNCTIONS}
        self.predicates = {t.word: PREDICATES[t.word] for t in found if t.word in PREDICATES}
        self.literals = {literal_name(t): t for t in found if t.word in ("literal", "lowest")}

    def module(self) -> str:
        """The definition over any type."""
        sorts = (self.makes, *self.operands.values())
        lines = ["use shared.elementwise.Flag", ""] if Sort.TRUTH in sorts else []
        lines += ["type t"]
        lines += [
            f"predicate {name} {' '.join('t' * count)}" for name, count in sorted(self.predicates.items())
        ]
        asked = sorted(self.functions_asked.items())
        lines += [f"function {name} {' '.join('t' * count)} : t" for name, count in asked]
        lines += [f"constant {name}: t" for name in sorted(self.literals)]
        for each in self.named:
            lines += ["", *self._function(each.name, dict.fromkeys(each.parameters, Sort.NUMBER), each.body)]
        for name, term in self.functions.items():
            lines += ["", *self._function(name, self.operands, term)]
        lines += self._family()
        return module(self.title, lines)

    def suits(self, domain: Domain) -> bool:
        """Whether a domain knows every operation; where nothing is asked of a type, none needs a clone."""
        asked = self.functions_asked.keys() | self.predicates.keys()
        return self.asks and asked <= domain.given.keys()

    @property
    def asks(self) -> bool:
        """Whether anything is asked of the type; where nothing is, elements are chosen and moved alone."""
        return bool(self.functions_asked or self.predicates or self.literals)

    def clone(self, domain: Domain) -> str:
        """The definition on a type."""
        asked = {
            **dict.fromkeys(self.predicates, "predicate"),
            **dict.fromkeys(self.functions_asked, "function"),
        }
        given = [f"type t = {domain.element}"]
        given += [f"{kind} {name} = {domain.given[name]}" for name, kind in sorted(asked.items())]
        libraries = (used for name in sorted(asked) for used in domain.libraries.get(name, "").split())
        lines = [f"use {used}" for used in (*domain.uses, *libraries)]
        used = {domain.given[name] for name in asked}
        lines += ["", *(line for line in domain.lines if line.split()[1] in used)]
        for name, term in sorted(self.literals.items()):
            text = domain.literal(term)
            if text is None:
                continue
            if text != name:
                lines.append(f"constant {name}: {domain.element} = {text}")
            given.append(f"constant {name} = {name}")
        lines += [""] * bool(lines[-1]) + [f"clone export {self.title} with", *_listed(given)]
        return module(self.title + domain.suffix, lines)

    def _family(self) -> list[str]:
        count = len(self.operands)
        if count not in _FAMILIES:
            return []
        types = (
            f"type {a} = {self._type(sort)}" for a, sort in zip("abc", self.operands.values(), strict=False)
        )
        given = [*types, f"type made = {self._type(self.makes)}", f"function f = {self.name}"]
        return ["", f"clone export shared.elementwise.{_FAMILIES[count]} with", *_listed(given)]

    def _type(self, sort: Sort) -> str:
        return "flag" if sort is Sort.TRUTH else "t"

    def _function(self, name: str, operands: Mapping[str, Sort], term: Term) -> Iterator[str]:
        runs = groupby(operands.items(), lambda each: each[1])
        taken = (f"({' '.join(variable(each) for each, _ in run)}: {self._type(sort)})" for sort, run in runs)
        yield f"function {name} {' '.join(taken)} : {self._type(term.sort)} ="
        yield from (f"  {line}" for line in _chain(term))


def _named(terms: Iterable[Term]) -> list[Named]:
    """Named words, those before others that are used by them."""
    found: dict[Named, None] = {}

    def visit(term: Term) -> None:
        for each in parts(term):
            if each.word == "named" and each.data not in found:
                visit(each.data.body)
                found[each.data] = None

    for term in terms:
        visit(term)
    return list(found)


def _listed(given: Sequence[str]) -> list[str]:
    """What a clone is given, some on a line."""
    lines = ["  "]
    for each in given:
        if len(lines[-1]) + len(each) > _WIDEST:
            lines.append("  ")
        lines[-1] += f"{each}, "
    lines[-1] = lines[-1].removesuffix(", ")
    return [line.rstrip() for line in lines]


def module(name: str, lines: Sequence[str]) -> str:
    """The text of a module."""
    body = "\n".join(f"  {line}" if line else "" for line in lines)
    return f"module {name}\n{body}\nend"


def _chain(term: Term) -> Iterator[str]:
    """Cases line by line, each after the ruling that decides it."""
    before = ""
    while term.word == "select":
        condition, chosen, otherwise = term.arguments
        clause, after = term.data or (None, None)
        yield from _comment(clause)
        yield f"{before}if {expression(condition)} then {expression(chosen)}"
        before = "else "
        if otherwise.word != "select":
            yield from _comment(after)
        term = otherwise
    if term.word == "stated":
        yield from _comment(term.data)
    text = expression(term)
    yield before + (f"if {text} then 1 else 0" if term.sort is Sort.TRUTH else text)


def _comment(clause: Clause | None) -> Iterator[str]:
    if clause is not None:
        yield f"(* {clause.ruling}: {clause.every} *)"


def expression(term: Term, bound: int = 0) -> str:
    """A term on one line; `bound` is 1 where it stands beside `/\\`, 2 where it is an argument."""
    text, loose = _loose(term)
    return f"({text})" if loose and bound >= loose else text


def _loose(term: Term) -> tuple[str, int]:
    """A term's text, and from which binding on it needs brackets; 0 where it never does."""
    if term.word not in _WORDS:
        raise DefinitionError(f"`{term.word}` is no word for elements that Why3 is told of")
    return _WORDS[term.word](term)


def _value(term: Term) -> tuple[str, int]:
    name = variable(term.data)
    return (f"holds {name}", 2) if term.sort is Sort.TRUTH else (name, 0)


def _literal(term: Term) -> tuple[str, int]:
    return literal_name(term), 0


def _decided(term: Term) -> tuple[str, int]:
    return str(term.data).lower(), 0


def _stated(term: Term) -> tuple[str, int]:
    return _loose(term.arguments[0])


def _select(term: Term) -> tuple[str, int]:
    condition, chosen, otherwise = map(expression, term.arguments)
    return f"if {condition} then {chosen} else {otherwise}", 1


def _both(term: Term) -> tuple[str, int]:
    return " /\\ ".join(expression(each, 1) for each in term.arguments), 1


def _either(term: Term) -> tuple[str, int]:
    return " \\/ ".join(expression(each, 1) for each in term.arguments), 1


def _opposite(term: Term) -> tuple[str, int]:
    return f"not {expression(term.arguments[0], 2)}", 2


def _function(term: Term) -> tuple[str, int]:
    return _applied(term.data.name, term.arguments), 2


def _operation(term: Term) -> tuple[str, int]:
    """What is asked of the type of elements."""
    return _applied(called(term.word), term.arguments), 2


def _applied(name: str, arguments: Sequence[Term]) -> str:
    return " ".join([name, *(expression(each, 2) for each in arguments)])


_WORDS: Mapping[str, Callable[[Term], tuple[str, int]]] = {
    "value": _value,
    "literal": _literal,
    "lowest": _literal,
    "decided": _decided,
    "stated": _stated,
    "select": _select,
    "both": _both,
    "either": _either,
    "opposite": _opposite,
    "named": _function,
    **dict.fromkeys((*FUNCTIONS, *PREDICATES), _operation),
}
