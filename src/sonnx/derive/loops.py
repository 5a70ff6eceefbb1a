"""Trees of element-wise nodes as one loop in C, and as what follows a sum at once.

Every node is a function of its elements, from its definition, so each operation rounds as it does alone;
between nodes elements stay in registers. What a tree takes is read where it lies: whole, as one element for
all, or as one for many (`views.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from math import prod

from sonnx.derive.c_conversions import conversion
from sonnx.derive.c_elements import answering, chooses
from sonnx.derive.c_numbers import C_TYPES, NoWordError, Statements
from sonnx.derive.domains import inside
from sonnx.derive.pieces import Pieces, element_bytes, variant, word_bytes
from sonnx.derive.tracing import element_type, traced
from sonnx.derive.views import Axis, View, merged, natural, read_at
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.terms.term import Term
from sonnx.terms.walking import without_names
from sonnx.vocabulary.kernel import KernelCall, KernelRequest
from sonnx.vocabulary.operator import Operator

_LONGEST_NAME = 40
_WIDTH = 110
_HEADER = '#include "shared/loops.h"'
_PIECES = '#include "shared/pieces.h"'


@dataclass(frozen=True)
class Part:
    """A node of a tree: its element, the type of which that speaks, the tensors that it takes and makes.

    Only operands that the element hangs on are listed.
    """

    operator: Operator
    term: Term
    kind: DType
    made: DType
    inputs: Mapping[str, str]
    output: str

    @property
    def chooses(self) -> bool:
        """Whether elements are only chosen, so that their bits are all that matters."""
        return chooses(without_names(self.term))

    def body(self, *, in_bits: bool) -> Statements:
        """The inside of its function."""
        return _body(self.term, self.kind, self.made, tuple(self.inputs), in_bits)


@lru_cache(1024)
def _body(term: Term, kind: DType, made: DType, names: tuple[str, ...], in_bits: bool) -> Statements:
    converted = conversion(term, kind, made, answers=True)
    return converted or answering(term, kind, made, names, in_bits=in_bits)


def part(operator: Operator, request: KernelRequest) -> Part | None:
    """A node as part of a tree; None where it is no function of elements in C, or not for all elements."""
    tensors = (*request.inputs.values(), *request.outputs.values())
    apart = operator.kernels is not None or operator.definition is None
    if apart or any(_words(request.types[name].dtype) != 1 for name in tensors) or len(request.outputs) != 1:
        return None
    types = {operand: request.types[name] for operand, name in request.inputs.items()}
    if operator.contract.settled - request.constants.keys():
        return None
    trace = traced(operator, types, request.attributes, request.constants)
    kind = element_type(operator, types)
    # What is not defined for every element stops a run (D-ALL-11), before anything is made of it.
    if trace.element is None or inside(operator, trace.element, kind) is not None:
        return None
    (output,) = request.outputs.values()
    made = request.types[output].dtype
    assert made is not None  # the graph conforms
    try:
        names = _body(trace.element.executed, kind, made, tuple(trace.element.names), True).names
        _body(trace.element.executed, kind, made, tuple(trace.element.names), False)
    except NoWordError:
        return None
    inputs = {name: request.inputs[name] for name in trace.element.names if name in names}
    return Part(operator, trace.element.executed, kind, made, inputs, output)


def _words(dtype: DType | None) -> int:
    """Words of memory that are one element; 0 where there are none."""
    size = element_bytes(dtype)
    return 0 if dtype is None or size is None else size // word_bytes(dtype)


@dataclass(frozen=True)
class Operand:
    """What a loop reads: its name and types in C; `strides` are those along the axes of the loop.

    A whole operand goes on with the result, and has no strides.
    """

    name: str
    tensor: str
    held: str
    pointed: str
    strides: tuple[int, ...] | None
    is_truth: bool

    @property
    def once(self) -> bool:
        """Whether one element serves a run."""
        return self.strides is not None and not self.strides[-1]

    @property
    def always(self) -> bool:
        """Whether one element serves all runs."""
        return self.strides is not None and not any(self.strides)

    @property
    def parameter(self) -> str:
        """How the innermost loop takes it."""
        return f"{self.held} {self.name}" if self.once else f"const {self.pointed} *restrict {self.name}"

    @property
    def element(self) -> str:
        """Its element in the innermost loop."""
        return self.name if self.once else f"{self.name}[i]"


@dataclass(frozen=True)
class Tree:
    """Parts in their order, the last of which makes the result, and the types and views of what they take.

    `sums` is a tensor that stands where the result is to be, element by element.
    """

    parts: tuple[Part, ...]
    types: Mapping[str, TensorType]
    views: Mapping[str, View]
    sums: str | None = None

    @property
    def output(self) -> str:
        """The tensor that it makes."""
        return self.parts[-1].output

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of the result."""
        return self.types[self.output].sizes or ()

    @property
    def in_bits(self) -> bool:
        """Whether elements are only chosen, all along."""
        return all(each.chooses for each in self.parts)

    @property
    def places(self) -> dict[str, View]:
        """Where each tensor is read that parts take and do not make."""
        made = {each.output for each in self.parts} | {self.sums}
        named = dict.fromkeys(name for each in self.parts for name in each.inputs.values())
        return {
            name: read_at(name, self.views, self.types, len(self.sizes)) for name in named if name not in made
        }

    @property
    def name(self) -> str:
        """What it is called: its operators, as far as a name may be long."""
        words = [each.operator.identifier.replace(".", "_") for each in self.parts]
        shown = [word for m, word in enumerate(words) if len("_".join(words[: m + 1])) <= _LONGEST_NAME]
        return "_".join(shown if len(shown) == len(words) else [*shown, "and_more"])

    def held(self, dtype: DType | None) -> str:
        """The type of elements in C."""
        assert dtype is not None  # elements are bits in memory
        bits = f"uint{8 * numpy_dtype(dtype).itemsize}_t"
        return bits if self.in_bits else C_TYPES.get(dtype, bits)

    def pointed(self, dtype: DType | None) -> str:
        """The same where it lies in memory as something else, maybe."""
        held = self.held(dtype)
        return f"word{held[4:-2]}" if held.startswith("uint") else held


