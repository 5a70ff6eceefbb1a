"""Computations composed operation by operation; what is wrong is said at the call that makes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx.check.calls import check_call
from sonnx.model.graph import Constant, Function, Graph, Node, Value
from sonnx.model.inline import DEEPEST_CALL, MOST_NODES, inlined_size
from sonnx.model.names import Names
from sonnx.model.order import contributing
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import describe
from sonnx.operators.catalogue import XLA_OPERATORS
from sonnx.operators.rules.lists import LONGEST_LIST, is_integer
from sonnx.operators.rules.wording import count, written
from sonnx.operators.shared.xla_types import TYPES
from sonnx.report.text import findings_text, printable
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.rule import RuleError
from sonnx.vocabulary.signatures import Arguments, Calling, function_of, modes
from sonnx.xla.computation import DOMAIN, OPSETS, Computation
from sonnx.xla.literals import parse_literal
from sonnx.xla.shapes import Shape, as_shape, shape_of


class BuildError(ValueError):
    """What was asked of a builder makes no computation; nothing was added to it."""


# The operation that applies another computation.
CALL = next(operator for operator in XLA_OPERATORS if operator.calls)


@dataclass(frozen=True, eq=False)
class Handle:
    """The result of an operation of one builder, to be given to its other operations."""

    builder: "ComputationBuilder" = field(repr=False)
    name: str
    shape: Shape

    def __repr__(self) -> str:
        """Print name and shape."""
        return printable(f"<{self.name}: {self.shape}>")


class ComputationBuilder:
    """Collects parameters, constants and operations; `build` makes a computation of them.

    Every method that adds something gives a handle of it. There is one for each operation, made from its
    contract. Shapes are known at once, so an operation that breaks a rule raises RuleError when it is added.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Handle]:
            """Tell type checkers of the methods that are made from contracts."""

    def __init__(self, name: str) -> None:
        """Start a computation of that name."""
        if not _is_name(name):
            raise BuildError(f"a computation needs a name of printable characters; {written(name)} is none")
        self.name = name
        self._names = Names(set())
        self._parameters: dict[int, Value] = {}
        self._constants: list[Constant] = []
        self._nodes: list[Node] = []
        self._types: dict[str, TensorType] = {}
        self._functions: dict[tuple[str, str, str], Function] = {}
        self._last: Handle | None = None

    def __repr__(self) -> str:
        """Print what has been collected so far."""
        parts = count(len(self._parameters), "parameter"), count(len(self._nodes), "operation")
        return printable(f"<ComputationBuilder {self.name}: {', '.join(parts)}; build() makes a computation>")

    def parameter(self, number: int, shape: Shape | str, name: str | None = None) -> Handle:
        """Add the parameter of that number, counted from 0; run and call give arguments in that order."""
        if not is_integer(number) or number < 0:
            raise BuildError(f"parameter: number {written(number)} is no integer from 0 up")
        if number in self._parameters:
            before = self._parameters[number]
            raise BuildError(f"parameter: number {number} is `{printable(before.name)}`: {before.type}")
        wanted = f"p{number}" if name is None else name
        if not _is_name(wanted):
            raise BuildError(f"parameter: name {written(name)} is no text of printable characters")
        if wanted in self._names.taken:
            raise BuildError(f"parameter: the name `{printable(wanted)}` is taken")
        kind = as_shape(shape).type
        self._parameters[int(number)] = Value(self._names.fresh(wanted), kind)
        return self._handle(wanted, kind)

    def constant(self, literal: Any) -> Handle:
        """Add an array, or a literal such as `f32[2,3] {{1, 2, 3}, {4, 5, 6}}`."""
        kind, array = describe(parse_literal(literal) if isinstance(literal, str) else literal)
        if array is None or kind.dtype not in TYPES[1:]:
            raise BuildError(f"constant: {kind} is no array of one of XLA's types")
        kind = shape_of(kind).type
        # Later changes of the caller's array must not reach the computation.
        held = array.copy()
        held.setflags(write=False)
        name = self._names.fresh(f"constant.{len(self._constants) + 1}")
        self._constants.append(Constant(name, kind, held))
        return self._handle(name, kind)

    def call(self, computation: Computation, *args: Handle) -> Handle:
        """Apply a computation that has been built to arguments."""
        operands = {f"args{m}": argument for m, argument in enumerate(args)}
        kind = self._checked(CALL, self._operands(CALL, operands), {"computation": computation})
        if not isinstance(computation, Computation):
            raise BuildError("call: give the computation itself, as `build()` gave it")
        for function in (*computation.graph.functions, computation.function):
            self._functions.setdefault(function.key, function)
        function = computation.function
        inputs = tuple(argument.name for argument in args)
        made = self._names.fresh(f"{function.name}.{len(self._nodes) + 1}")
        self._nodes.append(Node(function.name, inputs, (made,), {}, "", DOMAIN, function.overload))
        return self._handle(made, kind)

    def build(self, root: Handle | None = None) -> Computation:
        """Make a computation whose result is `root`, or what the last operation gave.

        Where there is no operation, it is the parameter or constant that was added last. Operations that the
        result does not need are left out; parameters never are.
        """
        if root is None:
            root = self._last
        if root is None:
            raise BuildError(f"build: `{printable(self.name)}` has no operation yet")
        self._own(root, "root")
        numbers = sorted(self._parameters)
        if numbers != list(range(len(numbers))):
            raise BuildError(f"build: parameters {written(numbers)}; number them from 0 without a gap")
        nodes = self._needed(root.name)
        used = {name for node in nodes for name in node.inputs} | {root.name}
        calls = {node.function for node in nodes}
        made = [name for node in nodes for name in node.outputs]
        graph = Graph(
            self.name,
            tuple(self._parameters[number] for number in numbers),
            (Value(root.name, self._types[root.name]),),
            nodes,
            tuple(constant for constant in self._constants if constant.name in used),
            tuple(Value(name, self._types[name]) for name in made if name != root.name),
            _called(self._functions, calls),
            OPSETS,
            dialect="xla",
        )
        _require_size(graph)
        return Computation(graph)

    def _needed(self, root: str) -> tuple[Node, ...]:
        keep = contributing(self._nodes, [root])
        return tuple(node for index, node in enumerate(self._nodes) if index in keep)

    def _handle(self, name: str, kind: TensorType) -> Handle:
        self._types[name] = kind
        handle = Handle(self, name, shape_of(kind))
        made = bool(self._nodes) and name in self._nodes[-1].outputs
        if made or not self._nodes:
            self._last = handle
        return handle

    def _own(self, value: object, name: str) -> None:
        if not isinstance(value, Handle):
            raise BuildError(
                f"{name}: {written(value)} is no handle; add arrays by `constant` or `parameter` first"
            )
        if value.builder is not self:
            other = printable(value.builder.name)
            raise BuildError(f"{name}: {value.name!r} belongs to another builder, `{other}`; use `call`")

    def _operands(self, operator: Operator, operands: Mapping[str, Any]) -> dict[str, TensorType]:
        found = {}
        for name, operand in operands.items():
            # A tuple of handles is a tuple, and a rule of the operator says so.
            if isinstance(operand, tuple):
                found[name] = TensorType(None, None, foreign="tuple", dialect="xla")
                continue
            self._own(operand, f"{operator.contract.name}: `{name}`")
            found[name] = operand.shape.type
        return found

    def _checked(
        self, operator: Operator, inputs: Mapping[str, TensorType], attributes: Mapping[str, Any]
    ) -> TensorType:
        """The type of what an operation gives; raises RuleError where a rule is broken."""
        call = Call(operator.name, inputs, {**attributes, **modes(operator.contract)})
        findings = check_call(operator, call)
        if findings:
            raise RuleError(findings, findings_text(findings))
        return operator.contract.output_types(call)["output"]

    def _add(self, operator: Operator, given: Arguments) -> Handle:
        inputs = self._operands(operator, given.operands)
        attributes = {name: frozen(value) for name, value in given.attributes.items()}
        kind = self._checked(operator, inputs, attributes)
        plain = {name: plain_integers(value) for name, value in attributes.items()}
        made = self._names.fresh(f"{operator.folder}.{len(self._nodes) + 1}")
        names = tuple(operand.name for operand in given.operands.values())
        self._nodes.append(Node(operator.contract.name, names, (made,), plain, "", operator.contract.domain))
        return self._handle(made, kind)


