"""Options that several commands have."""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import click

from sonnx.cli import completion

# Sizes end below 2^31, which has ten digits.
_LONGEST_SIZE = 10


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


def as_bytes(ctx: click.Context, param: click.Parameter, value: float | None) -> int | None:
    """Read a number of GiB as bytes."""
    if value is not None and not (isfinite(value) and value * 2**30 >= 1):
        raise click.BadParameter(f"{value} is no amount of memory", ctx, param)
    return None if value is None else int(value * 2**30)


class Seconds(click.FloatRange):
    """A time that ends: NaN lies in every range, and infinity in one without an end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number of seconds."""
        found: float = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return found


MODEL = click.argument("model", type=click.Path(path_type=Path))
DIMS = click.option(
    "--dim",
    "dims",
    multiple=True,
    metavar="NAME=SIZE",
    callback=_dims,
    help="Fix an open size of the inputs, by its name or as INPUT[AXIS]. May be repeated.",
)
MEMORY = click.option(
    "--memory",
    type=float,
    metavar="GIB",
    callback=as_bytes,
    help="Memory that the tensors may take, in GiB (2 to load a model, 4 to run it).",
)
NORMALIZE = click.option(
    "--normalize", is_flag=True, help="Make the model conform first, as `sonnx normalize` does."
)
ACCUMULATE = click.option(
    "--accumulate",
    type=click.Choice(["separate", "fused"]),
    default="separate",
    show_default=True,
    help="How sums are rounded in IEEE arithmetic: after each product and each addition, or once for both.",
)
OPERATORS = click.option(
    "--operator",
    "operators",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.JUDGED,
    help="An operator, such as Clip or xla.Clamp. May be repeated; all without it.",
)
TYPES = click.option(
    "--type",
    "types",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.TYPES,
    help="An element type, such as float. May be repeated.",
)
SEED = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws what is random."
)
JOBS = click.option(
    "--jobs", type=click.IntRange(1, 256), metavar="N", help="Processes at once (one for each processor)."
)
DASK = click.option(
    "--dask", metavar="SCHEDULER", help="Spread the work over a Dask cluster, such as tcp://host:8786."
)
BRIEF = click.option("--brief", is_flag=True, help="Print one line per rule.")
ALL = click.option("--all", "every", is_flag=True, help="Print everything, however much that is.")


def detail_of(brief: bool, every: bool) -> Any:
    """How much is told, as the commands on models call it."""
    if brief and every:
        raise click.UsageError("--brief and --all contradict one another; give one")
    return "brief" if brief else "all" if every else "grouped"


def require_normalize(dims: Mapping[str, int], normalize: bool) -> None:
    """Refuse sizes where the model is to stay as it is."""
    if dims and not normalize:
        raise click.UsageError("--dim changes the model; say --normalize too")
