"""The command line. Every command loads what it needs when it runs, so that `--help` is quick."""

import sys
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sonnx import __version__
from sonnx.cli import completion
from sonnx.cli.terminal import colourful, escaped, fail, interrupted, noted_interrupts, prepare, say

if TYPE_CHECKING:
    from rich.console import Console

    from sonnx.engines import Engine
    from sonnx.evaluate.graphs import Settings

# Exit codes above it tell of signals already.
_BY_A_SIGNAL = 128
# What a pipe or a file gets; a terminal gets its own width.
_WIDTH = 110


def _console() -> "Console":
    from rich.console import Console  # noqa: PLC0415  rich is loaded by the commands that print with it

    terminal = sys.stdout is not None and sys.stdout.isatty()
    coloured = colourful(error=False)
    return Console(
        width=None if terminal else _WIDTH,
        highlight=False,
        force_terminal=terminal or coloured,
        no_color=not coloured,
    )


class _Commands(click.Group):
    """All commands; whatever happens to them, a user sees a sentence."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run what was typed; an interrupt is never taken for a verdict, whoever has swallowed it."""
        with noted_interrupts() as interrupts:
            try:
                return super().main(*args, **extra)
            except SystemExit as end:
                if not interrupts or (isinstance(end.code, int) and end.code > _BY_A_SIGNAL):
                    raise
            except Exception:  # an extension that was being imported makes an ImportError of it
                if not interrupts:
                    raise
            sys.exit(interrupted())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options before the name of a command."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise _shown(error) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run one command."""
        prepare()
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise _shown(error) from None
        except KeyboardInterrupt:
            sys.exit(interrupted())
        except MemoryError:
            sys.exit(fail("the machine has not enough memory for this; `--memory` limits what is tried"))
        except OSError as error:
            sys.exit(fail(f"cannot print: {error.strerror}"))


def _shown(error: click.UsageError) -> click.UsageError:
    """What a user typed is repeated without anything that a terminal would obey."""
    text = error.format_message()
    return error if escaped(text) == text else click.UsageError(escaped(text), error.ctx)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="sonnx %(version)s")
def main() -> None:
    """The safety-related ONNX profile as an executable specification."""


@main.command()
def tour() -> None:
    """Show the operators at work."""
    from sonnx.tour import print_tour  # noqa: PLC0415  see above

    print_tour(_console())


@main.command()
@click.argument("operator", required=False, shell_complete=completion.GROUPS)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The list for people, or for scripts.",
)
def rules(operator: str | None, form: str) -> None:
    """List the rules, or those of one OPERATOR.

    OPERATOR is a name such as Conv or xla.Clamp, `general` for the rules on every operator, `graph` for those
    on a model as a whole, or `xla` for those on all XLA operations.
    """
    from sonnx.operators import rules as listed  # noqa: PLC0415  see above
    from sonnx.report.rules import rules_json, rules_table  # noqa: PLC0415  see above

    try:
        found = listed(operator)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if form == "json":
        say(rules_json(found, __version__).rstrip("\n"))
        return
    _console().print(rules_table(found))


@main.command()
@click.argument("rule", shell_complete=completion.RULES)
def explain(rule: str) -> None:
    """Explain one RULE, such as conv.pads.C2, or a ruling, such as D-GRAPH-3.

    Prints what the rule says, why, and an example that breaks it; of a ruling, the rules that follow from it
    and the pages on which it stands.
    """
    from sonnx.cli.explaining import explained  # noqa: PLC0415  see above

    try:
        parts = explained(rule)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for part in parts:
        _console().print(part)


def _dims(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, int]:
    """Read every `NAME=SIZE`; a name may itself hold `=`."""
    dims: dict[str, int] = {}
    for value in values:
        name, equals, size = value.rpartition("=")
        if not (equals and name):
            raise click.BadParameter(f"{value!r} is not of the form NAME=SIZE", ctx, param)
        if not (size.isascii() and size.isdecimal() and len(size) <= _LONGEST_SIZE):
            raise click.BadParameter(f"the size in {value!r} is no integer from 0 to 2147483647", ctx, param)
        if dims.setdefault(name, int(size)) != int(size):
            raise click.BadParameter(f"{name!r} is given as {dims[name]} and as {int(size)}", ctx, param)
    return dims


