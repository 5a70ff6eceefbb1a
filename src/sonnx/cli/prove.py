"""`sonnx prove`: its words and options."""

import sys
from typing import Any

import click

from sonnx.cli import completion


@click.command("prove", short_help="Prove the theories of the operators, or an emitted project.")
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
def command(names: tuple[str, ...], operators: bool, no_cache: bool, **options: Any) -> None:
    """Prove the C in DIR, written by `sonnx emit`, or with --operators the theories of the operators.

    Every goal is given to one prover after the other; what is proved is remembered. Exits with 0 if all goals
    are proved and no contradiction is found, 1 if not, 2 if nothing could be tried, such as without the
    tools: why3, frama-c, z3 and cvc4.
    """
    from sonnx.cli.actions.prove import ProveOptions, prove_asked  # noqa: PLC0415  so that `--help` is quick

    if not operators and len(names) != 1:
        raise click.UsageError("name one folder, or say --operators")
    sys.exit(prove_asked(ProveOptions(operators=operators, names=names, cache=not no_cache, **options)))
