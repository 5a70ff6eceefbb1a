"""`sonnx vectors`: its words and options."""

import sys
from pathlib import Path
from typing import Any

import click

from sonnx.cli.options import DASK, JOBS, OPERATORS, SEED, TYPES


@click.command("vectors", short_help="Write test vectors, for runtimes that know nothing of sonnx.")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the vectors; it must be new or empty.",
)
@OPERATORS
@TYPES
@SEED
@click.option(
    "--opset", type=click.IntRange(13, 26), default=26, show_default=True, help="Operator set of the models."
)
@JOBS
@DASK
def command(**options: Any) -> None:
    """Write the vectors to DIR: for every case a model, its inputs, and what the specification says of it.

    They are laid out as ONNX's own test data, with arrays for NumPy beside them, a manifest, and a README
    that says how to compare. The same options give the same bytes. Exits with 2 if nothing was written.
    """
    from sonnx.cli.actions.vectors import VectorOptions, write_vectors_asked  # noqa: PLC0415  so that `--help` is quick

    sys.exit(write_vectors_asked(VectorOptions(**options)))
