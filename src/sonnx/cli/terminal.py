"""Lines for people, in whatever encoding the terminal has; exit codes."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from shutil import get_terminal_size
from threading import current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING

from click import style

if TYPE_CHECKING:
    from rich.console import Console

# Names are cut where messages are made; this is for what nobody thought of. A path has up to 4096 bytes.
_LONGEST_LINE = 10_000

# What a pipe or a file gets; a terminal gets its own width, if it has some.
PAGE, _NARROWEST = 110, 60
CONFORMS, FINDINGS, UNREADABLE, INTERRUPTED = 0, 1, 2, 130


def prepare() -> None:
    """Have characters that the terminal's encoding lacks printed as escapes, instead of failing."""
    _fill_standard_places()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def interrupted() -> int:
    """Say so; answers the exit code."""
    say("interrupted", error=True)
    # Where an interrupt has passed through a text that Python was executing, as it does to make classes, it
    # would end `python -m` by the signal itself, which is another code; executing one anew makes it forget.
    exec("")
    return INTERRUPTED


@contextmanager
def noted_interrupts() -> Iterator[list[int]]:
    """Interrupts raise KeyboardInterrupt as ever, and are listed: not everybody passes that on."""
    noted: list[int] = []
    mine = current_thread() is main_thread()
    # Whoever starts this in the background may have it ignore them; that stays so.
    if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield noted
        return

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
    does not. A variable that is empty counts as absent; FORCE_COLOR=0 asks for none, as elsewhere.
    """
    stream = sys.stderr if error else sys.stdout
    forced = os.environ.get("FORCE_COLOR")
    if stream is None or os.environ.get("NO_COLOR") or forced == "0":
        return False
    return bool(forced) or stream.isatty()


def highlighted(text: str, *, error: bool) -> str:
    """Text with the first line of every finding and error in red, where there are colours."""
    if not colourful(error=error):
        return text
    lines = text.split("\n")
    return "\n".join(
        style(line, fg="red", bold=True) if line.startswith(("error[", "error: ")) else line for line in lines
    )


def watched_console() -> "Console":
    """Where bars are drawn: the standard error, which is a terminal only if somebody looks.

    FORCE_COLOR asks for colours, not for bars in a file.
    """
    from rich.console import Console  # noqa: PLC0415  only what takes long needs it

    return Console(stderr=True, force_terminal=sys.stderr is not None and sys.stderr.isatty())


def page_console() -> "Console":
    """Where tables are printed: the standard output, as wide as a page where it is no terminal."""
    from rich.console import Console  # noqa: PLC0415  see above

    terminal = sys.stdout is not None and sys.stdout.isatty()
    coloured = colourful(error=False)
    return Console(
        width=None if terminal else PAGE,
        highlight=False,
        force_terminal=terminal or coloured,
        no_color=not coloured,
    )


def page_width(*, error: bool) -> int:
    """How many characters a line of what is said may have."""
    stream = sys.stderr if error else sys.stdout
    if stream is None or not stream.isatty():
        return PAGE
    return max(get_terminal_size((PAGE, 24)).columns, _NARROWEST)


def escaped(text: str) -> str:
    """Text of several lines with nothing in them that a terminal would obey, or has no character for."""
    from sonnx.report.text import printable  # noqa: PLC0415  only what goes wrong needs it

    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    lines = "\n".join(map(printable, text.split("\n")))
    return lines.encode(encoding, "backslashreplace").decode(encoding)


def fail_lines(problem: str) -> int:
    """Say why nothing could be done, in as many lines as that has; each is escaped, so no line is forged."""
    from sonnx.report.text import cut, printable  # noqa: PLC0415  see above

    lines = f"error: {problem}".split("\n")
    text = "\n".join(printable(cut(line, _LONGEST_LINE)) for line in lines)
    say(highlighted(text, error=True), error=True)
    return UNREADABLE


def fail(problem: str) -> int:
    """Say why nothing could be done, on one line; answers the exit code."""
    from sonnx.report.text import cut, printable  # noqa: PLC0415  see above

    say(highlighted(f"error: {printable(cut(problem, _LONGEST_LINE))}", error=True), error=True)
    return UNREADABLE
