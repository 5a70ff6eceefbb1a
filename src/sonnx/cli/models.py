"""What the commands on models do; each answers the exit code. Nothing of a model is printed raw."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from sonnx import __version__
from sonnx.api import Graph, load
from sonnx.evaluate.graphs import InputError, MemoryLimitError, Settings, Step, execute
from sonnx.load.arrays import (
    ArrayFileError,
    array_digest,
    digest,
    doubles,
    read_array,
    write_array,
)
from sonnx.load.limits import LoadError
from sonnx.load.whole_file import whole_file
from sonnx.model.rule import Finding
from sonnx.numeric.arrays import Array, describe
from sonnx.numeric.environment import NotIeeeError
from sonnx.operators import rules
from sonnx.operators.shared.predicates import count
from sonnx.report.changes import changes_text
from sonnx.report.findings_json import findings_json
from sonnx.report.sarif import sarif
from sonnx.report.text import findings_text, location_text, printable

CONFORMS, FINDINGS, UNREADABLE = 0, 1, 2
Format = Literal["text", "json", "sarif"]


def say(text: str, *, error: bool = False) -> None:
    """Print text for people; what the terminal's encoding lacks is escaped."""
    stream = sys.stderr if error else sys.stdout
    encoding = stream.encoding or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=error)


def fail(problem: object) -> int:
    """Say why nothing could be done."""
    say("\n".join(printable(line) for line in f"error: {problem}".splitlines()), error=True)
    return UNREADABLE


def _say_findings(findings: Sequence[Finding], *, error: bool = False) -> None:
    for line in findings_text(findings).splitlines():
        say(click.style(line, fg="red", bold=True) if line.startswith("error[") else line, error=error)


def _verdict(name: str, findings: Sequence[Finding]) -> str:
    if not findings:
        return printable(f"{name} conforms to the profile")
    broken = len({finding.rule for finding in findings})
    return printable(f"{name}: {count(len(findings), 'finding')}, {count(broken, 'rule')} broken")


def check_model(path: Path, form: Format, output: str | None, memory: int | None) -> int:
    """Check a model and print or write the report."""
    try:
        content = path.read_bytes() if path.is_file() else b""
        graph = load(path, memory=memory)
    except LoadError as problem:
        return fail(problem)
    except OSError as problem:
        return fail(f"{path}: cannot be read: {problem.strerror}")
    findings = graph.check()
    about: dict[str, Any] = {
        "file": str(path),
        "sha256": digest(content),
        "size": len(content),
        "version": __version__,
    }
    if form == "json":
        report = findings_json(findings, **about)
    elif form == "sarif":
        report = sarif(findings, rules(), **about)
    else:
        report = findings_text(findings)
    return _deliver(report, form, output, findings, str(path))


def _deliver(report: str, form: Format, output: str | None, findings: Sequence[Finding], name: str) -> int:
    verdict = _verdict(name, findings)
    if output not in (None, "-"):
        body = report if form != "text" else f"{report}\n\n{verdict}".lstrip()
        try:
            with whole_file(str(output)) as file:
                file.write(f"{body}\n".encode("utf-8", "backslashreplace"))
        except OSError as problem:
            return fail(f"{output}: cannot be written: {problem.strerror}")
        say(verdict)
    elif form == "text":
        if findings:
            _say_findings(findings)
            say("")
        say(click.style(verdict, bold=True))
    else:
        say(report)
    return FINDINGS if findings else CONFORMS


def normalize_model(path: Path, output: Path, dims: Mapping[str, int], memory: int | None) -> int:
    """Make a model conform, say what was changed, and write it if it does."""
    try:
        if output.exists() and output.samefile(path):
            return fail(f"{output} is the model itself, which is never changed; name another file")
        graph = load(path, memory=memory).normalize(dims)
    except LoadError as problem:
        return fail(problem)
    except OSError as problem:
        return fail(f"{path}: {problem.strerror}")
    except ValueError as problem:
        return fail(problem)
    if graph.changes:
        say(changes_text(graph.changes))
        say("")
    if graph.check():
        return _refuse(path, graph)
    try:
        graph.save(output)
    except OSError as problem:
        return fail(f"{output}: cannot be written: {problem.strerror}")
    except ValueError as problem:
        return fail(f"{output}: {problem}")
    written = digest(output.read_bytes())
    say(
        printable(
            f"{output} conforms to the profile; {count(len(graph.changes), 'change')}; sha256 {written}"
        )
    )
    return CONFORMS


