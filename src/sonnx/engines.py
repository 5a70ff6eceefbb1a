"""Which engine executes a graph: the definitions themselves, or the real XLA."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from sonnx.evaluate.graphs import Settings, Step, execute, require_inputs, require_memory
from sonnx.model.graph import Graph
from sonnx.numeric.arrays import Array
from sonnx.stablehlo import engine as xla

Engine = Literal["reference", "xla"]
ENGINES: tuple[Engine, ...] = ("reference", "xla")
_DEFAULTS = {name: getattr(Settings(), name) for name in ("domain", "accumulate", "order", "seed")}


def run_graph(
    graph: Graph,
    inputs: Mapping[str, Any],
    settings: Settings,
    *,
    engine: Engine = "reference",
    watch: Callable[[Step], None] | None = None,
) -> dict[str, Array]:
    """Execute a graph that has been found to conform; arrays by input name in, by output name out.

    XLA adds sums in an order of its own and flushes subnormal numbers in them: it has neither another domain
    nor modes of accumulation, and it runs a graph as a whole, so nothing can watch it.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be {' or '.join(map(repr, ENGINES))}, not {engine!r}")
    if engine == "reference":
        return execute(graph, inputs, settings, watch)
    others = [name for name, default in _DEFAULTS.items() if getattr(settings, name) != default]
    others += [] if watch is None else ["watch"]
    if others:
        raise ValueError(f"the engine 'xla' cannot be told {', '.join(others)}: it has ways of its own")
    arrays = require_inputs(graph.inputs, inputs, settings.domain)
    require_memory(graph, settings)
    return xla.execute(graph, arrays)
