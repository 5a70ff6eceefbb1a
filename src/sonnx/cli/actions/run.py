"""What `sonnx run` does. Nothing of a model is printed raw."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shlex import quote

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from sonnx import __version__
from sonnx.api import Graph, load
from sonnx.cli.files import is_same_file
from sonnx.cli.findings import refuse
from sonnx.cli.summary import argument
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
from sonnx.engines import NO_COMPILER, Engine, available_threads, compile_graph, run_graph
from sonnx.evaluate.execution import (
    ExecutedNode,
    InputError,
    MemoryLimitError,
    Settings,
    TooLongError,
)
from sonnx.load.arrays import array_digest, doubles, safe_name, write_array
from sonnx.load.npy import ArrayFileError, read_npy, read_npy_shape
from sonnx.model.tensor_type import TensorType
from sonnx.native.cache import cache_problem
from sonnx.native.compiler import CompilerError, find_compiler
from sonnx.normalize.for_arrays import sized
from sonnx.numeric.arrays import Array, describe
from sonnx.numeric.balls import DEFAULT_PRECISION, UndecidedError
from sonnx.numeric.environment import NotIeeeError
from sonnx.operators.rules.wording import count
from sonnx.report.text import inputs_text, location_text, printable, short
from sonnx.stablehlo.engine import EngineError
from sonnx.vocabulary.rule import DomainError

# Of sizes that one line names.
_MOST_SIZES = 8
_LONGEST_BINDING = 300


@dataclass(frozen=True)
class RunOptions:
    """What `sonnx run` was asked for; each of `inputs` is `NAME=FILE`."""

    inputs: Sequence[str]
    output_dir: Path | None
    normalize: bool
    dims: Mapping[str, int]
    trace: bool
    settings: Settings
    memory: int | None
    engine: Engine = "reference"
    threads: int | None = None


@dataclass(frozen=True)
class _Taken:
    """Open sizes that the arrays have, and names that the model gives to axes of which an array's differ."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    apart: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def run_model(path: Path, options: RunOptions) -> int:
    """Run a model on arrays from files; print, and if asked write, what it computes."""
    try:
        graph = load(path, memory=options.memory)
        taken = _Taken()
        if options.normalize:
            graph, taken = _normalized(graph, options)
        if graph.check():
            advice = "" if options.normalize else "; `--normalize` makes explicit what it can"
            sizes = () if options.normalize else _sizes_from_arrays(path, graph, options)
            refuse(path, graph, f"it was not run{advice}", normalized=options.normalize, sizes=sizes)
            return FINDINGS
        if graph.changes:
            say(f"normalized: {count(len(graph.changes), 'change')}, which `sonnx normalize` lists")
        if taken.sizes:
            say(printable(f"open sizes of the arrays: {_sizes_text(taken.sizes)}"))
        _require_apart(path, graph, options)
        arrays = _read_inputs(graph, options, taken)
        results, engine = _executed(graph, arrays, options)
        say(f"sonnx {__version__}, model sha256 {graph.file_sha256}")
        say(engine)
        _show(results, options)
    except InputError as problem:
        return fail_lines(str(problem))
    except DomainError as problem:
        say(highlighted(str(problem), error=True), error=True)
        return UNREADABLE
    except TooLongError as problem:  # no memory would be enough
        return fail(str(problem))
    except MemoryLimitError as problem:
        return fail(f"{problem} (--memory)")
    except CompilerError as problem:
        return fail_lines(str(problem))
    # A ValueError may be a LoadError; reals may lie between two doubles.
    except (EngineError, NotIeeeError, UndecidedError, ValueError) as problem:
        return fail(str(problem))
    except OSError as problem:
        return fail(f"{problem.filename or 'writing'}: {problem.strerror}")
    return CONFORMS


def _normalized(graph: Graph, options: RunOptions) -> tuple[Graph, _Taken]:
    """The model made to conform, for the sizes that are given and otherwise for those of the arrays."""
    types = {value.name: value.type for value in graph.inputs}
    if all(kind.sizes is not None for kind in types.values()):
        return graph.normalize(options.dims), _Taken()
    files, problems = _bound(options.inputs, types)
    if problems:
        raise InputError("\n".join(map(printable, [*problems, inputs_text(types.items())])))
    shapes: dict[str, tuple[int, ...]] = {}
    for name, file in files.items():
        try:
            shapes[name] = read_npy_shape(file)
        except ArrayFileError as problem:
            problems.append(printable(f"`{short(name)}`: {problem}"))
    if problems:
        raise InputError("\n".join(problems))
    found = sized(graph, shapes, options.dims)
    taken = _Taken(found.sizes, found.apart)
    return Graph.of(found.graph).normalize({**options.dims, **found.sizes}), taken