@dataclass(frozen=True)
class Reading:
    """What a loop reads, the name in C of every tensor there, and axes, of which the last is a run."""

    operands: tuple[Operand, ...]
    names: Mapping[str, str]
    axes: tuple[Axis, ...]

    @property
    def apart(self) -> tuple[Operand, ...]:
        """Operands whose runs begin somewhere else than those of the result."""
        return tuple(each for each in self.operands if each.strides is not None and not each.always)


def reading(tree: Tree) -> Reading:
    """What the loop of a tree reads, each thing once."""
    places, whole = tree.places, natural(tree.types[tree.output])
    axes = merged(tree.sizes, [whole, *(each.strides for each in places.values())])
    found: dict[tuple[str, tuple[int, ...]], Operand] = {}
    names = {}
    for number, (name, place) in enumerate(places.items(), start=1):
        strides = tuple(axis.strides[number] for axis in axes)
        is_whole = all(axis.strides[0] == axis.strides[number] or axis.size == 1 for axis in axes)
        key = place.tensor, strides
        if key not in found:
            dtype = tree.types[name].dtype
            found[key] = Operand(
                f"x{len(found)}",
                place.tensor,
                tree.held(dtype),
                tree.pointed(dtype),
                None if is_whole else strides,
                dtype is DType.BOOL,
            )
        names[name] = found[key].name
    return Reading(tuple(found.values()), names, axes)