def _refuse(path: Path, graph: Graph) -> int:
    """Say what is left that no change can mend without changing the meaning."""
    from sonnx.normalize.sizes import open_sizes  # noqa: PLC0415  only a refusal needs it

    _say_findings(graph.check(), error=True)
    say("", error=True)
    say(f"{_verdict(str(path), graph.check())}; nothing was written", error=True)
    sizes = open_sizes(graph)
    if sizes:
        options = " ".join(f"--dim {name}=SIZE" for name in sizes)
        say(printable(f"help: open sizes of the inputs can be fixed with {options}"), error=True)
    return FINDINGS


@dataclass(frozen=True)
class RunOptions:
    """What `sonnx run` was asked for."""

    inputs: Sequence[tuple[str, Path]]
    output_dir: Path | None
    normalize: bool
    dims: Mapping[str, int]
    trace: bool
    settings: Settings
    memory: int | None


def run_model(path: Path, options: RunOptions) -> int:
    """Run a model on arrays from files; print, and if asked write, what it computes."""
    try:
        graph = load(path, memory=options.memory)
        if options.normalize:
            graph = graph.normalize(options.dims)
        if graph.check():
            _say_findings(graph.check(), error=True)
            advice = "" if options.normalize else "; `--normalize` makes explicit what it can"
            say(f"\n{_verdict(str(path), graph.check())}; it was not run{advice}", error=True)
            return FINDINGS
        arrays = _read_inputs(graph, options.inputs)
        results = _executed(graph, arrays, options)
        _show(results, options)
    except (LoadError, InputError, ArrayFileError, MemoryLimitError, NotIeeeError, ValueError) as problem:
        return fail(problem)
    except OSError as problem:
        return fail(f"{problem.filename}: {problem.strerror}")
    return CONFORMS


def _read_inputs(graph: Graph, given: Sequence[tuple[str, Path]]) -> dict[str, Array]:
    types = {value.name: value.type for value in graph.inputs}
    arrays: dict[str, Array] = {}
    for name, file in given:
        if name in arrays:
            raise InputError(f"`{name}` is given twice")
        if name not in types:
            known = ", ".join(f"{key}: {kind}" for key, kind in types.items()) or "none"
            raise InputError(f"`{name}` is no input of the model\ninputs of the model: {known}")
        arrays[name] = read_array(file, types[name])
    return arrays


def _executed(graph: Graph, arrays: Mapping[str, Array], options: RunOptions) -> dict[str, Array]:
    if options.output_dir is not None:
        options.output_dir.mkdir(parents=True, exist_ok=True)
    if options.trace:
        return execute(graph, arrays, options.settings, _tracer(options))
    console = Console(stderr=True)
    if not console.is_terminal:
        return execute(graph, arrays, options.settings)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("running", total=len(graph.nodes))

        def advance(step: Step) -> None:
            progress.update(task, completed=step.number, total=step.total)

        return execute(graph, arrays, options.settings, advance)


def _tracer(options: RunOptions) -> Callable[[Step], None]:
    """Print every node as it is executed; with a folder for results, its tensors are written there too."""
    folder = None if options.output_dir is None else options.output_dir / "trace"
    if folder is not None:
        folder.mkdir(exist_ok=True)

    def trace(step: Step) -> None:
        say(printable(f"{step.number}/{step.total}  {location_text(step.location)}"))
        for name, array in step.results.items():
            say(f"   {_summary(name, array)}")
            if folder is not None:
                write_array(folder, f"{step.number:05d}-{name}", array)

    return trace


def _summary(name: str, array: Array) -> str:
    """One line about a tensor: its type, its range, and the digest of its elements."""
    kind, _ = describe(array)
    return printable(f"{name}: {kind}  {_range(doubles(array))}sha256 {array_digest(array)[:16]}")


def _range(array: Array) -> str:
    """The smallest and largest finite elements, and how many are not finite; nothing for text."""
    if array.dtype.kind in "OUc" or array.size == 0:
        return ""
    if array.dtype == np.dtype(bool):
        return f"{np.count_nonzero(array)} of {array.size} true  "
    finite = array[np.isfinite(array)]
    ends = f"{finite.min()} to {finite.max()}" if finite.size else "nothing finite"
    others = [(np.count_nonzero(np.isnan(array)), "NaN"), (np.count_nonzero(np.isinf(array)), "infinite")]
    return ", ".join([ends, *(f"{number} {what}" for number, what in others if number)]) + "  "


def _show(results: Mapping[str, Array], options: RunOptions) -> None:
    settings = options.settings
    sums = f", sums {settings.accumulate}" if settings.domain == "ieee" else ""
    order = settings.order if settings.order == "given" else f"random, seed {settings.seed}"
    say(f"domain {settings.domain}{sums}, order {order}")
    for name, array in results.items():
        say(_summary(name, array))
        if options.output_dir is not None:
            for file in write_array(options.output_dir, name, array):
                say(printable(f"   written to {file}"))