def _sizes_from_arrays(path: Path, graph: Graph, options: RunOptions) -> list[str]:
    """The command that takes open sizes from the arrays; nothing where none are open."""
    names = [value.name for value in graph.inputs]
    if all(value.type.sizes is not None for value in graph.inputs):
        return []
    given = options.inputs or [f"{name}=FILE" for name in names]
    if len(given) > _MOST_SIZES or any(len(one) > _LONGEST_BINDING for one in given):
        return ["help: `--normalize` takes open sizes from the arrays of `--input`"]
    bindings = [f"--input {quote(one)}" for one in given]
    command = " ".join(["sonnx run", argument(path), "--normalize", *bindings])
    return [printable(f"help: `{command}` takes the open sizes from the arrays")]


def _sizes_text(sizes: Mapping[str, int]) -> str:
    few = [f"{short(name)} = {size}" for name, size in list(sizes.items())[:_MOST_SIZES]]
    return ", ".join([*few, "..."] if len(sizes) > _MOST_SIZES else few)


def _require_apart(path: Path, graph: Graph, options: RunOptions) -> None:
    """Refuse to write a result, whose name the model chose, over the model or over what it is run on."""
    if options.output_dir is None:
        return
    types = {value.name: value.type for value in graph.inputs}
    precious = [path, *map(Path, graph.external_files), *_bound(options.inputs, types)[0].values()]
    for value in graph.outputs:
        for suffix in (".npy", ".json"):
            target = options.output_dir / f"{safe_name(value.name)}{suffix}"
            if any(is_same_file(target, file) for file in precious):
                raise ValueError(f"{target} would be overwritten; name another folder for the results")


def _read_inputs(graph: Graph, options: RunOptions, taken: _Taken) -> dict[str, Array]:
    types = {value.name: value.type for value in graph.inputs}
    files, problems = _bound(options.inputs, types)
    misnamed = bool(problems)
    arrays: dict[str, Array] = {}
    for name, file in files.items():
        try:
            arrays[name] = read_npy(file, types[name], options.settings.memory)
        except ArrayFileError as problem:
            problems.append(f"`{short(name)}`: {problem}")
    if problems:
        missing = [name for name in types if not any(map(partial(_names, name), options.inputs))]
        problems += [f"`{short(name)}` is missing; it must be {short(types[name])}" for name in missing]
        if misnamed or missing:
            problems.append(inputs_text(types.items()))
        if taken.sizes:
            text = _sizes_text(taken.sizes)
            problems.append(f"open sizes are those of the arrays: {text}; --dim gives others")
        problems += [_apart_text(name, axes) for name, axes in taken.apart.items()]
        raise InputError("\n".join(map(printable, problems)))
    return arrays


def _apart_text(name: str, axes: Mapping[str, int]) -> str:
    """How axes are told apart to which the model gives one name; axes of an array are few."""
    options = " ".join(f"--dim {quote(f'{axis}={size}')}" for axis, size in axes.items())
    told = "" if len(options) > _LONGEST_BINDING else f": {options} sets them apart"
    named = " and ".join(map(short, list(axes)[:_MOST_SIZES]))
    return f"the model gives {named} one name, `{short(name)}`{told}"


def _names(name: str, binding: str) -> bool:
    """Tell whether a `NAME=FILE` can mean an input; names as well as files may hold `=`."""
    return binding.startswith(f"{name}=")


def _bound(bindings: Sequence[str], types: Mapping[str, TensorType]) -> tuple[dict[str, Path], list[str]]:
    """The file for each input, and every binding that says nothing of the kind."""
    files: dict[str, Path] = {}
    problems = []
    for binding in bindings:
        meant = [name for name in types if _names(name, binding)]
        if not meant:
            problems.append(f"`{short(binding.partition('=')[0])}` is no input of the model")
        elif len(meant) > 1:
            problems.append(f"{short(repr(binding))} could mean several inputs of the model; rename the file")
        elif meant[0] in files:
            problems.append(f"`{short(meant[0])}` is given twice")
        else:
            files[meant[0]] = Path(binding[len(meant[0]) + 1 :])
    return files, problems


def _executed(graph: Graph, arrays: Mapping[str, Array], options: RunOptions) -> tuple[dict[str, Array], str]:
    """The results, and what made them; a folder for results that there are not is not left behind."""
    folder = options.output_dir
    if folder is None:
        return _made(graph, arrays, options)
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return _made(graph, arrays, options)
    except BaseException:
        with suppress(OSError):  # as where a trace has been written already
            if is_new:
                folder.rmdir()
        raise


