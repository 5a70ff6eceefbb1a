"""Plain C that looks for elements for which a node's operator is not defined (D-ALL-11)."""

from collections.abc import Callable
from dataclasses import dataclass

from sonnx.derive.domains import domain_of, inside
from sonnx.derive.plain_expressions import CWriter, LogicWriter
from sonnx.derive.plain_pieces import OR
from sonnx.derive.plain_statements import remark
from sonnx.derive.plain_terms import Setting
from sonnx.model.dtype import DType
from sonnx.terms.tracing import Element
from sonnx.terms.walking import parts
from sonnx.vocabulary.operator import Operator


@dataclass(frozen=True)
class Scan:
    """The function that answers 1 where an element lies outside a domain, and else 0.

    `name` is its name, `lines` its text after the predicate that it is about, and `required` is what holds
    of all elements where it answers 0, `outside` what holds of one where it answers 1.
    """

    name: str
    lines: tuple[str, ...]
    required: str
    outside: str


def scan(
    operator: Operator,
    element: Element,
    kind: DType,
    function: str,
    count: int,
    at: Callable[[str, str], str],
) -> Scan | None:
    """The scan of a node's operands; None where the operator is defined for all elements of the type.

    `at` writes the element of an operand at an index.
    """
    domain, term = domain_of(operator), inside(operator, element, kind)
    if domain is None or term is None:
        return None
    named = {each.data for each in parts(term) if each.word == "value"}
    asked = [name for name in element.names if name in named]
    predicate, setting = f"{function}_inside", Setting(kind, kind)
    parameters = ", ".join(f"{setting.logic_name(kind)} {name}" for name in asked)
    logical = LogicWriter(setting).truth(term).text

    def held(index: str) -> str:
        return f"{predicate}({', '.join(at(name, index) for name in asked)})"

    here = CWriter(Setting(kind, kind, called={name: at(name, "i") for name in asked}))
    every = f"\\forall integer k; 0 <= k < {count} ==> {held('k')}"
    some = f"\\exists integer k; 0 <= k < {count} && !{held('k')}"
    name = f"{function}_outside"
    lines = (
        *remark(f"{domain.ruling}: {operator.name} is defined where {domain.text}."),
        f"/*@ predicate {predicate}({parameters}) = {logical}; */",
        "/*@ assigns \\nothing;",
        "    ensures \\result == 0 || \\result == 1;",
        f"    ensures \\result == 0 ==> ({every});",
        f"    ensures \\result == 1 ==> ({some}); */",
        f"static int32_t {name}(void)",
        "{",
        f"    /*@ loop invariant 0 <= i <= {count};",
        f"        loop invariant \\forall integer k; 0 <= k < i ==> {held('k')};",
        "        loop assigns i;",
        f"        loop variant {count} - i; */",
        f"    for (int32_t i = 0; i < {count}; i++) {{",
        f"        if ({here.truth(~term).within(OR)}) {{",
        "            return 1;",
        "        }",
        "    }",
        "    return 0;",
        "}",
    )
    return Scan(name, lines, every, some)