def loop(tree: Tree, request: KernelRequest) -> KernelCall:
    """The call that makes the result of a tree in one loop."""
    read = reading(tree)
    functions, lines = _elements(tree, read)
    elements, made = prod(tree.sizes), tree.types[tree.output].dtype
    assert made is not None  # elements are bits in memory
    pieces = Pieces(
        source=f"derived/{tree.name}.c",
        function=tree.name,
        variant=variant(request, ""),
        elements=elements,
        element_bytes=numpy_dtype(made).itemsize,
        read_bytes=sum(
            elements * (element_bytes(tree.types[each.tensor].dtype) or 0)
            for each in read.operands
            if each.strides is None
        ),
        parameters=_table(read),
        shared=(*_headers(tree), *functions),
    )
    text = _loop_text(tree, read, lines, streamed=pieces.streamed)
    named = replace(pieces, variant=variant(request, _variant(made, functions, text)), text=text)
    return named.call(tuple(each.tensor for each in read.operands), tree.output)


# The axis of an output along which kernels of sums have their channels.
_CHANNEL = 1


def follows(tree: Tree) -> bool:
    """Whether a tree can be done with sums as they are made: one channel after the other, where they lie."""
    assert tree.sums is not None  # that is what is asked
    sums, result, sizes = tree.types[tree.sums], tree.types[tree.output], tree.sizes
    if sums.sizes != sizes or sums.dtype is not result.dtype:
        return False
    whole = natural(result)
    for place in tree.places.values():
        moved = [axis for axis, size in enumerate(sizes) if size > 1 and place.strides[axis]]
        is_whole = all(place.strides[axis] == whole[axis] for axis, size in enumerate(sizes) if size > 1)
        if not is_whole and not set(moved) <= {_CHANNEL}:
            return False
    return True


def following(tree: Tree, request: KernelRequest) -> KernelCall:
    """The function of a tree that is done with pieces of sums; it reads what the tree takes beside them."""
    read = reading(tree)
    functions, lines = _elements(tree, read)
    text = _piece_text(tree, read, lines)
    made = tree.types[tree.output].dtype
    assert made is not None  # elements are bits in memory
    name = f"{tree.name}_of_sums"
    return KernelCall(
        source=f"derived/{name}.c",
        function=name,
        variant=variant(request, _variant(made, functions, text)),
        parameters=(),
        reads=tuple(each.tensor for each in read.operands),
        writes=(),
        tasks=1,
        text=text,
        shared=(*_headers(tree), _PIECES, *functions),
    )


def _variant(made: DType, functions: Sequence[str], text: str) -> str:
    """A name that no other text has."""
    return f"{made}_{sha256(repr((functions, text)).encode()).hexdigest()[:8]}"


def _table(read: Reading) -> tuple[tuple[str, int], ...]:
    """The parameters of a loop beside those of its pieces."""
    *outer, run = read.axes
    numbers = [m for m, each in enumerate(read.operands) if each in read.apart]
    table = [("run", run.size), ("axes", len(outer))]
    for axis in reversed(outer):
        table.append(("size", axis.size))
        strides = [each.strides[read.axes.index(axis)] for each in read.apart if each.strides]
        assert len(strides) == len(numbers)
        table += [("stride", each) for each in strides]
    return tuple(table)


def _headers(tree: Tree) -> tuple[str, ...]:
    """The texts that functions of nodes need before them."""
    bodies = [each.body(in_bits=tree.in_bits) for each in tree.parts]
    more = dict.fromkeys(name for body in bodies for name in body.includes if "elements.h" not in name)
    return (_HEADER, *more)


def _elements(tree: Tree, read: Reading) -> tuple[tuple[str, ...], list[str]]:
    """The functions of the parts, and the statements that call them for one element."""
    names, functions, lines = dict(read.names), list[str](), list[str]()
    if tree.sums is not None:
        names[tree.sums] = "to[i]"
    elements = {each.name: each.element for each in read.operands}
    for number, each in enumerate(tree.parts):
        called, function = _function(each, tree)
        functions.append(function)
        given = [names[tensor] for tensor in each.inputs.values()]
        call = f"{called}({', '.join(elements.get(name, name) for name in given)})"
        names[each.output] = f"t{number}"
        is_last = number == len(tree.parts) - 1
        lines.append(f"to[i] = {call};" if is_last else f"const {tree.held(each.made)} t{number} = {call};")
    return tuple(dict.fromkeys(functions)), lines


