"""Steps ready to be executed: kernel calls with their operands as addresses, definitions in between."""

import ctypes
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from sonnx.derive.domains import met
from sonnx.derive.evaluate import evaluate
from sonnx.native.cache import Request, compile_all
from sonnx.native.memory import address, aligned
from sonnx.numeric.arrays import Array
from sonnx.numeric.environment import NotIeeeError, require_ieee
from sonnx.plan.program import Defined, Guard, Program, Step
from sonnx.plan.sources import joined, kernel_source
from sonnx.report.outside import domain_error
from sonnx.vocabulary.kernel import KernelCall, Variant
from sonnx.vocabulary.outside import OutsideError

# Derived kernels that are compiled as one source: starting a compiler takes as long as some of them.
_TOGETHER = 24
_LINE = 64  # bytes of `struct progress`


class _Call(ctypes.Structure):
    """`struct call` of runtime.c."""

    _fields_ = (
        ("run", ctypes.c_void_p),
        ("parameters", ctypes.c_void_p),
        ("operands", ctypes.c_void_p),
        ("tasks", ctypes.c_int64),
    )


class _Run(ctypes.Structure):
    """`struct run` of runtime.c."""

    _fields_ = (
        ("calls", ctypes.c_void_p),
        ("progress", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("threads", ctypes.c_int64),
    )


@dataclass(frozen=True)
class CompiledKernels:
    """The compiled functions of a program by symbol, and the function that executes calls of them."""

    functions: Mapping[str, int]
    execute: Any


def _runtime() -> str:
    return Path(__file__).with_name("runtime.c").read_text(encoding="utf-8")


def kernels(program: Program) -> CompiledKernels:
    """Compile what a program calls, unless it is at hand; raises CompilerError."""
    listed = [step for step in (*program.once, *program.steps) if isinstance(step, KernelCall)]
    called = {each.symbol: each for call in listed for each in (call, call.after) if each is not None}
    runtime, *libraries = compile_all([(_runtime(), (), ("sonnx_execute",)), *_sources(called.values())])
    functions = {
        symbol: ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0
        for library, (_, _, symbols) in zip(libraries, _sources(called.values()), strict=True)
        for symbol in symbols
    }
    execute = runtime.sonnx_execute
    execute.argtypes = (ctypes.c_void_p,)
    execute.restype = ctypes.c_int
    return CompiledKernels(functions, execute)


def _sources(calls: Iterable[KernelCall]) -> list[Request]:
    """What is to be compiled: files with all the functions that are wanted of them, and derived kernels."""
    files: dict[tuple[str, Variant], list[KernelCall]] = {}
    derived: dict[Variant, list[KernelCall]] = {}
    for call in calls:
        if call.shared:
            # But for their names they are compiled in one way.
            macros = tuple(pair for pair in call.variant.macros if pair[0] != "VARIANT")
            derived.setdefault(Variant("", macros), []).append(call)
        else:
            files.setdefault((call.source, call.variant), []).append(call)
    found: list[Request] = [
        (kernel_source(together[0]), variant.macros, [call.symbol for call in together])
        for (_, variant), together in files.items()
    ]
    for variant, together in derived.items():
        ordered = sorted(together, key=lambda call: call.symbol)
        found += [
            (joined(some), variant.macros, [call.symbol for call in some])
            for first in range(0, len(ordered), _TOGETHER)
            if (some := ordered[first : first + _TOGETHER])
        ]
    return found


class Tape:
    """Steps on buffers of which some have their place for good and others are given for each run."""

    def __init__(
        self, steps: Sequence[Step], kernels: CompiledKernels, placed: Mapping[str, Array], threads: int
    ) -> None:
        """Write down all addresses that are known already."""
        self._kernels = kernels
        self._placed = placed
        self._kept: list[Any] = []  # what the addresses lead to
        self._open: dict[str, list[tuple[Any, int]]] = {}  # where the addresses of the others belong
        # Where a run of calls lies, or what else is to be done.
        self._parts: list[int | Defined | Guard] = []
        runs: list[_Run] = []
        addresses = {name: address(array) for name, array in placed.items()}
        run: list[KernelCall] = []
        for step in steps:
            if isinstance(step, KernelCall):
                run.append(step)
                continue
            runs += self._add_calls(run, addresses)
            self._parts.append(step)
            run = []
        runs += self._add_calls(run, addresses)
        progress = aligned(max((each.count for each in runs), default=0) * _LINE)
        self._kept += [progress, runs]
        for each in runs:
            each.progress, each.threads = address(progress), threads

    def _add_calls(self, run: Sequence[KernelCall], addresses: Mapping[str, int]) -> list[_Run]:
        if not run:
            return []
        calls = (_Call * len(run))()
        for place, call in zip(calls, run, strict=True):
            values = [value for _, value in call.parameters]
            parameters = (ctypes.c_int64 * len(values))(*values)
            names = (*call.reads, *call.writes)
            behind = [] if call.after is None else [self._pointer(call.after)]
            operands = (ctypes.c_void_p * (len(names) + len(behind)))(
                *(addresses.get(name) for name in names), *behind
            )
            for index, name in enumerate(names):
                if name not in addresses:
                    self._open.setdefault(name, []).append((operands, index))
            place.run = self._kernels.functions[call.symbol]
            place.parameters = ctypes.addressof(parameters)
            place.operands = ctypes.addressof(operands)
            place.tasks = call.tasks
            self._kept += [parameters, operands]
        self._kept.append(calls)
        together = _Run(calls=ctypes.addressof(calls), count=len(run))
        self._parts.append(ctypes.addressof(together))
        return [together]

    def _pointer(self, call: KernelCall) -> int:
        """Where a pointer to a function lies."""
        pointer = ctypes.c_void_p(self._kernels.functions[call.symbol])
        self._kept.append(pointer)
        return ctypes.addressof(pointer)

    def run(self, given: Mapping[str, Array], where: Mapping[str, int]) -> dict[str, Array]:
        """Execute all steps; answers the tensors that no memory was given for, which is text.

        `where` says where arrays lie, of those for which that is known.
        """
        for name, places in self._open.items():
            begin = where.get(name) or address(given[name])
            for operands, index in places:
                operands[index] = begin
        text: dict[str, Array] = {}
        for part in self._parts:
            if isinstance(part, int):
                if not self._kernels.execute(part):
                    require_ieee()
                    raise NotIeeeError("a thread of this process does not compute as IEEE 754 says")
            elif isinstance(part, Guard):
                self._require_inside(part, given)
            else:
                self._define(part, given, text)
        return text

    def _define(self, step: Defined, given: Mapping[str, Array], text: dict[str, Array]) -> None:
        """Execute a definition and put its results where the program wants them."""
        if step.operator.contract.uses_arithmetic:
            require_ieee()
        arrays = ChainMap(text, cast(dict[str, Array], given), cast(dict[str, Array], self._placed))
        with np.errstate(all="ignore"):  # infinities and NaNs are results here, not accidents
            operands = {operand: arrays[name] for operand, name in step.inputs.items()}
            try:
                results = evaluate(step.operator, operands, step.attributes)
            except OutsideError as error:
                raise domain_error(error.outside, step.location) from None
        for operand, name in step.outputs.items():
            if name in arrays:
                arrays[name][...] = results[operand]
            else:
                text[name] = results[operand]

    def _require_inside(self, step: Guard, given: Mapping[str, Array]) -> None:
        """Raise DomainError where a kernel has met an element outside a domain."""
        places = self._placed[step.found]
        met_there = places[places >= 0]
        if met_there.size:
            arrays = ChainMap(cast(dict[str, Array], given), cast(dict[str, Array], self._placed))
            operands = {operand: arrays[name] for operand, name in step.inputs.items()}
            outside = met(step.operator, list(operands), operands, int(met_there[0]))
            raise domain_error(outside, step.location)
