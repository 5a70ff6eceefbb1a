"""Work for other processes: it must be importable there."""

import os
import signal
from pathlib import Path

from sonnx.conformance.runtimes.runtime import UnavailableError


def squared(number: int) -> int:
    return number * number


def lost_once(number: int, marker: str) -> int:
    """Take the process away the first time that a certain number comes."""
    if number == 5 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def always_lost(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def refused(number: int) -> int:
    raise ZeroDivisionError(f"no {number}")


def alive(number: int, folder: str) -> int:
    """Say who is at work, and then wait."""
    (Path(folder) / f"{number}.pid").write_text(str(os.getpid()))
    signal.pause()
    return number


def unavailable(number: int) -> int:
    raise UnavailableError("bad cannot be imported")
