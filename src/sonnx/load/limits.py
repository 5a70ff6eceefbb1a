"""What a file may ask for, and the error where nothing can be read."""

from dataclasses import dataclass, field

GIB = 2**30


class LoadError(ValueError):
    """A file that holds no model that could be judged; the text says why and what to do."""


@dataclass
class Limits:
    """Memory that the tensors of one model may take; more is refused before it is taken.

    `spent` grows while a model is read.
    """

    tensor_bytes: int = 2 * GIB
    nodes: int = 1_000_000
    spent: int = field(default=0, init=False)

    def take(self, size: int) -> bool:
        """Reserve memory; answers False, and reserves nothing, where that would exceed the limit."""
        if size > self.tensor_bytes - self.spent:
            return False
        self.spent += size
        return True

    def words(self) -> str:
        """The limit as messages show it."""
        return f"the limit of {self.tensor_bytes / GIB:g} GiB for the tensors of a model"
