"""Kernels that look for elements outside an operator's domain, before it makes anything (D-ALL-11)."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from sonnx.derive.c_elements import statements
from sonnx.derive.c_numbers import NoWordError, Statements
from sonnx.derive.domains import inside
from sonnx.derive.pieces import PROTOTYPE, Pieces, variant
from sonnx.derive.tracing import element_type, traced
from sonnx.model.dtype import DType
from sonnx.terms.term import Sort, Term
from sonnx.terms.walking import parts
from sonnx.vocabulary.kernel import KernelCall, KernelRequest
from sonnx.vocabulary.operator import Operator

# Each task writes one number of this type: the first element outside, counted in C order, or -1.
FOUND = DType.INT64


class NoScanError(Exception):
    """An operator has a domain, and there is no kernel that looks whether elements lie inside."""


@dataclass(frozen=True)
class Guarded:
    """What is asked of a node's elements before its kernels may see them.

    `operands` are all whose elements an error shows, `asked` those on which the domain hangs.
    """

    operands: tuple[str, ...]
    asked: Mapping[str, Sort]
    term: Term
    kind: DType


def guarded(operator: Operator, request: KernelRequest) -> Guarded | None:
    """The domain of a node's operator at its type; None where the operator is defined everywhere."""
    if operator.definition is None or operator.definition.domain is None:
        return None
    types = {operand: request.types[name] for operand, name in request.inputs.items()}
    element = traced(operator, types, request.attributes, request.constants).element
    kind = element_type(operator, types)
    term = inside(operator, element, kind)
    if element is None or term is None:
        return None
    sorts = {each.data: each.sort for each in parts(term) if each.word == "value"}
    return Guarded(element.names, {name: sorts[name] for name in element.names if name in sorts}, term, kind)


def scan(operator: Operator, request: KernelRequest, guard: Guarded, found: str) -> KernelCall:
    """The call that fills `found`; raises NoScanError where there is no kernel for it."""
    (output,) = request.outputs.values()
    shape = request.types[output].sizes or ()
    tensors = {name: request.types[request.inputs[name]] for name in guard.asked}
    scalars = [name for name in guard.asked if shape and not tensors[name].sizes]
    try:
        body = statements(guard.term, guard.kind, DType.BOOL, scalars)
    except NoWordError as error:
        raise NoScanError(str(error)) from error
    function = f"{operator.identifier.replace('.', '_')}_outside"
    call = Pieces(
        source=f"derived/{function}.c",
        function=function,
        variant=variant(request, "_".join([body.name, *scalars]), TYPE=body.element, WORDS=str(body.words)),
        elements=prod(shape),
        element_bytes=1,
        read_bytes=0,
        text=_text(operator, body, guard, scalars, function),
    )
    return call.call(tuple(request.inputs[name] for name in guard.asked), found)


def _text(operator: Operator, body: Statements, guard: Guarded, scalars: list[str], function: str) -> str:
    names = {name: body.names[name] for name in guard.asked}
    types = {name: body.type_of(sort) for name, sort in guard.asked.items()}
    parameters = [
        f"{types[name]} {called}" if name in scalars else f"const {types[name]} *restrict from_{called}"
        for name, called in names.items()
    ]
    reads = [
        f"    const {types[name]} {called} = *(const {types[name]} *)operands[{number}];"
        if name in scalars
        else f"    const {types[name]} *from_{called} = (const {types[name]} *)operands[{number}] + begin;"
        for number, (name, called) in enumerate(names.items())
    ]
    given = ", ".join(
        called if name in scalars else f"from_{called} + done" for name, called in names.items()
    )
    prototype = PROTOTYPE.format(function)
    lines = [
        f"/* Where {operator.name} is not defined for elements of {body.name}, from its domain: operands are "
        f"{', '.join(names.values())}, found. */",
        *body.includes,
        "",
        f"INLINE void some(element *restrict to, int64_t count, {', '.join(parameters)})",
        "{",
        "    for (int64_t i = 0; i < count; i++) {",
        *body.lines,
        "    }",
        "}",
        "",
        f"{prototype};",
        "",
        prototype,
        "{",
        "    const int64_t begin = task_begin(p, task), count = task_count(p, task);",
        *reads,
        f"    int64_t *found = (int64_t *)operands[{len(names)}] + task;",
        "    element part[PART];",
        "    (void)rank;",
        "    *found = -1;",
        "    for (int64_t done = 0; done < count; done += PART) {",
        "        const int64_t here = count - done < PART ? count - done : PART;",
        "        element all = 1;",
        f"        some(part, here, {given});",
        "        for (int64_t i = 0; i < here; i++) {",
        "            all &= part[i];",
        "        }",
        "        for (int64_t i = 0; !all && i < here; i++) {",
        "            if (!part[i]) {",
        "                *found = begin + done + i;",
        "                return;",
        "            }",
        "        }",
        "    }",
        "}",
    ]
    return "\n".join(lines) + "\n"