def _method(operator: Operator) -> Callable[..., Handle]:
    """The method that adds an operation."""

    def add(builder: ComputationBuilder, given: Arguments) -> Handle:
        return builder._add(operator, given)

    calling = Calling(operand=Handle, result=Handle, listed=True, modes=False)
    return function_of(operator.folder, f"{__name__}:ComputationBuilder", operator.contract, calling, add)


for _operator in XLA_OPERATORS:
    if not _operator.calls:  # a call takes a computation first
        setattr(ComputationBuilder, _operator.folder, _method(_operator))


def _is_name(value: object) -> bool:
    """Tell whether graphs may have a value as a name (graph.D18)."""
    return isinstance(value, str) and value != "" and value.isprintable()


def frozen(value: Any, depth: int = 2) -> Any:
    """Lists, and lists in lists, as tuples: what the rules have seen is what the computation keeps.

    What is longer, or nested deeper, is refused by a rule, whatever it holds.
    """
    is_array = isinstance(value, np.ndarray) and 0 < value.ndim <= depth
    is_list = isinstance(value, (list, tuple, range)) and depth > 0
    if not (is_array or is_list) or len(value) > LONGEST_LIST:
        return value
    return tuple(frozen(element, depth - 1) for element in value)


def plain_integers(value: Any) -> Any:
    """NumPy's integers as Python's own, which print alike everywhere."""
    if isinstance(value, tuple):
        return tuple(map(plain_integers, value))
    return int(value) if is_integer(value) else value


def _require_size(graph: Graph) -> None:
    """Refuse calls in calls that would be endless work: a few can stand for very many operations."""
    size, depth = inlined_size(graph)
    if size > MOST_NODES or depth > DEEPEST_CALL:
        number = str(size) if size <= MOST_NODES else f"more than {MOST_NODES}"
        raise BuildError(
            f"build: with all calls written out there are {number} operations, {depth} calls deep; at most "
            f"{MOST_NODES} and {DEEPEST_CALL} are allowed"
        )


def _called(
    functions: Mapping[tuple[str, str, str], Function], calls: set[tuple[str, str, str]]
) -> tuple[Function, ...]:
    """The functions that are called, directly or by others, in the order in which they were added."""
    wanted, known = set(), [key for key in calls if key in functions]
    while known:
        key = known.pop()
        if key not in wanted:
            wanted.add(key)
            known += [node.function for node in functions[key].nodes if node.function in functions]
    return tuple(function for key, function in functions.items() if key in wanted)