def _bytes(ctx: click.Context, param: click.Parameter, value: float | None) -> int | None:
    """Read a number of GiB as bytes."""
    if value is not None and not (isfinite(value) and value * 2**30 >= 1):
        raise click.BadParameter(f"{value} is no amount of memory", ctx, param)
    return None if value is None else int(value * 2**30)


class _Seconds(click.FloatRange):
    """A time that ends: NaN lies in every range, and infinity in one without an end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number of seconds."""
        found: float = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return found


# Sizes end below 2^31, which has ten digits.
_LONGEST_SIZE = 10

_MODEL = click.argument("model", type=click.Path(path_type=Path))
_DIMS = click.option(
    "--dim",
    "dims",
    multiple=True,
    metavar="NAME=SIZE",
    callback=_dims,
    help="Fix an open size of the inputs, by its name or as INPUT[AXIS]. May be repeated.",
)
_MEMORY = click.option(
    "--memory",
    type=float,
    metavar="GIB",
    callback=_bytes,
    help="Memory that the tensors may take, in GiB (2 to load a model, 4 to run it).",
)
_NORMALIZE = click.option(
    "--normalize", is_flag=True, help="Make the model conform first, as `sonnx normalize` does."
)
_ACCUMULATE = click.option(
    "--accumulate",
    type=click.Choice(["separate", "fused"]),
    default="separate",
    show_default=True,
    help="How sums are rounded in IEEE arithmetic: after each product and each addition, or once for both.",
)
_OPERATORS = click.option(
    "--operator",
    "operators",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.JUDGED,
    help="An operator, such as Clip or xla.Clamp. May be repeated; all without it.",
)
_TYPES = click.option(
    "--type",
    "types",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.TYPES,
    help="An element type, such as float. May be repeated.",
)
_SEED = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws what is random."
)
_JOBS = click.option(
    "--jobs", type=click.IntRange(1, 256), metavar="N", help="Processes at once (one for each processor)."
)
_DASK = click.option(
    "--dask", metavar="SCHEDULER", help="Spread the work over a Dask cluster, such as tcp://host:8786."
)
_BRIEF = click.option("--brief", is_flag=True, help="Print one line per rule.")
_ALL = click.option("--all", "every", is_flag=True, help="Print everything, however much that is.")


def _detail(brief: bool, every: bool) -> Any:
    """How much is told, as the commands on models call it."""
    if brief and every:
        raise click.UsageError("--brief and --all contradict one another; give one")
    return "brief" if brief else "all" if every else "grouped"


@main.command(short_help="Check whether models lie in the profile.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="The report for people, for scripts (json), or for code hosts and editors (sarif).",
)
@click.option("-o", "--output", metavar="FILE", help="Write the report to FILE instead of printing it.")
@_ALL
@_BRIEF
@_MEMORY
def check(models: tuple[Path, ...], brief: bool, every: bool, **options: Any) -> None:
    """Check whether each MODEL, an ONNX file, lies in the profile.

    Prints the operators outside the profile, then every broken rule with its first places, the values that
    show it and what to do; what only follows from another finding is counted there. --all prints every
    finding at every place, as json and sarif always do. Exits with 0 if all models conform, 1 if there are
    findings, 2 if a file cannot be read.
    """
    from sonnx.cli.models import CheckOptions, check_models  # noqa: PLC0415  see above

    if brief and options["form"] != "text":
        raise click.UsageError(f"--brief is for text; {options['form']} lists every finding")
    sys.exit(check_models(models, CheckOptions(detail=_detail(brief, every), **options)))


