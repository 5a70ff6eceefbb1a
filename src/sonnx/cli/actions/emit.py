"""What `sonnx emit` does. Nothing of a model is printed raw."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from sonnx.api import Graph, load
from sonnx.cli.findings import refuse
from sonnx.cli.terminal import (
    CONFORMS,
    FINDINGS,
    UNREADABLE,
    fail,
    fail_lines,
    highlighted,
    say,
    watched_console,
)
from sonnx.emit.project import require_new, write_folder
from sonnx.evaluate.execution import DEFAULT_MEMORY, Accumulate, ExecutedNode, MemoryLimitError
from sonnx.load.arrays import digest
from sonnx.native.compiler import ADVICE, CompilerError
from sonnx.numeric.environment import NotIeeeError
from sonnx.operators.rules.wording import count
from sonnx.report.text import printable
from sonnx.vocabulary.kernel import KernelStyle
from sonnx.vocabulary.rule import DomainError

PLAIN_ADVICE = "plain kernels (`--kernels plain`) need no compiler here, and give the same bits"


@dataclass(frozen=True)
class EmitOptions:
    """What `sonnx emit` was asked for."""

    output: Path
    accumulate: Accumulate
    kernels: KernelStyle
    normalize: bool
    dims: Mapping[str, int]
    memory: int | None


def emit_model(path: Path, options: EmitOptions) -> int:
    """Write a model as a C project."""
    output = options.output
    if output == Path("-"):
        return fail("a project is a folder of files, which `-` has no place for; name a new folder")
    try:
        require_new(output)
        graph = load(path, memory=options.memory)
        graph = graph.normalize(options.dims) if options.normalize else graph
        if graph.check():
            advice = "" if options.normalize else "; `--normalize` makes explicit what it can"
            refuse(path, graph, f"nothing was written{advice}", normalized=options.normalize)
            return FINDINGS
        files = _files(graph, options)
        write_folder(output, files)
    except DomainError as problem:  # the constants alone, which fast kernels have packed
        say(highlighted(str(problem), error=True), error=True)
        return UNREADABLE
    except MemoryLimitError as problem:
        return fail(f"{problem} (--memory)")
    except CompilerError as problem:
        return fail_lines(str(problem).replace(ADVICE, PLAIN_ADVICE))
    except (NotIeeeError, ValueError) as problem:  # a LoadError, an EmitError, or a size that nothing has
        return fail(str(problem))
    except OSError as problem:
        return fail(f"{output}: cannot be written: {problem.strerror}")
    size = sum(map(len, files.values()))
    say(printable(f"{output}: {count(len(graph.nodes), 'node')} as C, {len(files)} files, {size:,} bytes"))
    for name, content in files.items():
        say(f"sha256 {digest(content)}  {name}")
    say(f"model sha256 {graph.file_sha256}")
    say(printable(f"test it: make -C {quote(str(output))} test"))
    return CONFORMS


def _files(graph: Graph, options: EmitOptions) -> dict[str, bytes]:
    """The project; a bar shows how far the definitions are with the vectors of its test."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = watched_console()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("test vectors", total=None)

        def advance(step: ExecutedNode) -> None:
            progress.update(task, completed=step.number, total=step.total)

        return graph.to_c(
            accumulate=options.accumulate,
            kernels=options.kernels,
            memory=options.memory or DEFAULT_MEMORY,
            watch=advance,
        )
