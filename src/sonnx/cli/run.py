"""`sonnx run`: its words and options."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sonnx.cli.options import ACCUMULATE, DIMS, MEMORY, MODEL, NORMALIZE, require_normalize

if TYPE_CHECKING:
    from sonnx.engines import Engine
    from sonnx.evaluate.execution import Settings


@click.command("run")
@MODEL
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
@click.option(
    "--precision",
    type=click.IntRange(2, 8192),
    default=128,
    show_default=True,
    metavar="BITS",
    help="In the domain real, with how many bits numbers are enclosed that are no fractions, as roots are; "
    "more are taken wherever something hangs on them.",
)
@ACCUMULATE
@NORMALIZE
@DIMS
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
@MEMORY
def command(model: Path, memory: int | None, **options: Any) -> None:
    """Run MODEL by the specification, bit for bit or exactly.

    Compiled kernels and the definitions themselves give the same bits; the first use of a kernel compiles it.
    In the domain `ieee` the bits are those that the specification names. In `real` nothing is rounded: the
    results are exact fractions, or enclosures of what is none (.json), beside the nearest doubles (.npy). A
    model outside the profile is refused with its findings and exit code 1; what cannot be read at all, and a
    run that stops at an element without a result, has exit code 2.
    """
    from sonnx.cli.actions.run import RunOptions, run_model  # noqa: PLC0415  so that `--help` is quick
    from sonnx.evaluate.execution import DEFAULT_MEMORY, Settings  # noqa: PLC0415  see above
    from sonnx.numeric.balls import DEFAULT_PRECISION  # noqa: PLC0415  see above

    require_normalize(options["dims"], options["normalize"])
    for binding in options["inputs"]:
        if "=" not in binding[1:-1]:
            raise click.UsageError(f"--input takes NAME=FILE.npy, not {binding!r}")
    chosen = {name: options.pop(name) for name in ("domain", "accumulate", "order", "seed", "precision")}
    if chosen["domain"] != "real" and chosen["precision"] != DEFAULT_PRECISION:
        raise click.UsageError("--precision is for --domain real")
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
