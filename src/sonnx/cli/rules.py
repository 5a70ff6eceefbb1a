"""`sonnx rules`: its words and options."""

import click

from sonnx import __version__
from sonnx.cli import completion
from sonnx.cli.terminal import page_console, say


@click.command("rules")
@click.argument("operator", required=False, shell_complete=completion.GROUPS)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The list for people, or for scripts.",
)
def command(operator: str | None, form: str) -> None:
    """List the rules, or those of one OPERATOR.

    OPERATOR is a name such as Conv or xla.Clamp, `general` for the rules on every operator, `graph` for those
    on a model as a whole, or `xla` for those on all XLA operations.
    """
    from sonnx.operators.rulebook import rules as all_rules  # noqa: PLC0415  so that `--help` is quick
    from sonnx.report.rules import rules_json, rules_table  # noqa: PLC0415  see above

    try:
        found = all_rules(operator)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if form == "json":
        say(rules_json(found, __version__).rstrip("\n"))
        return
    page_console().print(rules_table(found))
