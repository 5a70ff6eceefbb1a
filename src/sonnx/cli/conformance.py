"""`sonnx conformance`: its words and options."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from sonnx.cli import completion
from sonnx.cli.options import DASK, JOBS, OPERATORS, SEED, TYPES, Seconds, as_bytes


@click.command("conformance", short_help="Judge a runtime by the specification.")
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
@OPERATORS
@TYPES
@click.option(
    "--sums",
    type=click.Choice(["free", "separate", "fused"]),
    default="free",
    show_default=True,
    help="Sums in any order, inside the enclosure of the exact result, or with the bits of a mode.",
)
@click.option("--seconds", type=Seconds(0), metavar="N", help="Search for so long, after the vectors.")
@click.option(
    "--examples", type=click.IntRange(0), metavar="N", help="Search so many cases per type instead (100)."
)
@SEED
@click.option("--timeout", type=Seconds(0.01), default=20, show_default=True, help="Seconds for one answer.")
@click.option(
    "--memory",
    type=float,
    default=4,
    show_default=True,
    metavar="GIB",
    callback=as_bytes,
    help="Memory that the runtime may take for an answer, in GiB.",
)
@JOBS
@DASK
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write report.html, report.json, junit.xml and the smallest examples as files.",
)
def command(
    runtime: str | None, command: str | None, alive: bool, pairs: Sequence[str], **options: Any
) -> None:
    """Judge RUNTIME by the specification: frozen vectors first, then a search that shrinks what it finds.

    RUNTIME is onnxruntime, reference-evaluator, jax, emx, native, reference, emitted, or any backend or
    runtime as module:attribute. It runs in processes of its own; a crash or a hang is a verdict. Exits with 0
    if everything that it supports conforms, 1 if something departs or crashes, 2 if it could not be judged.
    """
    from sonnx.cli.actions.conformance import ConformanceOptions, conformance_asked, told  # noqa: PLC0415  so that `--help` is quick

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
