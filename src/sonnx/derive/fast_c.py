"""Kernels that follow from definitions: loops in C that make a result at the speed of memory.

What is element-wise becomes a loop over parts that stay in registers; a move becomes boxes, which one kernel
copies. Everything else has no kernel here: its definition executes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import prod

from sonnx.derive.boxes import boxes
from sonnx.derive.c_conversions import conversion
from sonnx.derive.c_elements import statements
from sonnx.derive.c_numbers import NoWordError, Statements
from sonnx.derive.fast_boxes import box_call
from sonnx.derive.pieces import PROTOTYPE, Pieces, element_bytes, variant
from sonnx.derive.tracing import element_type, traced
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.terms.tensors import Made
from sonnx.terms.term import Sort
from sonnx.terms.tracing import Element, Trace
from sonnx.vocabulary.kernel import KernelCall, KernelRequest, NodeKernels
from sonnx.vocabulary.operator import Operator, operand_names


def kernels(operator: Operator, request: KernelRequest) -> NodeKernels | None:
    """The calls that execute a node; None where its definition does."""
    if operator.kernels is not None:
        return operator.kernels(request)
    unknown = operator.contract.settled - request.constants.keys()
    tensors = (*request.inputs.values(), *request.outputs.values())
    outside = any(element_bytes(request.types[name].dtype) is None for name in tensors)
    if operator.definition is None or unknown or outside:
        return None
    types = {operand: request.types[name] for operand, name in request.inputs.items()}
    trace = traced(operator, types, request.attributes, request.constants)
    # A node may leave outputs unnamed; nobody asks for their elements.
    names = operand_names(operator.contract.outputs, len(trace.made))
    wanted = [
        (made, request.outputs[name])
        for made, name in zip(trace.made, names, strict=True)
        if name in request.outputs
    ]
    if trace.element is not None:
        kind = element_type(operator, types)
        calls = [
            _element_by_element(operator, request, trace, trace.element, kind, output) for _, output in wanted
        ]
    else:
        calls = [_moved(request, trace, made, output) for made, output in wanted]
    found = tuple(call for call in calls if call is not None)
    return NodeKernels(found) if len(found) == len(calls) else None


def _moved(request: KernelRequest, trace: Trace, made: Made, output: str) -> KernelCall | None:
    # A truth is normalized when it is read: it is more than moved.
    cut = boxes(made) if made.term.sort is Sort.NUMBER else None
    return None if cut is None else box_call(request, output, request.inputs, trace.operands, cut)


@dataclass(frozen=True)
class _Operand:
    """An operand of an element-wise kernel: its names in the definition and in C, and its type there."""

    name: str
    number: int
    c_type: str
    # Words in memory that make one element.
    words: str
    scalar: bool
    truth: bool

    @property
    def parameter(self) -> str:
        """How the loop takes it: a scalar that is one word by its value, all else where it lies."""
        if self.by_value:
            return f"{self.c_type} {self.name}"
        return f"const {self.c_type} *restrict from_{self.name}"

    @property
    def by_value(self) -> bool:
        """Whether it is read once before all elements."""
        return self.scalar and not self.words

    @property
    def read(self) -> str:
        """The statement that finds it among the operands of a task."""
        there = f"(const {self.c_type} *)operands[{self.number}]"
        if self.by_value:
            return f"    const {self.c_type} {self.name} = *{there};"
        begin = "" if self.scalar else f" + begin{self.words}"
        return f"    const {self.c_type} *from_{self.name} = {there}{begin};"

    def at(self, done: str) -> str:
        """The argument for elements from `done` on."""
        if self.scalar:
            return self.name if self.by_value else f"from_{self.name}"
        return f"from_{self.name}" if done == "0" else f"from_{self.name} + {done}{self.words}"


def _element_by_element(
    operator: Operator, request: KernelRequest, trace: Trace, element: Element, kind: DType, output: str
) -> KernelCall | None:
    made = request.types[output].dtype
    assert made is not None  # elements are bits in memory
    # What serves all elements is read once; where there is but one, nothing is gained by that.
    several = bool(request.types[output].shape)
    scalars = [name for name in element.names if several and not trace.operands[name].rank]
    try:
        body = conversion(element.executed, kind, made) or statements(element.executed, kind, made, scalars)
    except NoWordError:
        return None
    if len(body.names) < len(element.names):  # a loop reads every operand
        return None
    operands = [
        _Operand(
            body.names[name],
            number,
            body.type_of(trace.operands[name].sort),
            " * WORDS" if body.words > 1 and trace.operands[name].sort is Sort.NUMBER else "",
            name in scalars,
            trace.operands[name].sort is Sort.TRUTH,
        )
        for number, name in enumerate(element.names)
    ]
    function = operator.identifier.replace(".", "_")
    text = _text(operator, body, operands, function)
    name = _variant(operator, request, body.name, scalars, text)
    elements = prod(request.types[output].sizes or ())
    reads = tuple(request.inputs[name] for name in element.names)
    pieces = Pieces(
        source=f"derived/{function}.c",
        function=function,
        variant=variant(request, name, TYPE=body.element, WORDS=str(body.words)),
        elements=elements,
        element_bytes=numpy_dtype(made).itemsize,
        read_bytes=elements * sum(_bytes(request, name) for name in reads if request.types[name].sizes),
        text=text,
    )
    return pieces.call(reads, output)


def _bytes(request: KernelRequest, tensor: str) -> int:
    return element_bytes(request.types[tensor].dtype) or 0


def _variant(operator: Operator, request: KernelRequest, name: str, scalars: Sequence[str], text: str) -> str:
    """A name that no other text of the same operator has: operands and attributes may change it."""
    changes = any(operand.variadic or operand.optional for operand in operator.contract.inputs)
    digest = [sha256(text.encode()).hexdigest()[:8]] if changes or request.attributes else []
    return "_".join([name, *scalars, *digest])


def _text(operator: Operator, body: Statements, operands: Sequence[_Operand], function: str) -> str:
    parameters = ",\n                 ".join(each.parameter for each in operands)
    names = ", ".join([*(each.name for each in operands), "output"])
    asks = [
        f"            stream_ask(from_{each.name} + done{each.words}, "
        f"PART{each.words} * (int64_t)sizeof *from_{each.name});"
        for each in operands
        if not each.scalar and not each.truth
    ]
    times = " * WORDS" if body.words > 1 else ""

    def some(to: str, done: str, count: str) -> str:
        return f"some({', '.join([to, count, *(each.at(done) for each in operands)])});"

    lines = [
        f"/* {operator.name} on elements of {body.name}, from its definition: operands are {names}. */",
        *body.includes,
        "",
        f"INLINE void some(element *restrict to, int64_t count,\n                 {parameters})",
        "{",
        "    for (int64_t i = 0; i < count; i++) {",
        *body.lines,
        "    }",
        "}",
        "",
        f"{PROTOTYPE.format(function)};",
        "",
        PROTOTYPE.format(function),
        "{",
        "    const int64_t begin = task_begin(p, task), count = task_count(p, task);",
        *(each.read for each in operands),
        f"    element *to = (element *)operands[{len(operands)}] + begin{times};",
        "    int64_t done = 0;",
        "    (void)rank;",
        "    if (p->streamed) {",
        f"        element part[PART{times}] __attribute__((aligned(PART_BYTES)));",
        f"        done = stream_head(to, {'WORDS * ' if times else ''}(int64_t)sizeof *to, count);",
        f"        {some('to', '0', 'done')}",
        "        for (; count - done >= PART; done += PART) {",
        *asks,
        f"            {some('part', 'done', 'PART')}",
        f"            stream(to + done{times}, part, (int64_t)sizeof part);",
        "        }",
        "        stream_end();",
        "    }",
        f"    {some(f'to + done{times}', 'done', 'count - done')}",
        "}",
    ]
    return "\n".join(lines) + "\n"
