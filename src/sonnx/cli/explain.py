"""`sonnx explain`: its words and options."""

import click

from sonnx.cli import completion
from sonnx.cli.terminal import page_console


@click.command("explain")
@click.argument("rule", shell_complete=completion.RULES)
def command(rule: str) -> None:
    """Explain one RULE, such as conv.pads.C2, or a ruling, such as D-GRAPH-3.

    Prints what the rule says, why, and an example that breaks it; of a ruling, the rules that follow from it
    and the pages on which it stands.
    """
    from sonnx.cli.actions.explain import explained  # noqa: PLC0415  so that `--help` is quick

    try:
        parts = explained(rule)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for part in parts:
        page_console().print(part)