@main.command(short_help="Write MODEL so that it conforms, without changing its meaning.")
@_MODEL
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Where the model goes.",
)
@_DIMS
@_ALL
@_BRIEF
@_MEMORY
def normalize(model: Path, output: Path, dims: dict[str, int], memory: int | None, **how: bool) -> None:
    """Write MODEL to OUT so that it conforms, without changing its meaning.

    What ONNX leaves to defaults is written out, broadcasting becomes Expand, functions are inlined, types are
    inferred. Prints every change with its reason. Exits with 1, and writes nothing, if something is left
    that cannot be mended this way, and then counts many changes by rule (--all prints all); MODEL itself is
    never touched.
    """
    from sonnx.cli.models import normalize_model  # noqa: PLC0415  see above

    sys.exit(normalize_model(model, output, dims, memory, _detail(**how)))


@main.command(short_help="Write MODEL as StableHLO, for XLA's compilers.")
@_MODEL
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE.mlir",
    type=click.Path(path_type=Path),
    help="Where the text goes; - prints it.",
)
@_NORMALIZE
@_DIMS
@_MEMORY
def export(model: Path, output: Path, normalize: bool, dims: dict[str, int], memory: int | None) -> None:
    """Write MODEL to FILE.mlir as text of MLIR in the StableHLO dialect, for XLA's compilers.

    The meaning of every operator is spelled out, with its rules on NaN and zeros; only how the sums of a
    convolution are rounded is left to XLA. A model outside the profile is refused with its findings and exit
    code 1, and nothing is written; what cannot be read or exported at all has exit code 2.
    """
    from sonnx.cli.models import export_model  # noqa: PLC0415  see above

    if dims and not normalize:
        raise click.UsageError("--dim changes the model; say --normalize too")
    sys.exit(export_model(model, output, dims if normalize else None, memory))


@main.command(short_help="Write MODEL as a C project, for a target.")
@_MODEL
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the project; it must be new or empty.",
)
@_ACCUMULATE
@click.option(
    "--kernels",
    type=click.Choice(["plain", "fast"]),
    default="plain",
    show_default=True,
    help="C to be read and proved, or C with vector extensions of gcc and clang.",
)
@_NORMALIZE
@_DIMS
@_MEMORY
def emit(model: Path, memory: int | None, **options: Any) -> None:
    """Write MODEL to DIR as a project in C99 that computes the specified bits.

    The project has a function per node, the weights, and a test whose vectors come from the definitions:
    `make test` in DIR compiles it, with any CC and CFLAGS, and compares every bit. A model outside the
    profile is refused with its findings and exit code 1, and nothing is written; what cannot be read, emitted
    or written at all has exit code 2.
    """
    from sonnx.cli.emitting import EmitOptions, emit_model  # noqa: PLC0415  see above

    if options["dims"] and not options["normalize"]:
        raise click.UsageError("--dim changes the model; say --normalize too")
    sys.exit(emit_model(model, EmitOptions(memory=memory, **options)))


@main.command(short_help="Prove the theories of the operators, or an emitted project.")
@click.argument("names", nargs=-1, metavar="[DIR | NAME...]", shell_complete=completion.theories)
@click.option("--operators", is_flag=True, help="Prove the theories of all operators, or those named.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The report for people, or for scripts.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the report to FILE; the text is printed too.")
@click.option("--junit", metavar="FILE", help="Write the goals to FILE as JUnit XML too.")
@click.option("--jobs", type=click.IntRange(1, 256), metavar="N", help="Provers at once (all processors).")
@click.option(
    "--timeout",
    type=click.IntRange(1, 3600),
    default=10,
    show_default=True,
    metavar="SECONDS",
    help="How long one prover may take for one goal; in C, what is left then is tried four times as long.",
)
@click.option("--no-cache", is_flag=True, help="Prove everything anew, and remember nothing.")
def prove(names: tuple[str, ...], operators: bool, no_cache: bool, **options: Any) -> None:
    """Prove the C in DIR, written by `sonnx emit`, or with --operators the theories of the operators.

    Every goal is given to one prover after the other; what is proved is remembered. Exits with 0 if all goals
    are proved and no contradiction is found, 1 if not, 2 if nothing could be tried, such as without the
    tools: why3, frama-c, z3 and cvc4.
    """
    from sonnx.cli.proving import ProveOptions, prove_asked  # noqa: PLC0415  see above

    if not operators and len(names) != 1:
        raise click.UsageError("name one folder, or say --operators")
    sys.exit(prove_asked(ProveOptions(operators=operators, names=names, cache=not no_cache, **options)))


