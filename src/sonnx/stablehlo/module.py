"""A graph as the text of a StableHLO module.

Every name in the text is made here; names of the model stand in comments only, escaped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sonnx.derive.stablehlo import lower
from sonnx.mlir.operations import Block, ExportError, Tensor, held_back, type_text
from sonnx.model.graph import Constant, Function, Graph, Node
from sonnx.model.order import given_order
from sonnx.model.tensor_type import Dialect
from sonnx.numeric.arrays import hold
from sonnx.operators import node_operator
from sonnx.operators.composing import executable
from sonnx.vocabulary.operator import operand_names

__all__ = ["ExportError", "stablehlo"]

_LONGEST_NAME = 200


def stablehlo(graph: Graph) -> str:
    """Write a graph that has been found to conform as MLIR; the same graph gives the same text.

    The function `main` takes the graph's inputs and gives its outputs, both in their order. Functions of a
    computation become functions of the module; those of an ONNX model are replaced by their bodies. Raises
    ExportError where XLA has no type that a tensor has.
    """
    if graph.dialect == "onnx":
        graph = executable(graph).graph
    functions: dict[tuple[str, str, str], Function] = {}
    for function in graph.functions:
        functions.setdefault(function.key, function)
    module = _Module(graph.dialect, functions)
    block = Block()
    arguments = {}
    for number, value in enumerate(graph.inputs):
        dtype, sizes = value.type.dtype, value.type.sizes
        assert dtype is not None  # the graph conforms
        assert sizes is not None
        arguments[value.name] = Tensor(block, f"%arg{number}", dtype, sizes)
    body = _Body(module, block, arguments, {constant.name: constant for constant in graph.constants})
    body.write(graph.nodes)
    results = [(value.name, body.tensor(value.name)) for value in graph.outputs]
    head = f"// model {_quoted(graph.name)}\nmodule @model {{"
    main = _function("public @main", arguments, results, block)
    return "\n".join([head, main, *module.texts, "}", ""])


@dataclass
class _Module:
    """The functions that are called, each written once: a computation fixes the types of its arguments."""

    dialect: Dialect
    functions: Mapping[tuple[str, str, str], Function]
    texts: list[str] = field(default_factory=list)
    written: dict[tuple[str, str, str], tuple[str, list[Tensor]]] = field(default_factory=dict)

    def callee(self, function: Function, arguments: Sequence[Tensor]) -> tuple[str, list[Tensor]]:
        """The name of a function in the module, and what it returns; it is written when first asked for."""
        key = function.key
        if key not in self.written:
            block = Block()
            taken = {
                name: Tensor(block, f"%arg{number}", argument.dtype, argument.shape)
                for number, (name, argument) in enumerate(zip(function.inputs, arguments, strict=True))
            }
            body = _Body(self, block, taken, {constant.name: constant for constant in function.constants})
            body.write(function.nodes)
            results = [(name, body.tensor(name)) for name in function.outputs]
            name = f"f_{len(self.written)}"
            self.texts.append(
                f"  // function {_quoted(function.name)}\n"
                + _function(f"private @{name}", taken, results, block)
            )
            self.written[key] = name, [tensor for _, tensor in results]
        return self.written[key]


@dataclass
class _Body:
    """The nodes of one function; a constant is written where it is first needed."""

    module: _Module
    block: Block
    tensors: dict[str, Tensor]
    constants: Mapping[str, Constant]
    # What cannot be calculated before the function is called.
    open: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Keep the arguments apart."""
        self.tensors = dict(self.tensors)
        # What is empty is known, whatever it is.
        self.open = {name for name, x in self.tensors.items() if 0 not in x.shape}

    def tensor(self, name: str) -> Tensor:
        """The value that a tensor has become."""
        if name not in self.tensors:
            constant = self.constants[name]
            dtype = constant.type.dtype
            assert dtype is not None  # the graph conforms
            type_text(dtype, ())  # strings and reals are refused before anything is made of them
            self.block.lines.append(f"// constant {_quoted(name)}")
            self.tensors[name] = self.block.constant(hold(constant.data, dtype), dtype)
        return self.tensors[name]

    def write(self, nodes: Sequence[Node]) -> None:
        """Write all nodes, each after those it needs."""
        for index in given_order(nodes):
            node = nodes[index]
            function = self.module.functions.get(node.function)
            write = self._lowering(node) if function is None else self._call(function, node)
            name = f" {_quoted(node.name)}" if node.name else ""
            self.block.lines.append(f"// node {index}{name} ({_escaped(node.operator)})")
            results = zip(node.outputs, write(), strict=False)
            self.tensors |= {output: result for output, result in results if output}
            if not self.open.isdisjoint(node.inputs):
                made = (output for output in node.outputs if output)
                self.open |= {output for output in made if 0 not in self.tensors[output].shape}

    def _lowering(self, node: Node) -> Callable[[], Sequence[Tensor]]:
        """What writes a node; its operands are written already."""
        operator = node_operator(node, self.module.dialect)
        assert operator is not None  # the graph conforms
        contract = operator.contract
        names = zip(operand_names(contract.inputs, len(node.inputs)), node.inputs, strict=False)
        inputs = {
            operand: self.constants[name].data if operand in contract.settled else self.tensor(name)
            for operand, name in names
            if name
        }
        known = self.open.isdisjoint(node.inputs)

        def write() -> Sequence[Tensor]:
            given = {
                key: held_back(x) if known and key not in contract.settled else x for key, x in inputs.items()
            }
            results = lower(operator, given, node.attributes)
            return [results[operand.name] for operand in contract.outputs]

        return write

    def _call(self, function: Function, node: Node) -> Callable[[], Sequence[Tensor]]:
        """What writes a call; the arguments and the function are written already."""
        arguments = [self.tensor(name) for name in node.inputs]
        symbol, results = self.module.callee(function, arguments)
        taken, given = (", ".join(x.type for x in tensors) for tensors in (arguments, results))
        known = [name not in self.open for name in node.inputs]

        def write() -> Sequence[Tensor]:
            pairs = zip(arguments, known, strict=True)
            names = ", ".join((held_back(x) if early else x).name for x, early in pairs)
            name = self.block.name()
            count = "" if len(results) == 1 else f":{len(results)}"
            self.block.lines.append(f"{name}{count} = call @{symbol}({names}) : ({taken}) -> ({given})")
            return [
                Tensor(self.block, f"{name}#{number}" if count else name, result.dtype, result.shape)
                for number, result in enumerate(results)
            ]

        return write


def _function(
    head: str, arguments: Mapping[str, Tensor], results: Sequence[tuple[str, Tensor]], block: Block
) -> str:
    taken = ", ".join(f"{tensor.name}: {tensor.type}" for tensor in arguments.values())
    given = ", ".join(tensor.type for _, tensor in results)
    names = ", ".join(tensor.name for _, tensor in results)
    lines = [
        *(f"// {tensor.name} is input {_quoted(name)}" for name, tensor in arguments.items()),
        *block.lines,
        *(f"// {tensor.name} is output {_quoted(name)}" for name, tensor in results),
        f"return {names} : {given}" if results else "return",
    ]
    return "\n".join(
        [f"  func.func {head}({taken}) -> ({given}) {{", *(f"    {line}" for line in lines), "  }"]
    )


def _escaped(text: str) -> str:
    """A name of the model as printable ASCII on one line, cut where it is long."""
    cut = f"{text[:_LONGEST_NAME]}..." if len(text) > _LONGEST_NAME else text
    return cut.encode("unicode_escape").decode("ascii").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'