def _function(each: Part, tree: Tree) -> tuple[str, str]:
    """The name and the text of the function of a part."""
    body = each.body(in_bits=tree.in_bits)
    dtypes = {name: tree.types[tensor].dtype for name, tensor in each.inputs.items()}
    parameters = ", ".join(f"{tree.held(dtypes[name])} {body.names[name]}" for name in each.inputs)
    word = each.operator.identifier.replace(".", "_")
    head, lines = f"({parameters or 'void'})", [line.removeprefix("    ") for line in body.lines]
    title = f"/* {each.operator.name} on elements of {body.name}, from its definition. */"
    # Of unlike types the lines may be the same.
    digest = sha256(repr((title, head, lines)).encode()).hexdigest()[:8]
    name = f"{word}_{digest}"
    return name, "\n".join([title, f"INLINE {tree.held(each.made)} {name}{head}", "{", *lines, "}"])


_PROTOTYPE = "void KERNEL({})(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)"


def _wrapped(head: str, parameters: Sequence[str]) -> str:
    """The head of a function, in lines of a width that people read."""
    lines, indent = [head], " " * 8
    for number, each in enumerate(parameters):
        text = f"{each}{')' if number == len(parameters) - 1 else ','}"
        if len(lines[-1]) + len(text) >= _WIDTH:
            lines.append(f"{indent}{text}")
        else:
            lines[-1] += f"{'' if lines[-1].endswith('(') else ' '}{text}"
    return "\n".join(lines)


def _innermost(tree: Tree, read: Reading, lines: Sequence[str]) -> list[str]:
    """The function that does some elements one after the other."""
    parameters = [f"{tree.pointed(tree.types[tree.output].dtype)} *restrict to", "int64_t count"]
    parameters += [each.parameter for each in read.operands]
    return [
        _wrapped(f"INLINE void KERNEL(some_{tree.name})(", parameters),
        "{",
        "    for (int64_t i = 0; i < count; i++) {",
        *(f"        {line}" for line in lines),
        "    }",
        "}",
    ]


def _span(tree: Tree, read: Reading) -> list[str]:
    """The function that does elements one after the other, and writes many of them past the caches."""
    made = tree.types[tree.output].dtype
    held, pointed = tree.held(made), tree.pointed(made)
    parameters = ["int streamed", f"{pointed} *to", "int64_t count"]
    parameters += [each.parameter for each in read.operands]

    def some(to: str, done: str, count: str) -> str:
        given = [each.name if each.once else f"{each.name} + {done}" for each in read.operands]
        return f"KERNEL(some_{tree.name})({', '.join([to, count, *given])});"

    asks = [
        f"            stream_ask({each.name} + done, part * (int64_t)sizeof *{each.name});"
        for each in read.operands
        if not each.once and not each.is_truth
    ]
    return [
        _wrapped(f"static void KERNEL(span_{tree.name})(", parameters),
        "{",
        "    int64_t done = 0;",
        "    if (streamed) {",
        f"        enum {{ part = PART_BYTES / sizeof({held}) }};",
        f"        {pointed} ready[part] __attribute__((aligned(PART_BYTES)));",
        "        done = stream_head(to, (int64_t)sizeof *to, count);",
        f"        {some('to', '0', 'done')}",
        "        for (; count - done >= part; done += part) {",
        *asks,
        f"            {some('ready', 'done', 'part')}",
        "            stream(to + done, ready, (int64_t)sizeof ready);",
        "        }",
        "    }",
        f"    {some('to + done', 'done', 'count - done')}",
        "}",
    ]


