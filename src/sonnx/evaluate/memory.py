"""What executing a graph takes, known before anything is computed; what takes too much is refused.

In the reals nothing is rounded, so numbers grow: with the tensors that are given, a bound on the bits of
every result follows node by node from what each operator says of its growth.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from typing import Literal

from sonnx.check.inference import node_call
from sonnx.derive.lengths import lengths as lengths_made
from sonnx.derive.tracing import held_in
from sonnx.derive.working import working_types
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph, Node
from sonnx.model.inline import Flat
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.numeric.lengths import Lengths
from sonnx.numeric.measure import lengths_of
from sonnx.operators import node_operator
from sonnx.report.text import location_text, printable
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator, operand_names

Domain = Literal["ieee", "real"]

DEFAULT_MEMORY = 4 * 2**30
# An exact number of more bits, numerator and denominator together, is not calculated: to reduce a fraction
# takes time as the square of its length (here about a second), and nothing can interrupt that.
MOST_BITS = 2**20
# A fraction takes about this much, with numbers of so many bits; Python keeps 30 bits in 4 bytes.
_REAL_BYTES = 150
_REAL_BITS = 120
_BITS_A_BYTE = 7
_STRING_BYTES = 60
_NARROW = (DType.FLOAT16, DType.BFLOAT16)


class MemoryLimitError(ValueError):
    """A run would need more memory than its limit; nothing was computed."""


class TooLongError(MemoryLimitError):
    """Exact numbers would become too long, whatever the memory; nothing was computed."""


def held_as(kind: TensorType, domain: Domain) -> DType | None:
    """In the real domain floats are real numbers; integers, booleans and text are exact already."""
    return None if kind.dtype is None else held_in(kind.dtype, domain)


def tensor_uses(graph: Graph) -> Counter[str]:
    """How many nodes and outputs are still to come that need each tensor."""
    uses = Counter(name for node in graph.nodes for name in set(node.inputs) if name)
    return uses + Counter(value.name for value in graph.outputs)


def last_used(node: Node, uses: Counter[str]) -> list[str]:
    """The tensors that nobody needs once a node has run; counts the node's own uses."""
    taken = dict.fromkeys(name for name in node.inputs if name)
    for name in taken:
        uses[name] -= 1
    made = [name for name in node.outputs if name]
    return [name for name in (*taken, *made) if uses[name] == 0]


def require_limits(
    flat: Flat,
    order: Sequence[int],
    domain: Domain,
    memory: int,
    tensors: Mapping[str, Array] | None = None,
) -> None:
    """Refuse a run whose tensors, as they live and die, would exceed the limit.

    With the tensors that are there before the first node, the lengths of exact numbers count too. Raises
    MemoryLimitError, or TooLongError at the first node that could make a number too long.
    """
    graph = flat.graph
    bits = {} if tensors is None else _longest(flat, order, domain, tensors)
    uses = tensor_uses(graph)
    sizes = {name: _bytes(kind, domain, bits.get(name, 0)) for name, kind in graph.types.items()}
    alive = {value.name for value in graph.inputs} | {constant.name for constant in graph.constants}
    total = most = sum(sizes[name] for name in alive)
    for index in order:
        node = graph.nodes[index]
        total += sum(sizes[name] for name in set(node.outputs) if name)
        most = max(most, total + _working_bytes(graph, node, domain, bits))
        total -= sum(sizes[name] for name in last_used(node, uses))
    # At the end each result is copied where others could write to it too.
    most = max(most, total + max((sizes[value.name] for value in graph.outputs), default=0))
    if most > memory:
        raise MemoryLimitError(
            f"running the model takes up to {most:,} bytes for tensors, allowed are {memory:,}; "
            f"{_length_told(flat, bits)}allow more if the machine has it"
        )


def _length_told(flat: Flat, bits: Mapping[str, int]) -> str:
    """Where exact numbers are longest, if they are so long that it matters."""
    made = [
        (bits.get(name, 0), -index) for index, node in enumerate(flat.graph.nodes) for name in node.outputs
    ]
    longest, index = max(made, default=(0, 0))
    if longest <= _REAL_BITS:
        return ""
    place = printable(location_text(flat.locations[-index]))
    return f'exact numbers have up to {longest:,} bits ({place}), in the domain "ieee" they have not; '


def _longest(
    flat: Flat, order: Sequence[int], domain: Domain, tensors: Mapping[str, Array]
) -> dict[str, int]:
    """The most bits that an element of each real tensor can have."""
    graph, lengths = flat.graph, _measured(tensors)
    for index in order:
        node = graph.nodes[index]
        operator = node_operator(node, graph.dialect)
        assert operator is not None  # the graph conforms
        real = [name for name in node.outputs if name and held_as(graph.types[name], domain) is DType.REAL]
        if real:
            labels = operand_names(operator.contract.inputs, len(node.inputs))
            given = {
                label: lengths[name]
                for label, name in zip(labels, node.inputs, strict=False)
                if name in lengths
            }
            call = node_call(operator, node, graph.types, graph.data)
            found = _bounded(operator, call, given, location_text(flat.locations[index]))
            lengths |= dict.fromkeys(real, found)
    return {name: found.longest for name, found in lengths.items()}


def require_short(operator: Operator, call: Call, arrays: Mapping[str, Array]) -> None:
    """Raise TooLongError where a single call could make an exact number too long."""
    given = _measured(arrays)
    if given:
        _bounded(operator, call, given, f"call of {operator.name}")


def _measured(arrays: Mapping[str, Array]) -> dict[str, Lengths]:
    return {name: lengths_of(array) for name, array in arrays.items() if held_type(array) is DType.REAL}


def _bounded(operator: Operator, call: Call, given: Mapping[str, Lengths], place: str) -> Lengths:
    found = lengths_made(operator, call, given)
    if found.longest > MOST_BITS:
        raise TooLongError(
            printable(
                f"{place}: its exact results may have {found.longest:,} bits (numerator and denominator), "
                f"calculated are at most {MOST_BITS:,}: nothing is rounded, and products add up lengths; "
                'evaluate it in the domain "ieee", or only what comes before it'
            )
        )
    return found


def _working_bytes(graph: Graph, node: Node, domain: Domain, bits: Mapping[str, int]) -> int:
    """What a definition takes for copies of its inputs and outputs, and for what it makes in between."""
    names = {name for name in (*node.inputs, *node.outputs) if name}
    kinds = [graph.types[name] for name in names]
    operator = node_operator(node, graph.dialect)
    working: Sequence[TensorType] = ()
    if operator is not None:
        working = working_types(operator, node_call(operator, node, graph.types, graph.data))
    # Copies with a common denominator are as long as what is made of them.
    longest = max((bits.get(name, 0) for name in names), default=0)
    if not working:
        return sum(_bytes(kind, domain, longest) for kind in kinds)
    # Sums of two-byte floats are held as float, and so is all that they are made of.
    wide = 3 if working[0].dtype in _NARROW else 1
    return wide * sum(_bytes(kind, domain, longest) for kind in (*kinds, *working))


def _bytes(kind: TensorType, domain: Domain, longest: int) -> int:
    held = held_as(kind, domain)
    number = prod(kind.sizes or ())
    if held is DType.REAL:
        return number * (_REAL_BYTES + max(longest - _REAL_BITS, 0) // _BITS_A_BYTE)
    return number * (_STRING_BYTES if held is None or held is DType.STRING else numpy_dtype(held).itemsize)
