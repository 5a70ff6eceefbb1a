"""What a person does with a model in Python: load it, check it, normalize it, run it, save it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonnx import __version__
from sonnx.check.models import Checked, checked
from sonnx.engines import CompiledGraph, Engine, compile_graph, packed_constants, run_graph
from sonnx.evaluate.execution import (
    DEFAULT_MEMORY,
    Accumulate,
    Domain,
    ExecutedNode,
    Order,
    Settings,
)
from sonnx.load import reader, writer
from sonnx.load.limits import Limits
from sonnx.model import graph as model
from sonnx.normalize.changes import Change
from sonnx.normalize.passes import normalize_graph
from sonnx.numeric.arrays import Array
from sonnx.numeric.balls import DEFAULT_PRECISION
from sonnx.operators.rules.wording import count
from sonnx.report.text import cut, findings_text, printable
from sonnx.stablehlo.module import stablehlo
from sonnx.vocabulary.rule import Finding, RuleError

if TYPE_CHECKING:
    from sonnx.vocabulary.kernel import KernelStyle


@dataclass(frozen=True, repr=False)
class Graph(model.Graph):
    """A model with the things one does with it; `changes` lists what `normalize` did to get here."""

    changes: tuple[Change, ...] = ()

    @classmethod
    def of(
        cls, graph: model.Graph, changes: tuple[Change, ...] = (), verdict: Checked | None = None
    ) -> "Graph":
        """Take a graph from wherever it was made, with its verdict where somebody has checked it already."""
        values = {field.name: getattr(graph, field.name) for field in fields(model.Graph)}
        found = cls(**values, changes=changes)
        if verdict is not None:
            found.__dict__["_checked"] = verdict  # where the property below would keep it
        return found

    def __repr__(self) -> str:
        """Print what it is in short; the whole of it may be very long."""
        inputs = ", ".join(f"{value.name}: {value.type}" for value in self.inputs)
        return printable(cut(f"<Graph {self.name}({inputs}), {count(len(self.nodes), 'node')}>", 400))

    @cached_property
    def _checked(self) -> Checked:
        return checked(self)

    @property
    def broken_graph_rules(self) -> frozenset[str]:
        """The rules on models as a whole, such as graph.D14, that the model breaks."""
        return self._checked.broken

    def check(self) -> tuple[Finding, ...]:
        """List every rule of the profile that the model breaks; nothing where it conforms."""
        return self._checked.findings

    def normalize(self, dims: Mapping[str, int] | None = None) -> "Graph":
        """Make what ONNX leaves open explicit, without changing the meaning; `dims` fixes open sizes.

        The result's `changes` say what was done and why, its `check()` what is left. Raises ValueError where
        `dims` names no open size.
        """
        done = normalize_graph(self, dims, self.__dict__.get("_checked"))
        return Graph.of(done.graph, self.changes + done.changes, done.checked)

    def run(
        self,
        inputs: Mapping[str, Any],
        *,
        engine: Engine = "reference",
        domain: Domain = "ieee",
        accumulate: Accumulate = "separate",
        order: Order = "given",
        seed: int = 0,
        memory: int = DEFAULT_MEMORY,
        threads: int = 1,
        precision: int = DEFAULT_PRECISION,
        watch: Callable[[ExecutedNode], None] | None = None,
    ) -> dict[str, Array]:
        """Execute the model by its definitions: arrays by input name in, arrays by output name out.

        In the domain "ieee" every bit is specified, given the mode of accumulation; in "real" floats are
        lifted exactly and nothing is rounded: results are fractions, or a Ball where one is none, of which
        `precision` bits are calculated, and more wherever something hangs on them. `watch` is called after
        every node with an ExecutedNode. The engine "native" gives the same bits with compiled kernels on
        `threads` threads; "xla" compiles the model with the real XLA instead (with jax installed), which
        rounds sums in its own ways.

        Raises RuleError where the model does not conform, InputError where an array is not what the model
        takes, DomainError where an operator is not defined for an element or reals are too close to decide,
        MemoryLimitError where the tensors would take more than `memory` bytes; CompilerError where a C
        compiler fails; on XLA EngineError where it is missing or refuses, ExportError where it has no such
        type.
        """
        settings = Settings(domain, accumulate, order, seed, memory, precision)
        self._require_conforming()
        return run_graph(self, inputs, settings, engine=engine, threads=threads, watch=watch)

    def compile(
        self, *, accumulate: Accumulate = "separate", threads: int = 1, memory: int = DEFAULT_MEMORY
    ) -> CompiledGraph:
        """Make the model ready to run often and fast: a callable from a dict of arrays to a dict of arrays.

        Its results have the bits of `run`, whatever the number of threads. The first use of a kernel on a
        machine compiles it, which takes about a second; it is kept for the next time. On a machine without a
        C compiler the definitions are executed.

        Raises RuleError where the model does not conform, DomainError where its constants alone make every
        run stop, MemoryLimitError where the tensors would take more than `memory` bytes, CompilerError where
        a C compiler fails.
        """
        self._require_conforming()
        return compile_graph(self, accumulate, threads=threads, memory=memory)

    def to_stablehlo(self) -> str:
        """The model as text of MLIR in the StableHLO dialect, for XLA's compilers.

        Raises RuleError where the model does not conform, ExportError where XLA has no such type.
        """
        self._require_conforming()
        return stablehlo(self)

    def to_c(
        self,
        *,
        accumulate: Accumulate = "separate",
        kernels: "KernelStyle" = "plain",
        memory: int = DEFAULT_MEMORY,
        watch: Callable[[ExecutedNode], None] | None = None,
    ) -> dict[str, bytes]:
        """The model as a project in C99: the contents of its files by name, the same bytes every time.

        `plain` kernels are written to be read and proved, `fast` ones are those of the native engine. The
        project tests itself with vectors from the definitions; `watch` is called after every node of their
        runs.

        Raises RuleError where the model does not conform, EmitError where something has no place in C,
        MemoryLimitError where the tensors would take more than `memory` bytes, and for fast kernels
        CompilerError where there is no C compiler to pack the weights, DomainError where the constants alone
        make every run stop.
        """
        from sonnx.emit.project import project  # noqa: PLC0415  loaded by what needs it: a check does not

        self._require_conforming()
        settings = Settings(accumulate=accumulate, memory=memory)
        return project(
            self,
            lambda inputs: run_graph(self, inputs, settings, watch=watch),
            version=__version__,
            accumulate=accumulate,
            kernels=kernels,
            fold=lambda planned: packed_constants(planned, memory),
            changes=len(self.changes),
            memory=memory,
        )

    def _require_conforming(self) -> None:
        if findings := self.check():
            raise RuleError(findings, findings_text(findings))

    def save(self, path: str | Path) -> None:
        """Write the model to an ONNX file: the whole of it, or nothing."""
        if self.dialect != "onnx":
            raise ValueError("XLA operations have no place in an ONNX file; `to_stablehlo()` writes them")
        writer.save(self, path)


def load(path: str | Path, *, memory: int | None = None) -> Graph:
    """Read an ONNX file; what is wrong with the model is for `check` to say.

    Raises LoadError where the file holds no model at all. `memory` limits the bytes of its tensors (2 GiB).
    """
    return Graph.of(reader.load(path, Limits() if memory is None else Limits(memory)))