def _loop_text(tree: Tree, read: Reading, lines: Sequence[str], *, streamed: bool) -> str:
    """The functions of a loop, the last of which does a task; what is not `streamed` has no need of a way."""
    pointed = tree.pointed(tree.types[tree.output].dtype)
    operands = ", ".join([*(each.name for each in read.operands), "output"])
    has_runs = len(read.axes) > 1
    apart = {each.name: number for number, each in enumerate(read.apart)}
    given, found = list[str](), list[str]()
    for number, each in enumerate(read.operands):
        there = f"(const {each.pointed} *)operands[{number}]"
        found.append(
            f"    const {each.held} {each.name} = *{there};"
            if each.always
            else f"    const {each.pointed} *const {each.name} = {there};"
        )
        column = f" + places[{apart[each.name]}]" if each.name in apart else " + at"
        along = " + column" if each.name in apart and not each.once else ""
        given.append(
            each.name
            if each.always
            else f"{'*(' if each.once else ''}{each.name}{column}{along}{')' if each.once else ''}"
        )
    call = f"KERNEL(some_{tree.name})({', '.join(['to + at', 'size', *given])});"
    if streamed:
        call = f"KERNEL(span_{tree.name})({', '.join(['streamed', 'to + at', 'size', *given])});"
    runs = [
        "    for (int64_t done = 0, size; done < count; done += size) {",
        "        const int64_t at = begin + done, column = at % p->run, rest = count - done;",
        "        size = p->run - column < rest ? p->run - column : rest;",
        *(["        const int streamed = p->streamed && size >= 4 * PART_BYTES;"] if streamed else []),
        f"        int64_t places[{max(len(apart), 1)}];",
        f"        places_of(p, at / p->run, {len(apart)}, places);",
        f"        {call}",
        "    }",
    ]
    straight = [
        "    const int64_t at = begin, size = count;",
        *(["    const int streamed = p->streamed != 0;"] if streamed else []),
        f"    {call}",
    ]
    return "\n".join(
        [
            f"/* {', '.join(each.operator.name for each in tree.parts)}: operands are {operands}. */",
            *_innermost(tree, read, lines),
            "",
            *([*_span(tree, read), ""] if streamed else []),
            f"{_PROTOTYPE.format(tree.name)};",
            "",
            _PROTOTYPE.format(tree.name),
            "{",
            "    const int64_t begin = task_begin(p, task), count = task_count(p, task);",
            *found,
            f"    {pointed} *const to = ({pointed} *)operands[{len(read.operands)}];",
            "    (void)rank;",
            *(runs if has_runs else straight),
            *(["    if (p->streamed) stream_end();"] if streamed else []),
            "}",
            "",
        ]
    )


_PIECE = "void KERNEL({})(void *const *operands, void *piece, const struct piece *at)"


def _piece_text(tree: Tree, read: Reading, lines: Sequence[str]) -> str:
    """The functions of what follows sums, the last of which does a piece."""
    pointed, name = tree.pointed(tree.types[tree.output].dtype), f"{tree.name}_of_sums"
    found, given = list[str](), list[str]()
    for number, each in enumerate(read.operands):
        there = f"(const {each.pointed} *)operands[{number}]"
        if each.always:
            found.append(f"    const {each.held} {each.name} = *{there};")
            given.append(each.name)
        else:
            found.append(f"    const {each.pointed} *const {each.name} = {there};")
            along = "at->channel + c" if each.strides is not None else "at->place + c * at->pitch"
            given.append(f"{each.name}[{along}]" if each.once else f"{each.name} + {along}")
    call = f"KERNEL(some_{tree.name})({', '.join(['to + c * at->pitch', 'at->count', *given])});"
    operands = ", ".join(each.name for each in read.operands) or "none"
    return "\n".join(
        [
            f"/* {', '.join(each.operator.name for each in tree.parts)} after sums; operands: {operands}. */",
            *_innermost(tree, read, lines),
            "",
            f"{_PIECE.format(name)};",
            "",
            _PIECE.format(name),
            "{",
            f"    {pointed} *const to = ({pointed} *)piece;",
            *found,
            *(["    (void)operands;"] if not read.operands else []),
            f"    for (int64_t c = 0; c < at->channels; c++) {call}",
            "}",
            "",
        ]
    )