def _made(graph: Graph, arrays: Mapping[str, Array], options: RunOptions) -> tuple[dict[str, Array], str]:
    if options.engine == "native":
        if (compiler := find_compiler()) is not None:
            return _compiled(graph, arrays, options, Path(compiler.command[0]).name)
        say(f"note: {NO_COMPILER}", error=True)
    if options.engine == "xla":
        results = run_graph(graph, arrays, options.settings, engine="xla")
        return (
            results,
            "engine xla: results that are calculated flush subnormal floats; convolutions are summed in its "
            "own order",
        )
    watch = _tracer(options) if options.trace else None
    return _defined(
        graph, arrays, options.settings, watch
    ), f"engine reference, {_settings(options.settings)}"


def _defined(
    graph: Graph,
    arrays: Mapping[str, Array],
    settings: Settings,
    watch: Callable[[ExecutedNode], None] | None,
) -> dict[str, Array]:
    """Execute the definitions; where nothing else is printed meanwhile, a bar shows how far they are."""
    console = watched_console()
    if watch is not None or not console.is_terminal:
        return run_graph(graph, arrays, settings, watch=watch)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("running", total=len(graph.nodes))

        def advance(step: ExecutedNode) -> None:
            progress.update(task, completed=step.number, total=step.total)

        return run_graph(graph, arrays, settings, watch=advance)


def _compiled(
    graph: Graph, arrays: Mapping[str, Array], options: RunOptions, compiler: str
) -> tuple[dict[str, Array], str]:
    """Run with compiled kernels."""
    settings, threads = options.settings, options.threads or available_threads()
    if (problem := cache_problem()) is not None:
        say(f"note: compiled kernels are not kept for the next run: {problem}", error=True)
    compiled = compile_graph(graph, settings.accumulate, threads=threads, memory=settings.memory)
    results = compiled(arrays)
    engine = f"engine native, {count(threads, 'thread')}, kernels by {compiler}, {_settings(settings)}"
    memory = (
        f"{compiled.arena_bytes:,} bytes for tensors between nodes, {compiled.constant_bytes:,} for constants"
    )
    return results, f"{printable(engine)}\n   {memory}"


def _tracer(options: RunOptions) -> Callable[[ExecutedNode], None]:
    """Print every node as it is executed; with a folder for results, its tensors are written there too."""
    folder = None if options.output_dir is None else options.output_dir / "trace"
    if folder is not None:
        folder.mkdir(exist_ok=True)

    def trace(step: ExecutedNode) -> None:
        say(printable(f"{step.number}/{step.total}  {_place(step, options)}"))
        for name, array in step.results.items():
            say(f"   {_summary(name, array)}sha256 {array_digest(array)[:16]}")
            if folder is not None:
                write_array(folder, f"{step.number:05d}-{name}", array)

    return trace


def _place(step: ExecutedNode, options: RunOptions) -> str:
    """Where the model's file has a node; what normalizing has added is in no file and has no number."""
    if options.normalize and step.node.origin is None:
        return f"new {location_text(replace(step.location, index=None, file=''))}"
    return location_text(step.location)


def _summary(name: str, array: Array) -> str:
    """What a tensor is in short: its type and its range."""
    kind, _ = describe(array)
    return printable(f"{short(name)}: {kind}  {_range(doubles(array))}")


def _digest(array: Array) -> str:
    """The digest of a result, and of which bytes it is."""
    texts = array.dtype == np.dtype(object)
    of = "as texts in a JSON list" if texts else "little-endian, C order"
    return f"sha256 {array_digest(array)} (elements, {of})"


def _range(array: Array) -> str:
    """The smallest and largest finite elements, and how many are not finite; nothing for text."""
    if array.dtype.kind in "OUc" or array.size == 0:
        return ""
    if array.dtype == np.dtype(bool):
        return f"{np.count_nonzero(array)} of {array.size} true  "
    finite = array[np.isfinite(array)]
    # As text, not formatted: that would show a float with the digits of a double.
    ends = f"{finite.min()!s} to {finite.max()!s}" if finite.size else "nothing finite"
    others = [(np.count_nonzero(np.isnan(array)), "NaN"), (np.count_nonzero(np.isinf(array)), "infinite")]
    return ", ".join([ends, *(f"{number} {what}" for number, what in others if number)]) + "  "


def _show(results: Mapping[str, Array], options: RunOptions) -> None:
    for name, array in results.items():
        say(_summary(name, array).rstrip())
        say(f"   {_digest(array)}")
        if options.output_dir is not None:
            for file in write_array(options.output_dir, name, array):
                say(printable(f"   written to {file}"))


def _settings(settings: Settings) -> str:
    sums = f", sums {settings.accumulate}" if settings.domain == "ieee" else ""
    order = "" if settings.order == "given" else f", order random, seed {settings.seed}"
    bits = "" if settings.precision == DEFAULT_PRECISION else f", precision {settings.precision}"
    return f"domain {settings.domain}{sums}{bits}{order}"
