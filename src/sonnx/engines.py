"""Which engine executes a graph: the definitions themselves, or the real XLA."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from sonnx.evaluate.graphs import Settings, Step, execute, require_inputs, require_memory
from sonnx.model.graph import Graph
from sonnx.numeric.arrays import Array
from sonnx.stablehlo import engine as xla

Engine = Literal["reference", "xla"]
ENGINES: tuple[Engine, ...] = ("reference", "xla")


def run_graph(
    graph: Graph,
    inputs: Mapping[str, Any],
    settings: Settings,
    *,
    engine: Engine = "reference",
    watch: Callable[[Step], None] | None = None,
) -> dict[str, Array]:
    """Execute a graph that has been found to conform; arrays by input name in, by output name out.

    XLA adds sums in an order of its own and flushes subnormal numbers: it has neither another domain nor modes
    of accumulation, and it runs a graph as a whole, so nothing can watch it.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be {' or '.join(map(repr, ENGINES))}, not {engine!r}")
    if engine == "reference":
        return execute(graph, inputs, settings, watch)
    if settings != Settings(memory=settings.memory) or watch is not None:
        raise ValueError("the engine 'xla' has no other domain, accumulation or order, and cannot be watched")
    arrays = require_inputs(graph.inputs, inputs, settings.domain)
    require_memory(graph, settings)
    return xla.execute(graph, arrays)
