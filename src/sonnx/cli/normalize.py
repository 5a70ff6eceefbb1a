"""`sonnx normalize`: its words and options."""

import sys
from pathlib import Path

import click

from sonnx.cli.options import ALL, BRIEF, DIMS, MEMORY, MODEL, detail_of


@click.command("normalize", short_help="Write MODEL so that it conforms, without changing its meaning.")
@MODEL
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Where the model goes.",
)
@DIMS
@ALL
@BRIEF
@MEMORY
def command(model: Path, output: Path, dims: dict[str, int], memory: int | None, **how: bool) -> None:
    """Write MODEL to OUT so that it conforms, without changing its meaning.

    What ONNX leaves to defaults is written out, broadcasting becomes Expand, functions are inlined, types are
    inferred. Prints every change with its reason. Exits with 1, and writes nothing, if something is left
    that cannot be mended this way, and then counts many changes by rule (--all prints all); MODEL itself is
    never touched.
    """
    from sonnx.cli.actions.normalize import normalize_model  # noqa: PLC0415  so that `--help` is quick

    sys.exit(normalize_model(model, output, dims, memory, detail_of(**how)))
