"""Examples on pages are run when the site is built, so that what stands under them is what happens."""

import shlex
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from click.testing import CliRunner

from docs.markup import DocsError
from sonnx.cli import main

_PYTHON, _SHELL = "python", "sh"
# What stands between the columns of tables for terminals.
_COLUMNS = "\u2502"


@dataclass
class Examples:
    """The examples of one page: later Python ones know the names of earlier ones."""

    names: dict[str, Any] = field(default_factory=dict)
    language: str = ""
    code: str = ""

    def read(self, language: str, code: str) -> None:
        """Take note of the block of code that stands last; one in another language is no example."""
        self.language, self.code = (language, code) if language in (_PYTHON, _SHELL) else ("", "")

    def output(self, argument: str) -> str:
        """Run the last example and show what it printed.

        The argument may give the exit code that the last command must have (0 if it does not), and the
        language in which the output is to be coloured.
        """
        words = argument.split()
        codes = [int(word) for word in words if word.isdecimal()]
        languages = [word for word in words if not word.isdecimal()]
        if len(codes) > 1 or len(languages) > 1 or (codes and self.language != _SHELL):
            raise DocsError("takes at most one exit code, after commands, and one language")
        if self.language == _SHELL:
            printed = "\n".join(_run_commands(self.code, codes[0] if codes else 0))
        elif self.language == _PYTHON:
            printed = _run_python(self.code, self.names)
        else:
            raise DocsError("there is no example in Python or of commands above it")
        if "```" in printed:
            raise DocsError("the example prints the end of a block of code")
        # Tables for terminals are padded with blanks at their right.
        lines = "\n".join(line.rstrip() for line in printed.rstrip().split("\n"))
        # The columns of a table must stay under each other; any other line may wrap.
        kind = " .columns" if _COLUMNS in lines else ""
        return f"``` {{ .{languages[0] if languages else 'text'} .output{kind} }}\n{lines}\n```"


def _run_python(code: str, names: dict[str, Any]) -> str:
    printed = StringIO()
    try:
        with redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(code, "<example>", "exec"), names)
    except Exception as error:  # whatever an example raises is a fault of the page
        raise DocsError(f"the example above it fails: {type(error).__name__}: {error}") from error
    return printed.getvalue()


def _run_commands(code: str, wanted: int) -> Iterator[str]:
    """Run commands of `sonnx`, and nothing else; all but the last must end with 0."""
    commands = [shlex.split(line) for line in code.replace("\\\n", " ").splitlines() if line.strip()]
    for number, (program, *arguments) in enumerate(commands, start=1):
        if program != "sonnx":
            raise DocsError(f"only commands of sonnx are run, not {program}")
        result = CliRunner().invoke(main, arguments, prog_name=program)
        expected = wanted if number == len(commands) else 0
        if result.exit_code != expected or not isinstance(result.exception, SystemExit | None):
            raise DocsError(
                f"`{shlex.join([program, *arguments])}` ends with {result.exit_code}, not {expected}: "
                f"{result.exception!r} {result.output[-300:]}"
            )
        yield result.output.rstrip()
