"""Lines for people, in whatever encoding the terminal has; exit codes."""

import os
import sys
from io import TextIOWrapper

import click

CONFORMS, FINDINGS, UNREADABLE, INTERRUPTED = 0, 1, 2, 130


def prepare() -> None:
    """Have characters that the terminal's encoding lacks printed as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str, *, error: bool = False) -> None:
    """Print text of which nothing is raw."""
    try:
        click.echo(text, err=error, color=False if os.environ.get("NO_COLOR") else None)
    except BrokenPipeError:
        # The reader has seen enough, as with `| head`: the work, and its exit code, are wanted even so.
        stream = sys.stderr if error else sys.stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def escaped(text: str) -> str:
    """Text of several lines with nothing in them that a terminal would obey."""
    from sonnx.report.text import printable  # noqa: PLC0415  only what goes wrong needs it

    return "\n".join(map(printable, text.split("\n")))


def fail(problem: str) -> int:
    """Say why nothing could be done; answers the exit code. A problem of one line is kept on one line."""
    from sonnx.report.text import printable  # noqa: PLC0415  see above

    say(f"error: {printable(problem)}", error=True)
    return UNREADABLE
