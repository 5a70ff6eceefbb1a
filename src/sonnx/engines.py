"""Which engine executes a graph: the definitions themselves, compiled kernels, or the real XLA."""

import os
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sonnx.evaluate.execution import (
    DEFAULT_MEMORY,
    Accumulate,
    ExecutedNode,
    MemoryLimitError,
    Settings,
    execute,
    require_inputs,
    require_memory,
)
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.operators.rules.wording import count
from sonnx.stablehlo import engine as xla

if TYPE_CHECKING:
    from sonnx.native.engine import Executable
    from sonnx.plan.program import Program

Engine = Literal["reference", "native", "xla"]
ENGINES: tuple[Engine, ...] = ("reference", "native", "xla")
MOST_THREADS = 256
NO_COMPILER = "no C compiler was found, so the definitions themselves are executed: slower, the same bits"


class NoCompilerWarning(UserWarning):
    """A graph was to be compiled, and there is no compiler."""


_DEFAULTS = {
    name: getattr(Settings(), name) for name in ("domain", "accumulate", "order", "seed", "precision")
}
# What each engine cannot be told; for the others a choice would be silently without effect.
_REFUSED = {"reference": (), "native": ("domain", "order", "seed", "precision"), "xla": tuple(_DEFAULTS)}


def run_graph(
    graph: Graph,
    inputs: Mapping[str, Any],
    settings: Settings,
    *,
    engine: Engine = "reference",
    threads: int = 1,
    watch: Callable[[ExecutedNode], None] | None = None,
) -> dict[str, Array]:
    """Execute a graph that has been found to conform; arrays by input name in, by output name out.

    Compiled kernels give the bits of the definitions, in the domain "ieee"; XLA adds sums in an order of its
    own and flushes subnormal numbers in them, so it has no modes of accumulation. Both run a graph as a
    whole: nothing can watch them.
    """
    if engine not in ENGINES:
        *others, last = map(repr, ENGINES)
        raise ValueError(f"engine must be {', '.join(others)} or {last}, not {engine!r}")
    refused = [name for name in _REFUSED[engine] if getattr(settings, name) != _DEFAULTS[name]]
    refused += ["watch"] if watch is not None and engine != "reference" else []
    if threads != 1 and engine != "native":
        raise ValueError(f"only the engine 'native' runs on several threads, not {engine!r}")
    if refused:
        raise ValueError(f"the engine {engine!r} cannot be told {', '.join(refused)}: it has ways of its own")
    if engine == "reference":
        return execute(graph, inputs, settings, watch)
    if engine == "native":
        compiled = compile_graph(
            graph, settings.accumulate, threads=threads, memory=settings.memory, callers=4
        )
        return compiled(inputs)
    arrays = require_inputs(graph.inputs, inputs, settings.domain)
    require_memory(graph, settings)
    return xla.execute(graph, arrays)


class CompiledGraph:
    """A graph made ready to run: call it with a dict of arrays, as often as you like.

    `engine` is "native", or "reference" on a machine without a C compiler. `arena_bytes` is the memory that
    tensors between nodes share, `constant_bytes` that of the weights in the form in which they are used.
    """

    def __init__(
        self, graph: Graph, settings: Settings, executable: "Executable | None", threads: int
    ) -> None:
        """Keep what a run needs; `executable` is missing where there is no compiler."""
        self.graph = graph
        self.accumulate = settings.accumulate
        self.threads = threads
        self.engine: Engine = "reference" if executable is None else "native"
        self.arena_bytes = 0 if executable is None else executable.arena_bytes
        self.constant_bytes = 0 if executable is None else executable.constant_bytes
        self._settings = settings
        self._executable = executable
        self._wanted = {
            value.name: (numpy_dtype(value.type.dtype), value.type.sizes)
            for value in graph.inputs
            if value.type.dtype not in (None, DType.STRING)
        }

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """Run the model: arrays by input name in, arrays by output name out.

        Raises InputError where an array is not what the model takes, NotIeeeError where the process does not
        compute as IEEE 754 says.
        """
        if self._executable is None:
            return execute(self.graph, inputs, self._settings)
        arrays = inputs if self._fits(inputs) else require_inputs(self.graph.inputs, inputs, "ieee")
        return self._executable.run(arrays)

    def _fits(self, inputs: Mapping[str, Any]) -> bool:
        """Tell at a glance that all is well; what is not is looked at closely."""
        if type(inputs) is not dict or len(inputs) != len(self._wanted):
            return False
        # A plain loop: of a small model, this is a good part of its time.
        for name, (dtype, sizes) in self._wanted.items():
            array = inputs.get(name)
            if type(array) is not np.ndarray or array.dtype != dtype or array.shape != sizes:
                return False
        return True

    def __repr__(self) -> str:
        """Print what it is in short."""
        if self._executable is None:
            return "<CompiledGraph without compiled kernels: there is no C compiler>"
        threads = count(self.threads, "thread")
        return f"<CompiledGraph on {self.engine}, {threads}, arena of {self.arena_bytes:,} bytes>"


def compile_graph(
    graph: Graph,
    accumulate: Accumulate = "separate",
    *,
    threads: int = 1,
    memory: int = DEFAULT_MEMORY,
    callers: int = 3,
) -> CompiledGraph:
    """Plan a graph that has been found to conform, and compile what it calls.

    `callers` says how far up the one stands whom a warning is for.
    Raises CompilerError where the compiler fails, MemoryLimitError where it would need too much.
    """
    settings = Settings(accumulate=accumulate, memory=memory)
    if not isinstance(threads, int) or isinstance(threads, bool) or not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"threads must be an integer from 1 to {MOST_THREADS}, not {threads!r}")
    # What compiles is loaded by what needs it: a check does not.
    from sonnx.native.compiler import find_compiler  # noqa: PLC0415  see above
    from sonnx.native.engine import Executable  # noqa: PLC0415  see above
    from sonnx.native.machine import vector_bytes  # noqa: PLC0415  see above
    from sonnx.plan.program import program  # noqa: PLC0415  see above

    if find_compiler() is None:
        warnings.warn(NO_COMPILER, NoCompilerWarning, stacklevel=callers)
        require_memory(graph, settings)
        return CompiledGraph(graph, settings, None, threads)
    planned = program(graph, accumulate, threads=threads, vector_bytes=vector_bytes())
    _require_memory(planned, memory)
    if planned.defines:
        require_memory(graph, settings)
    return CompiledGraph(graph, settings, Executable(planned), threads)


def _require_memory(planned: "Program", memory: int) -> None:
    """Refuse a program whose buffers would exceed the limit, before any of them is made."""
    from sonnx.plan.slots import assign  # noqa: PLC0415  as above

    arena = sum(size for _, size in assign(planned.temporaries()).sizes)
    outside = [
        *planned.constants,
        *planned.folded,
        *(value.name for value in (*planned.inputs, *planned.outputs)),
    ]
    most = arena + sum(planned.buffers[name].bytes for name in outside)
    if most > memory:
        raise MemoryLimitError(
            f"running the model takes up to {most:,} bytes for tensors, allowed are {memory:,}; "
            "allow more if the machine has it"
        )


def packed_constants(planned: "Program", memory: int) -> Mapping[str, Array]:
    """The constants that the steps of a program read, those included that follow from constants alone.

    Raises CompilerError where there are no kernels to pack them, MemoryLimitError where they take too much.
    """
    from sonnx.native.engine import Executable  # noqa: PLC0415  as above

    _require_memory(planned, memory)
    return Executable(planned).constants


def available_threads() -> int:
    """The processors that this process may use, and the engine can."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(found, MOST_THREADS)
