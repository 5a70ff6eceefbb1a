"""Stages with faults, to see that the fuzzer notices them."""

import os
import time
from collections.abc import Iterator

from tests.fuzz.stages import Judged


def raises(judged: Judged) -> Iterator[str]:
    """Fail as an index beyond a list's end does."""
    yield str([][len(judged.findings)])


def spins(judged: Judged) -> Iterator[str]:
    """Never come back, and work all the time."""
    while judged:
        pass
    yield ""


def sleeps(judged: Judged) -> Iterator[str]:
    """Never come back, as one who waits for a pipe."""
    while judged:
        time.sleep(1)
    yield ""


def escapes(_: Judged) -> Iterator[str]:
    """Print what a terminal would obey."""
    yield "a line\nand another \x1b[2J"


def grows(_: Judged) -> Iterator[str]:
    """Take two gigabytes."""
    yield str(len(bytearray(2**31)))


def dies(_: Judged) -> Iterator[str]:
    """End the whole process."""
    os._exit(3)


def fine(_: Judged) -> Iterator[str]:
    """Do nothing wrong."""
    yield "ä line\nand another"
