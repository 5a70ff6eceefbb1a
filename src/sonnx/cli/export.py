"""`sonnx export`: its words and options."""

import sys
from pathlib import Path

import click

from sonnx.cli.options import DIMS, MEMORY, MODEL, NORMALIZE, require_normalize


@click.command("export", short_help="Write MODEL as StableHLO, for XLA's compilers.")
@MODEL
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE.mlir",
    type=click.Path(path_type=Path),
    help="Where the text goes; - prints it.",
)
@NORMALIZE
@DIMS
@MEMORY
def command(model: Path, output: Path, normalize: bool, dims: dict[str, int], memory: int | None) -> None:
    """Write MODEL to FILE.mlir as text of MLIR in the StableHLO dialect, for XLA's compilers.

    The meaning of every operator is spelled out, with its rules on NaN. Left to XLA is how the sums of a
    convolution are rounded, whether subnormal operands and results of sums and products are kept, and the
    sign of a zero that a sum with a constant zero gives; docs/xla.md has the list. A model outside
    the profile is refused with its findings and exit code 1, and nothing is written; what cannot be read or
    exported at all has exit code 2.
    """
    from sonnx.cli.actions.export import export_model  # noqa: PLC0415  so that `--help` is quick

    require_normalize(dims, normalize)
    sys.exit(export_model(model, output, dims if normalize else None, memory))
