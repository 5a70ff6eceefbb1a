"""The command line. Every command loads what it needs when it runs, so that `--help` is quick."""

import sys
from typing import TYPE_CHECKING

import click

from sonnx import __version__

if TYPE_CHECKING:
    from rich.console import Console

    from sonnx.model.rule import Rule

# What a pipe or a file gets; a terminal gets its own width.
_WIDTH = 110


def _console() -> "Console":
    from rich.console import Console  # noqa: PLC0415  rich is loaded by the commands that print with it

    return Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="sonnx %(version)s")
def main() -> None:
    """The safety-related ONNX profile as an executable specification."""


@main.command()
def tour() -> None:
    """Show the operators at work."""
    from sonnx.tour import print_tour  # noqa: PLC0415  see above

    print_tour(_console())


@main.command()
@click.argument("operator", required=False)
def rules(operator: str | None) -> None:
    """List the rules, or those of one OPERATOR.

    OPERATOR is a name such as Conv, or `general` for the rules that hold for all.
    """
    from sonnx.operators import rules as listed  # noqa: PLC0415  see above
    from sonnx.report.rules import rules_table  # noqa: PLC0415  see above

    try:
        found = listed(operator)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    _console().print(rules_table(found))


@main.command()
@click.argument("rule")
def explain(rule: str) -> None:
    """Explain one RULE, such as conv.pads.C2.

    Prints what it says, why, and a call that breaks it.
    """
    from sonnx.check.calls import check_call  # noqa: PLC0415  see above
    from sonnx.operators import operator  # noqa: PLC0415  see above
    from sonnx.report.rules import explanation  # noqa: PLC0415  see above

    for found in _matching(rule):
        broken = check_call(operator(found.failing.operator), found.failing)
        _console().print(explanation(found, broken))


def _matching(name: str) -> "list[Rule]":
    """The rule of that name, or those which the documents also state under it."""
    from difflib import get_close_matches  # noqa: PLC0415  only a wrong name needs it

    from sonnx.operators import rules as listed  # noqa: PLC0415  see above

    everything = {rule.identifier: rule for rule in listed()}
    if name in everything:
        return [everything[name]]
    stated = [rule for rule in everything.values() if name in rule.also]
    if not stated:
        near = get_close_matches(name, everything, n=3, cutoff=0.6)
        advice = f"; did you mean {', '.join(near)}?" if near else "; `sonnx rules` lists all"
        raise click.UsageError(f"there is no rule {name!r}{advice}")
    return stated
