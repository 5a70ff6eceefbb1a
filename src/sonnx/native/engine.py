"""Executes a program with compiled kernels: the bits of the definitions, at the speed of the machine."""

from collections.abc import Mapping
from threading import Lock

import numpy as np

from sonnx.model.dtype import DType
from sonnx.native.memory import Results, aligned, offsets
from sonnx.native.tape import Kernels, Tape, kernels
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.plan.program import Buffer, Program
from sonnx.plan.slots import assign


class Executable:
    """A program with its kernels compiled, its constants packed and its memory at hand.

    Runs follow one another: they share the memory. Making it raises CompilerError where there are no kernels.
    """

    def __init__(self, program: Program) -> None:
        """Compile what is missing, execute what needs constants alone, and lay out the rest."""
        self.program = program
        self._lock = Lock()
        self._results = Results()
        found = kernels(program)
        self._constants = _constants(program, found)
        places, self.arena_bytes = offsets(assign(program.temporaries()))
        arena = aligned(self.arena_bytes)
        views = {name: _view(arena, place, program.buffers[name]) for name, place in places.items()}
        self._tape = Tape(program.steps, found, {**self._constants, **views})
        taken = {*self._constants, *(value.name for value in program.inputs)}
        self._copied = [value.name for value in program.outputs if value.name in taken]

    @property
    def constant_bytes(self) -> int:
        """What constants take, packed weights included."""
        return sum(array.nbytes for array in self._constants.values())

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Execute on arrays that are what the program takes; the results belong to the caller."""
        with self._lock:
            given = {name: _plain(array) for name, array in inputs.items()}
            made = {
                value.name: self._results.take(buffer.shape, numpy_dtype(buffer.dtype))
                for value in self.program.outputs
                if (buffer := self.program.buffers[value.name]).dtype is not DType.STRING
            }
            known = {**self._constants, **given}
            for name in self._copied:
                made[name] = known[name].copy()
            text = self._tape.run({**made, **given}, self.program.threads)
            return {value.name: (made | text)[value.name] for value in self.program.outputs}


def _view(arena: Array, place: int, buffer: Buffer) -> Array:
    return arena[place : place + buffer.bytes].view(numpy_dtype(buffer.dtype)).reshape(buffer.shape)


def _plain(array: Array) -> Array:
    """The same elements, one after the other and where the machine likes them: as kernels expect them."""
    if array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative:
        return array
    return np.require(array, array.dtype.newbyteorder("="), ["C_CONTIGUOUS", "ALIGNED"])


def _constants(program: Program, found: Kernels) -> dict[str, Array]:
    """The constants that steps need: those of the model, and what follows from them alone."""
    arrays = {name: _plain(array) for name, array in program.constants.items()}
    fresh = {
        name: _view(aligned(buffer.bytes), 0, buffer)
        for name in program.folded
        if (buffer := program.buffers[name]).dtype is not DType.STRING
    }
    text = Tape(program.once, found, {**arrays, **fresh}).run({}, program.threads)
    everything = arrays | fresh | text
    needed = {*program.kept, *(name for step in program.steps for name in step.reads)}
    needed |= {value.name for value in program.outputs}
    return {name: array for name, array in everything.items() if name in needed}
