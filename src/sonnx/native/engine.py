"""Executes a program with compiled kernels: the bits of the definitions, at the speed of the machine."""

import os
from collections.abc import Mapping
from threading import Lock
from weakref import WeakSet

import numpy as np

from sonnx.model.dtype import DType
from sonnx.native.memory import Results, aligned, offsets
from sonnx.native.tape import CompiledKernels, Tape, kernels
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.plan.program import Buffer, Program
from sonnx.plan.slots import assign

# Whoever held the lock of one when a process was forked does not live in the new process.
_EXECUTABLES: "WeakSet[Executable]" = WeakSet()


def _renew_locks() -> None:
    for executable in list(_EXECUTABLES):
        executable.renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


class Executable:
    """A program with its kernels compiled, its constants packed and its memory at hand.

    Runs follow one another: they share the memory. `constants` are all that steps need, packed weights too.
    Making it raises CompilerError where there are no kernels.
    """

    def __init__(self, program: Program) -> None:
        """Compile what is missing, execute what needs constants alone, and lay out the rest."""
        self.program = program
        self._lock = Lock()
        _EXECUTABLES.add(self)
        found = kernels(program)
        self.constants = _constants(program, found)
        known = {*self.constants, *(value.name for value in program.inputs)}
        self._results = {
            value.name: Results(buffer.shape, numpy_dtype(buffer.dtype))
            for value in program.outputs
            if (buffer := program.buffers[value.name]).dtype is not DType.STRING and value.name not in known
        }
        places, self.arena_bytes = offsets(assign(program.temporaries()))
        arena = aligned(self.arena_bytes)
        views = {name: _view(arena, place, program.buffers[name]) for name, place in places.items()}
        self._tape = Tape(program.steps, found, {**self.constants, **views}, program.threads)

    def renew_lock(self) -> None:
        """Begin with a lock that nobody holds."""
        self._lock = Lock()

    @property
    def constant_bytes(self) -> int:
        """What constants take, packed weights included."""
        return sum(array.nbytes for array in self.constants.values())

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Execute on arrays that are what the program takes; the results belong to the caller."""
        with self._lock:
            given = {name: _plain(array) for name, array in inputs.items()}
            where = {}
            for name, results in self._results.items():
                given[name], where[name] = results.take()
            text = self._tape.run(given, where)
            return {
                value.name: given[value.name] if value.name in where else self._copy(value.name, given, text)
                for value in self.program.outputs
            }

    def _copy(self, name: str, given: Mapping[str, Array], text: Mapping[str, Array]) -> Array:
        """A result that was there before: an input, a constant, or text that a definition may have shared."""
        return next(arrays[name] for arrays in (text, given, self.constants) if name in arrays).copy()


# NumPy's bits of C_CONTIGUOUS and ALIGNED.
_PLAIN = 0x0001 | 0x0100


def _view(arena: Array, place: int, buffer: Buffer) -> Array:
    return arena[place : place + buffer.bytes].view(numpy_dtype(buffer.dtype)).reshape(buffer.shape)


def _plain(array: Array) -> Array:
    """The same elements, one after the other and where the machine likes them: as kernels expect them."""
    # Every call of a small model asks this; each flag by itself takes as long as all at once.
    if array.flags.num & _PLAIN == _PLAIN and array.dtype.isnative:
        return array
    return np.require(array, array.dtype.newbyteorder("="), ["C_CONTIGUOUS", "ALIGNED"])


def _constants(program: Program, found: CompiledKernels) -> dict[str, Array]:
    """The constants that steps need: those of the model, and what follows from them alone."""
    arrays = {name: _plain(array) for name, array in program.constants.items()}
    fresh = {
        name: _view(aligned(buffer.bytes), 0, buffer)
        for name in program.folded
        if (buffer := program.buffers[name]).dtype is not DType.STRING
    }
    text = Tape(program.once, found, {**arrays, **fresh}, program.threads).run({}, {})
    everything = arrays | fresh | text
    return {name: everything[name] for name in program.remaining}
