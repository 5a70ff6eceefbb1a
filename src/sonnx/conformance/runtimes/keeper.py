"""The process above a runtime's own, on Linux: whatever that starts, and however it hides, ends with it.

A process that detaches itself loses its parent, and with it its group and session; it is then given to the
nearest one above that asked for such. This one does, starts the runtime's process before anything large is
imported, and when that has ended, or the one who asks has, ends all that is left and then itself in the same
way as the runtime's process.
"""

import ctypes
import fcntl
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

# Of <sys/prctl.h>.
_DEATH_SIGNAL, _SUBREAPER = 1, 36
_HEARD = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
# So often what is left is looked for, and so many seconds apart: who starts processes faster than they can
# be ended would be waited for without an end.
_ROUNDS, _PAUSE = 500, 0.02


def main() -> None:
    """Start the runtime's process and stay until nothing is left of it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    control = ctypes.CDLL(None).prctl
    control(_SUBREAPER, 1, 0, 0, 0)
    mine = os.getpid()
    worker = os.fork()
    if not worker:
        control(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != mine:
            os._exit(1)
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
        from sonnx.conformance.runtimes.worker import main as work  # noqa: PLC0415  the keeper stays small

        work()
        return
    questions, answers, lifeline = json.loads(sys.argv[1])["pipes"]
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 2)
    for pipe in (nowhere, questions, answers):  # they end with the runtime's process
        os.close(pipe)
    status = _awaited(worker) if _watches(lifeline) else None
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker, signal.SIGKILL)
    ended = _end_all()
    # It may have been about to end by itself, though nobody had the time to see it.
    _end_like(_by_itself(ended.get(worker)) if status is None else status)


def _watches(lifeline: int) -> bool:
    """Have this process told when the other end of a pipe is closed; False where it has been.

    That is when the one who asks ends, however it does.
    """
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGTERM)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    try:
        return os.read(lifeline, 1) != b""
    except BlockingIOError:
        return True


def _awaited(worker: int) -> int | None:
    """How the runtime's process ended; None where this one was told to end before."""
    while True:
        if signal.sigwait(_HEARD) != signal.SIGCHLD:
            return None
        ended = _reaped()
        if ended is None or worker in ended:
            return None if ended is None else ended[worker]


def _reaped() -> dict[int, int] | None:
    """The processes that have ended, and how; None where there is none any more, ended or not."""
    ended: dict[int, int] = {}
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended or None
        if not process:
            return ended
        ended[process] = status


def _by_itself(status: int | None) -> int | None:
    """How a process ended that was to be killed; None where that is why it did."""
    return None if status is None or os.waitstatus_to_exitcode(status) == -signal.SIGKILL else status


def _end_all() -> dict[int, int]:
    """End everything below this process; what loses its parent meanwhile comes to this one. How all ended."""
    ended: dict[int, int] = {}
    for _ in range(_ROUNDS):
        for process in _below(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):  # ended meanwhile, or another user's by now
                os.kill(process, signal.SIGKILL)
        found = _reaped()
        if found is None:
            return ended
        ended |= found
        signal.sigtimedwait({signal.SIGCHLD}, _PAUSE)
    return ended


def _below(process: int) -> list[int]:
    """All processes below one, as far as can be seen."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # ended meanwhile
            # The name of a program stands in parentheses and may hold any byte.
            parent = entry.read_bytes().rpartition(b")")[2].split()[1]
            below.setdefault(int(parent), []).append(int(entry.parent.name))
    found, last = [], [process]
    while last:
        last = [child for each in last for child in below.pop(each, [])]
        found += last
    return found


def _end_like(status: int | None) -> None:
    """End as the runtime's process did, so that whoever waits sees how; by SIGTERM where it had lived on."""
    code = -signal.SIGTERM if status is None else os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        # Of the others one may be waiting: it would come first.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 1)


if __name__ == "__main__":
    main()
