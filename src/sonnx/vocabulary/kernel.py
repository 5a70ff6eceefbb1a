"""What an operator asks of compiled kernels: which functions, on which buffers, in how many tasks.

A kernel is a C function

    void NAME_VARIANT(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)

that does one of `tasks` independent pieces of work; tasks of one call may run in any order and on several
threads, `rank` is the thread's number from 0. `operands` are the buffers of `reads`, then those of `writes`.
`struct parameters` stands in the C source; all its fields are int64_t, and all functions share it. Its last
field may be an array of as many as there are, such as a table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType

# The kernels that C for a target may have: short and proved, or those of the native engine.
KernelStyle = Literal["plain", "fast"]


@dataclass(frozen=True)
class Variant:
    """One way to compile a source: `name` ends the names of its functions, `macros` are defined for it."""

    name: str
    macros: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class KernelCall:
    """A function of a C source on buffers by name.

    `source` is a file under `operators/`, such as `shared/boxes.c`; where there is a `text`, that is the
    source, and `source` what it is called. `shared` are texts that stand before it, once where several calls
    have a source together.

    `after` is a function that is called with pieces of the first output, as soon as they are made:

        void NAME_VARIANT(void *const *operands, void *piece, const struct piece *at)

    Its operands are the last ones of `reads`; behind all buffers stands where a pointer to it lies.
    """

    source: str
    function: str
    variant: Variant
    parameters: tuple[tuple[str, int], ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    tasks: int
    text: str | None = None
    shared: tuple[str, ...] = ()
    after: "KernelCall | None" = None

    @property
    def symbol(self) -> str:
        """The name that the linker knows."""
        return f"{self.function}_{self.variant.name}"


@dataclass(frozen=True)
class Scratch:
    """Memory that kernels need beside tensors; `per_thread` where each thread needs its own."""

    name: str
    dtype: DType
    elements: int
    per_thread: bool = False


@dataclass(frozen=True)
class NodeKernels:
    """What executes one node: calls in this order, and the memory they need in between."""

    calls: tuple[KernelCall, ...]
    scratch: tuple[Scratch, ...] = ()


@dataclass(frozen=True)
class KernelRequest:
    """A node to be executed by kernels: tensor names by operand, types by tensor name.

    `attributes` hold the mode of accumulation too. `after` is what is to be done with the elements of the
    first output once they are there: its kernel is given pieces of it by the call that makes them. `prefix`
    begins the names of scratch memory. `constants` are the elements of operands that decide a shape.
    """

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    types: Mapping[str, TensorType]
    attributes: Mapping[str, Any]
    prefix: str
    vector_bytes: int = 32
    threads: int = 1
    after: KernelCall | None = None
    constants: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
