"""`sonnx emit`: its words and options."""

import sys
from pathlib import Path
from typing import Any

import click

from sonnx.cli.options import ACCUMULATE, DIMS, MEMORY, MODEL, NORMALIZE, require_normalize


@click.command("emit", short_help="Write MODEL as a C project, for a target.")
@MODEL
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the project; it must be new or empty.",
)
@ACCUMULATE
@click.option(
    "--kernels",
    type=click.Choice(["plain", "fast"]),
    default="plain",
    show_default=True,
    help="C to be read and proved, or C with vector extensions of gcc and clang.",
)
@NORMALIZE
@DIMS
@MEMORY
def command(model: Path, memory: int | None, **options: Any) -> None:
    """Write MODEL to DIR as a project in C99 that computes the specified bits.

    The project has a function per node, the weights, and a test whose vectors come from the definitions:
    `make test` in DIR compiles it, with any CC and CFLAGS, and compares every bit. A model outside the
    profile is refused with its findings and exit code 1, and nothing is written; what cannot be read, emitted
    or written at all has exit code 2.
    """
    from sonnx.cli.actions.emit import EmitOptions, emit_model  # noqa: PLC0415  so that `--help` is quick

    require_normalize(options["dims"], options["normalize"])
    sys.exit(emit_model(model, EmitOptions(memory=memory, **options)))
