"""`sonnx check`: its words and options."""

import sys
from pathlib import Path
from typing import Any

import click

from sonnx.cli.options import ALL, BRIEF, MEMORY, detail_of


@click.command("check", short_help="Check whether models lie in the profile.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="The report for people, for scripts (json), or for code hosts and editors (sarif).",
)
@click.option("-o", "--output", metavar="FILE", help="Write the report to FILE instead of printing it.")
@ALL
@BRIEF
@MEMORY
def command(models: tuple[Path, ...], brief: bool, every: bool, **options: Any) -> None:
    """Check whether each MODEL, an ONNX file, lies in the profile.

    Prints the operators outside the profile, then every broken rule with its first places, the values that
    show it and what to do; what only follows from another finding is counted there. --all prints every
    finding at every place, as json and sarif always do. Exits with 0 if all models conform, 1 if there are
    findings, 2 if a file cannot be read.
    """
    from sonnx.cli.actions.check import CheckOptions, check_models  # noqa: PLC0415  so that `--help` is quick

    if brief and options["form"] != "text":
        raise click.UsageError(f"--brief is for text; {options['form']} lists every finding")
    sys.exit(check_models(models, CheckOptions(detail=detail_of(brief, every), **options)))
