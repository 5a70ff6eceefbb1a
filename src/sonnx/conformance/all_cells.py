"""A whole campaign: every operator and type that was asked for, spread over whoever can work."""

import platform
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any
from uuid import uuid4

from sonnx import __version__
from sonnx.conformance.cells import Plan, judged_cell
from sonnx.conformance.result import Cell, Report
from sonnx.conformance.runtimes.child import Child
from sonnx.conformance.runtimes.runtime import version_of
from sonnx.conformance.spreading import HERE, Spread
from sonnx.conformance.subjects import Unit
from sonnx.model.dtype import DType

# How many units are done of how many, and the cell that was done last.
Watch = Callable[[int, int, Cell], None]
# What is being judged in this process, how many cases it was asked, and of how many.
Tick = Callable[[Unit, int, int], None]

_MINE = threading.local()


def judged(
    plan: Plan,
    chosen: Sequence[Unit],
    spread: Spread = HERE,
    watch: Watch | None = None,
    tick: Tick | None = None,
) -> Report:
    """Judge a runtime; the same report comes out whoever does the work.

    Whoever interrupts it has what was found so far. Raises UnavailableError where the runtime cannot be had,
    SpreadError where the work could not be done.
    """
    began, campaign = monotonic(), uuid4().hex
    cells: dict[int, Cell] = {}
    stopped = ""
    _MINE.tick = tick
    try:
        # Whoever misspelt something hears it before anything is spread.
        mine = _child(plan, campaign)
        name, version, models = mine.name, mine.version, mine.takes_models
        work = [(plan, operator, dtype, campaign) for operator, dtype in chosen]
        for number, cell in spread.as_done(judge_unit, work):
            cells[number] = cell
            if watch is not None:
                watch(len(cells), len(chosen), cell)
    except KeyboardInterrupt:
        if not cells:
            raise
        stopped = f"interrupted: {len(cells)} of {len(chosen)} operators and types were judged"
    finally:
        _MINE.tick = None
        close_mine()
    return Report(
        name,
        version,
        plan.runtime,
        dict(plan.options),
        plan.sums,
        plan.seed,
        __version__,
        tuple(cell for _, cell in sorted(cells.items())),
        monotonic() - began,
        stopped,
        models,
        _settings(plan),
        _environment(),
    )


def judge_unit(plan: Plan, operator: str, dtype: DType, campaign: str) -> Cell:
    """Judge one operator on one type; the runtime's process is kept for the next unit of this thread.

    In another campaign it is started anew: on a worker that outlives this one, the runtime may be a new one.
    """
    tick: Tick | None = getattr(_MINE, "tick", None)
    told = None if tick is None else partial(tick, (operator, dtype))
    return judged_cell(_child(plan, campaign), plan, operator, dtype, told)


def _child(plan: Plan, campaign: str) -> Child:
    asked = (campaign, plan.runtime, tuple(sorted(plan.options.items())), plan.memory)
    kept: tuple[object, Child] | None = getattr(_MINE, "child", None)
    if kept is not None and kept[0] == asked:
        return kept[1]
    close_mine()
    child = Child(plan.runtime, memory=plan.memory, **plan.options)
    _MINE.child = asked, child
    return child


def close_mine() -> None:
    """End the runtime's process of this thread, if there is one."""
    kept: tuple[object, Child] | None = getattr(_MINE, "child", None)
    _MINE.child = None
    if kept is not None:
        kept[1].close()


def _settings(plan: Plan) -> Mapping[str, Any]:
    """What decides how much is asked, and what an answer may take."""
    names = ("examples", "seconds", "timeout", "memory")
    return {name: getattr(plan, name) for name in names}


def _environment() -> Mapping[str, str]:
    """On what and with what all this was found."""
    packages = {name: version_of(name) for name in ("numpy", "onnx", "ml_dtypes", "hypothesis")}
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version for name, version in packages.items() if version},
    }