@main.command(short_help="Judge a runtime by the specification.")
@click.argument("runtime", required=False, shell_complete=completion.RUNTIMES)
@click.option(
    "--command",
    metavar="LINE",
    help="Judge a program instead: a command line with {model}, {inputs} and {outputs}, which become paths.",
)
@click.option(
    "--alive",
    is_flag=True,
    help="The program of --command is started once: it reads the paths of each case as a line, with tabs "
    "between them, and answers `ok` or `refused` and why.",
)
@click.option("--name", metavar="TEXT", help="What the report calls the runtime, in place of its own name.")
@click.option(
    "--option", "pairs", multiple=True, metavar="NAME=VALUE", help="Tell the runtime, such as level=none."
)
@_OPERATORS
@_TYPES
@click.option(
    "--sums",
    type=click.Choice(["free", "separate", "fused"]),
    default="free",
    show_default=True,
    help="Sums in any order, inside the enclosure of the exact result, or with the bits of a mode.",
)
@click.option("--seconds", type=_Seconds(0), metavar="N", help="Search for so long, after the vectors.")
@click.option(
    "--examples", type=click.IntRange(0), metavar="N", help="Search so many cases per type instead (100)."
)
@_SEED
@click.option("--timeout", type=_Seconds(0.01), default=20, show_default=True, help="Seconds for one answer.")
@click.option(
    "--memory",
    type=float,
    default=4,
    show_default=True,
    metavar="GIB",
    callback=_bytes,
    help="Memory that the runtime may take for an answer, in GiB.",
)
@_JOBS
@_DASK
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write report.html, report.json, junit.xml and the smallest examples as files.",
)
def conformance(
    runtime: str | None, command: str | None, alive: bool, pairs: Sequence[str], **options: Any
) -> None:
    """Judge RUNTIME by the specification: frozen vectors first, then a search that shrinks what it finds.

    RUNTIME is onnxruntime, reference-evaluator, jax, emx, native, reference, emitted, or any backend or
    runtime as module:attribute. It runs in processes of its own; a crash or a hang is a verdict. Exits with 0
    if everything that it supports conforms, 1 if something departs or crashes, 2 if it could not be judged.
    """
    from sonnx.cli.judging import ConformanceOptions, conformance_asked, told  # noqa: PLC0415  see above

    if (runtime is None) == (command is None):
        raise click.UsageError("name one runtime, or a command line with --command")
    if runtime == "command":
        raise click.UsageError('use --command "PROGRAM {model} {inputs} {outputs}"')
    if alive and command is None:
        raise click.UsageError("--alive is about the program of --command")
    if options["seconds"] is not None and options["examples"] is not None:
        raise click.UsageError("--seconds and --examples both say when the search ends; give one")
    try:
        given = told(pairs)
    except ValueError as error:
        raise click.UsageError(f"--option: {error}") from None
    if command is not None:
        if "line" in given:
            raise click.UsageError("--command is the line already; leave out --option line")
        # Its process is ended by --timeout, with all that it has started: it needs no limit of its own.
        runtime, given = "command", {"line": command, **({"alive": True} if alive else {}), **given}
    sys.exit(conformance_asked(ConformanceOptions(runtime=str(runtime), told=given, **options)))


