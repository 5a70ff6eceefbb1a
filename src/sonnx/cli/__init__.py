"""The command line: every command is in the module of its name, and loads what it needs when it runs."""

import click

from sonnx import __version__
from sonnx.cli import check, conformance, emit, explain, export, normalize, prove, rules, run, tour, vectors
from sonnx.cli.group import Commands

_COMMANDS = (check, conformance, emit, explain, export, normalize, prove, rules, run, tour, vectors)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="sonnx %(version)s")
def main() -> None:
    """The safety-related ONNX profile as an executable specification."""


for _module in _COMMANDS:
    main.add_command(_module.command)
