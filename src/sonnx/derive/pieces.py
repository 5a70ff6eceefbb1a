"""Kernels bound by memory: how their output is cut into tasks, and when it is written past the caches."""

from dataclasses import dataclass
from math import ceil

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.vocabulary.kernel import KernelCall, KernelRequest, Variant

# The head of a kernel, for its name.
PROTOTYPE = "void KERNEL({})(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)"
# What a task writes: a small part of a processor's own cache, and long against the cost of a task.
_TASK_BYTES = 512 * 1024
# From so many bytes read and written on, stream.h is faster: no cache still holds the output's old lines.
_STREAMED_BYTES = 24 * 1024 * 1024


@dataclass(frozen=True)
class Pieces:
    """A call whose tasks each write a piece of the output, which has `elements` of `element_bytes`.

    `parameters` are those of the source beside elements, task_elements and streamed, which come first.
    """

    source: str
    function: str
    variant: Variant
    elements: int
    element_bytes: int
    read_bytes: int
    parameters: tuple[tuple[str, int], ...] = ()
    text: str | None = None
    shared: tuple[str, ...] = ()

    @property
    def streamed(self) -> bool:
        """Whether it is so much memory that caches are passed by."""
        return self.read_bytes + self.elements * self.element_bytes >= _STREAMED_BYTES

    def call(self, reads: tuple[str, ...], write: str) -> KernelCall:
        """The call on these buffers; it has no tasks where there are no elements."""
        task_elements = _TASK_BYTES // self.element_bytes
        first = {
            "elements": self.elements,
            "task_elements": task_elements,
            "streamed": int(self.streamed),
        }
        return KernelCall(
            source=self.source,
            function=self.function,
            variant=self.variant,
            parameters=(*first.items(), *self.parameters),
            reads=reads,
            writes=(write,),
            tasks=ceil(self.elements / task_elements),
            text=self.text,
            shared=self.shared,
        )


def word_bytes(dtype: DType) -> int:
    """The bytes that lie in memory as one: all of an element, or a part of a complex one."""
    return numpy_dtype(dtype).alignment


def element_bytes(dtype: DType | None) -> int | None:
    """The size of an element in memory; None where only Python can hold it."""
    if dtype is None or dtype in {DType.REAL, DType.STRING}:
        return None
    return int(numpy_dtype(dtype).itemsize)


def variant(request: KernelRequest, name: str, **macros: str) -> Variant:
    """One way to compile a source, with the macros that every fast kernel asks for."""
    common = {"VARIANT": name, "VECTOR_BYTES": str(request.vector_bytes)}
    return Variant(name, tuple((common | macros).items()))
