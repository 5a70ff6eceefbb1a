"""A computation: a graph of XLA operations with numbered parameters and one result."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, nextafter
from typing import Any

import numpy as np

from sonnx.engines import Engine, run_graph
from sonnx.evaluate.execution import (
    DEFAULT_MEMORY,
    Accumulate,
    Domain,
    ExecutedNode,
    InputError,
    MemoryLimitError,
    Order,
    Settings,
)
from sonnx.model.graph import Function, Graph, Node, Value
from sonnx.model.names import Names
from sonnx.numeric.arrays import Array
from sonnx.numeric.balls import Real, ends
from sonnx.numeric.real import real
from sonnx.operators import node_operator
from sonnx.operators.rules.wording import count
from sonnx.operators.shared.xla_types import COMPLEX
from sonnx.operators.xla.call.callee import Callee
from sonnx.report.text import printable
from sonnx.stablehlo.module import stablehlo
from sonnx.vocabulary.signatures import modes
from sonnx.xla.computation_text import computation_text
from sonnx.xla.shapes import Shape, shape_of

# Where the functions of a graph are that are computations.
DOMAIN = "xla.computation"
OPSETS = (("xla", 1), (DOMAIN, 1))


@dataclass(frozen=True, eq=False)
class Computation:
    """What a builder has built."""

    graph: Graph

    def __reduce__(self) -> tuple[Callable[[Graph], "Computation"], tuple[Graph]]:
        """Allow copies, and the way to another process."""
        return _restored, (self.graph,)

    @property
    def name(self) -> str:
        """The name that the builder was given."""
        return self.graph.name

    @property
    def parameters(self) -> tuple[tuple[str, Shape], ...]:
        """The names and shapes of the parameters, by their numbers."""
        return tuple((value.name, shape_of(value.type)) for value in self.graph.inputs)

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        return shape_of(self.graph.outputs[0].type)

    def __str__(self) -> str:
        """Print the computation, and those that it calls, operation by operation."""
        return computation_text(self.graph)

    def __repr__(self) -> str:
        """Print the signature alone."""
        return printable(f"<Computation {self.callee}>")

    def __call__(self, *arrays: Any) -> Array:
        """The same as `run` without options."""
        return self.run(*arrays)

    def to_stablehlo(self) -> str:
        """The same as text of MLIR in the StableHLO dialect, for XLA's compilers."""
        return stablehlo(self.graph)

    def run(
        self,
        *arrays: Any,
        engine: Engine = "reference",
        domain: Domain = "ieee",
        accumulate: Accumulate = "separate",
        order: Order = "given",
        seed: int = 0,
        memory: int = DEFAULT_MEMORY,
        watch: Callable[[ExecutedNode], None] | None = None,
    ) -> Array:
        """Execute the computation on one array for each parameter, and give its result.

        The engine "reference" applies the definitions: every bit is specified, or nothing is rounded where
        the domain is "real"; "native", which has no kernels for XLA operations, does so too. The engine
        "xla" compiles the computation with the real XLA (of jax), whose sums are taken in an order of
        its own and which flushes subnormal numbers; the other arguments are not for it. Raises InputError
        where an array is not what a parameter takes.
        """
        settings = Settings(domain, accumulate, order, seed, memory)
        inputs = self._named(arrays)
        if domain == "real":
            self._require_real()
        (result,) = run_graph(self.graph, inputs, settings, engine=engine, watch=watch).values()
        return result

    def _named(self, arrays: Sequence[Any]) -> Mapping[str, Any]:
        values = self.graph.inputs
        if len(arrays) != len(values):
            raise InputError(f"{self.callee} takes {count(len(values), 'array')}, not {len(arrays)}")
        return {value.name: array for value, array in zip(values, arrays, strict=True)}

    def _require_real(self) -> None:
        complex_ones = [name for name, kind in self.graph.types.items() if kind.dtype in COMPLEX]
        if complex_ones:
            raise InputError(
                f"{self.name} holds complex numbers (`{complex_ones[0]}`), which have no place in the reals"
            )

    @cached_property
    def callee(self) -> Callee:
        """What a call of the computation needs to know."""
        (output,) = self.graph.outputs
        return Callee(self.name, self.graph.inputs, output.type, lambda given: self.run(*given), self._bound)

    def _bound(self, arguments: Sequence[Array], order: str) -> Array:
        """How far the result lies from the exact one, which is calculated as well.

        For convolutions in any order of summation no bound is derived: each has one of its own, but what
        later operations make of it is not followed. It is infinite then.
        """
        shape = self.shape.dimensions
        if order != "specified" and self._convolves():
            return np.full(shape, np.inf)
        try:
            exact = self.run(*arguments, domain="real")
            result = real(self.run(*arguments))
        except MemoryLimitError:
            raise
        except ValueError:  # NaN, infinities or complex numbers are nowhere in the reals
            return np.full(shape, np.inf)
        bound = np.empty(shape)
        pairs = zip(result.reshape(-1), real(exact).reshape(-1), strict=True)
        bound.reshape(-1)[:] = [_rounded_up(abs(a - b)) for a, b in pairs]
        return bound

    def _convolves(self) -> bool:
        nodes = [*self.graph.nodes, *(node for f in self.graph.functions for node in f.nodes)]
        found = (node_operator(node, "xla") for node in nodes)
        # What can be told how to round a sum is what sums.
        return any("accumulate" in modes(operator.contract) for operator in found if operator is not None)

    @cached_property
    def function(self) -> Function:
        """The computation as a function that a graph can call; equal computations are one function."""
        graph = self.graph
        nodes, output = graph.nodes, graph.outputs[0].name
        values = (*graph.values, *graph.outputs)
        if not any(output in node.outputs for node in nodes):
            # What is passed on unchanged needs a node that makes it: a Broadcast along no new dimension.
            kind = graph.outputs[0].type
            # Nothing else is made there, or it would have been left out.
            taken = {value.name for value in graph.inputs} | {each.name for each in graph.constants}
            fresh = Names(taken).fresh(output)
            passed = Node("Broadcast", (output,), (fresh,), {"broadcast_sizes": ()}, domain="xla")
            nodes, output = (*nodes, passed), passed.outputs[0]
            values = (Value(output, kind),)
        return Function(
            graph.name,
            DOMAIN,
            tuple(value.name for value in graph.inputs),
            (output,),
            nodes,
            values=(*graph.inputs, *values),
            opsets=OPSETS,
            defaults={},
            overload=_digest(graph),
            constants=graph.constants,
        )


def _restored(graph: Graph) -> Computation:
    """A copy of a computation; copies of arrays forget that nobody may write to them."""
    inner = (constant for function in graph.functions for constant in function.constants)
    for constant in (*graph.constants, *inner):
        constant.data.setflags(write=False)
    return Computation(graph)


def _rounded_up(distance: Real) -> float:
    """A double that is not below a distance, 0 only where that is 0, infinite beyond the largest one."""
    _, most = ends(distance)
    if not most:
        return 0.0
    try:
        nearest = float(most)
    except OverflowError:
        return inf
    return nextafter(nearest, inf)


def _digest(graph: Graph) -> str:
    """What tells computations of one name apart: all that they consist of."""
    found = hashlib.sha256(repr((graph.inputs, graph.outputs, graph.nodes)).encode())
    for constant in graph.constants:
        found.update(repr((constant.name, str(constant.type))).encode() + constant.data.tobytes())
    return found.hexdigest()[:16]
