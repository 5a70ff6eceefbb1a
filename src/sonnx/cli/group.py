"""A group of commands whose users see a sentence, whatever happens."""

import sys
from typing import Any

import click

from sonnx.cli.terminal import escaped, fail, interrupted, noted_interrupts, prepare

# Exit codes above it tell of signals already.
_BY_A_SIGNAL = 128


class Commands(click.Group):
    """All commands; whatever happens to them, a user sees a sentence."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run what was typed; an interrupt is never taken for a verdict, whoever has swallowed it."""
        with noted_interrupts() as interrupts:
            try:
                return super().main(*args, **extra)
            except SystemExit as end:
                if not interrupts or (isinstance(end.code, int) and end.code > _BY_A_SIGNAL):
                    raise
            except Exception:  # an extension that was being imported makes an ImportError of it
                if not interrupts:
                    raise
            sys.exit(interrupted())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options before the name of a command."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise _shown(error) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run one command."""
        prepare()
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise _shown(error) from None
        except KeyboardInterrupt:
            sys.exit(interrupted())
        except MemoryError:
            sys.exit(fail("the machine has not enough memory for this; `--memory` limits what is tried"))
        except OSError as error:
            sys.exit(fail(f"cannot print: {error.strerror}"))


def _shown(error: click.UsageError) -> click.UsageError:
    """What a user typed is repeated without anything that a terminal would obey."""
    text = error.format_message()
    return error if escaped(text) == text else click.UsageError(escaped(text), error.ctx)