@main.command(short_help="Write test vectors, for runtimes that know nothing of sonnx.")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the vectors; it must be new or empty.",
)
@_OPERATORS
@_TYPES
@_SEED
@click.option(
    "--opset", type=click.IntRange(13, 26), default=26, show_default=True, help="Operator set of the models."
)
@_JOBS
@_DASK
def vectors(**options: Any) -> None:
    """Write the vectors to DIR: for every case a model, its inputs, and what the specification says of it.

    They are laid out as ONNX's own test data, with arrays for NumPy beside them, a manifest, and a README
    that says how to compare. The same options give the same bytes. Exits with 2 if nothing was written.
    """
    from sonnx.cli.vectors import VectorOptions, write_vectors_asked  # noqa: PLC0415  see above

    sys.exit(write_vectors_asked(VectorOptions(**options)))


@main.command()
@_MODEL
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=FILE.npy",
    help="The array for an input of the model. May be repeated.",
)
@click.option(
    "--engine",
    type=click.Choice(["native", "reference", "xla"]),
    help="Compiled kernels (the default, wherever they can), the definitions themselves, with the same bits, "
    "or the real XLA (needs jax), whose sums differ.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Threads of the native engine (all processors); no bit depends on their number.",
)
@click.option("--output-dir", type=click.Path(path_type=Path), help="Write the results into this folder.")
@click.option(
    "--domain",
    type=click.Choice(["ieee", "real"]),
    default="ieee",
    show_default=True,
    help="IEEE arithmetic, bit for bit, or exact numbers without any rounding.",
)
@_ACCUMULATE
@_NORMALIZE
@_DIMS
@click.option("--trace", is_flag=True, help="Print every node as it is executed; write its tensors too.")
@click.option(
    "--order",
    type=click.Choice(["given", "random"]),
    default="given",
    show_default=True,
    help="Execute nodes as the file lists them, or in any other order that their inputs allow; the results "
    "are the same.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the random order.")
@_MEMORY
def run(model: Path, memory: int | None, **options: Any) -> None:
    """Run MODEL by the specification, bit for bit or exactly.

    Compiled kernels and the definitions themselves give the same bits; the first use of a kernel compiles it.
    In the domain `ieee` the bits are those that the specification names. In `real` nothing is rounded: the
    results are exact fractions (.json) beside the nearest doubles (.npy). A model outside the profile is
    refused with its findings and exit code 1; what cannot be read at all has exit code 2.
    """
    from sonnx.cli.running import RunOptions, run_model  # noqa: PLC0415  see above
    from sonnx.evaluate.graphs import DEFAULT_MEMORY, Settings  # noqa: PLC0415  see above

    if options["dims"] and not options["normalize"]:
        raise click.UsageError("--dim changes the model; say --normalize too")
    for binding in options["inputs"]:
        if "=" not in binding[1:-1]:
            raise click.UsageError(f"--input takes NAME=FILE.npy, not {binding!r}")
    chosen = {name: options.pop(name) for name in ("domain", "accumulate", "order", "seed")}
    settings = Settings(**chosen, memory=memory or DEFAULT_MEMORY)
    options["engine"] = _engine(options["engine"], settings, options["trace"], options["threads"])
    sys.exit(run_model(model, RunOptions(settings=settings, memory=memory, **options)))


def _engine(asked: Any, settings: "Settings", trace: bool, threads: int | None) -> "Engine":
    """The engine that was asked for, or the fastest that can do the rest of what was asked for."""
    own = {"--domain real": settings.domain == "real", "--order random": settings.order == "random"}
    own |= {"--seed": settings.seed != 0, "--trace": trace}
    needs_reference = [option for option, given in own.items() if given]
    engine: Engine = asked or ("reference" if needs_reference else "native")
    refused = needs_reference if engine != "reference" else []
    refused += ["--accumulate"] if engine == "xla" and settings.accumulate != "separate" else []
    refused += ["--threads"] if engine != "native" and threads is not None else []
    if refused:
        raise click.UsageError(f"the engine {engine} takes no {', '.join(refused)}")
    return engine
