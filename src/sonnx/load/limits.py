"""What a file may ask for, and the error where nothing can be read."""

from dataclasses import dataclass, field

GIB = 2**30
# NumPy's arrays end here, and so does the profile; of a longer shape the beginning is enough to refuse it.
MOST_AXES = 64


class LoadError(ValueError):
    """A file that holds no model that could be judged; the text says why and what to do."""


@dataclass(frozen=True)
class Limits:
    """What the model of one file may take; more is refused before it is taken.

    `tensor_bytes` is the memory of all tensors, `tensors` counts the places where a model writes a tensor
    or its type, and `fields` every single entry of the file's protobuf message.
    """

    tensor_bytes: int = 2 * GIB
    nodes: int = 100_000
    tensors: int = 200_000
    functions: int = 10_000
    fields: int = 2_000_000


@dataclass
class Budget:
    """The memory that tensors have taken while one model is read."""

    limits: Limits
    spent: int = field(default=0, init=False)
    # The files that tensors were read from, and the digests of those that state one.
    external: set[str] = field(default_factory=set, init=False)
    digests: dict[str, str] = field(default_factory=dict, init=False)
    hashed: int = field(default=0, init=False)

    def take(self, size: int) -> bool:
        """Reserve memory; answers False, and reserves nothing, where that would exceed the limit."""
        if size > self.limits.tensor_bytes - self.spent:
            return False
        self.spent += size
        return True

    def take_hash(self, size: int) -> bool:
        """Reserve the time to read so many bytes for a digest; a hole in a file takes time but no room."""
        if size > self.limits.tensor_bytes - self.hashed:
            return False
        self.hashed += size
        return True

    def words(self) -> str:
        """The limit as messages show it."""
        return f"the limit of {self.limits.tensor_bytes / GIB:g} GiB for the tensors of a model"
