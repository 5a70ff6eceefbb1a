"""`sonnx tour`."""

import click

from sonnx.cli.terminal import page_console


@click.command("tour")
def command() -> None:
    """Show the operators at work."""
    from sonnx.tour import print_tour  # noqa: PLC0415  so that `--help` is quick

    print_tour(page_console())
