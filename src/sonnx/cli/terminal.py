"""Lines for people, in whatever encoding the terminal has; exit codes."""

import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

CONFORMS, FINDINGS, UNREADABLE, INTERRUPTED = 0, 1, 2, 130


def prepare() -> None:
    """Have characters that the terminal's encoding lacks printed as escapes, instead of failing."""
    _fill_standard_places()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _fill_standard_places() -> None:
    """Put nothing where a standard stream was closed: a pipe to another process would lie there otherwise.

    That process would take it for its own standard stream, and close it or print into it.
    """
    for place in range(3):
        try:
            os.fstat(place)
        except OSError:
            # The lowest free place is taken, and all before this one are.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def say(text: str, *, error: bool = False) -> None:
    """Print text of which nothing is raw."""
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # closed before the program began
        return
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except BrokenPipeError:
        # The reader has seen enough, as with `| head`: the work, and its exit code, are wanted even so.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def colourful(*, error: bool) -> bool:
    """Tell whether what is said goes to somebody who likes colours.

    Terminals do, unless NO_COLOR says otherwise; pipes and files do where FORCE_COLOR says so, and NO_COLOR
    does not. A variable that is empty counts as absent.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def watched_console() -> "Console":
    """Where bars are drawn: the standard error, which is a terminal only if somebody looks.

    FORCE_COLOR asks for colours, not for bars in a file.
    """
    from rich.console import Console  # noqa: PLC0415  only what takes long needs it

    return Console(stderr=True, force_terminal=sys.stderr is not None and sys.stderr.isatty())


def escaped(text: str) -> str:
    """Text of several lines with nothing in them that a terminal would obey, or has no character for."""
    from sonnx.report.text import printable  # noqa: PLC0415  only what goes wrong needs it

    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    lines = "\n".join(map(printable, text.split("\n")))
    return lines.encode(encoding, "backslashreplace").decode(encoding)


def fail_lines(problem: str) -> int:
    """Say why nothing could be done, in as many lines as that has; each is escaped, so no line is forged."""
    from sonnx.report.text import printable  # noqa: PLC0415  see above

    say("\n".join(printable(line) for line in f"error: {problem}".split("\n")), error=True)
    return UNREADABLE


def fail(problem: str) -> int:
    """Say why nothing could be done, on one line; answers the exit code."""
    from sonnx.report.text import printable  # noqa: PLC0415  see above

    say(f"error: {printable(problem)}", error=True)
    return UNREADABLE
