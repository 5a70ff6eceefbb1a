"""JAX: the operators by the functions that somebody would write for them, which their folders name."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from sonnx.conformance.runtimes.kept import Kept
from sonnx.conformance.runtimes.question import Question
from sonnx.conformance.runtimes.runtime import UnavailableError, needed
from sonnx.model.dtype import DType


class Jax:
    """JAX with 64-bit types; `jit` compiles each operator as a whole, with its constants.

    `platform` is one of JAX's, such as cpu.
    """

    def __init__(self, platform: str = "cpu", jit: bool = True) -> None:
        """Look whether it is there."""
        if not isinstance(jit, bool):  # any text would be true
            raise ValueError(f"`jit` is true or false, not {jit!r}")
        self._jax = needed("jax", "jax>=0.8")
        try:
            self._device = self._jax.devices(platform)[0]
        except RuntimeError as error:
            raise UnavailableError(f"jax has no platform {platform!r}: {error}") from None
        self._platform, self._jit = platform, jit
        self._functions = Kept(self._function)

    @property
    def name(self) -> str:
        """The name, with what is not the default."""
        chosen = [self._platform] if self._platform != "cpu" else []
        chosen += [] if self._jit else ["without jit"]
        return f"jax ({', '.join(chosen)})" if chosen else "jax"

    @property
    def version(self) -> str:
        """The package's version."""
        return str(self._jax.__version__)

    def supports(self, question: Question) -> bool:
        """Tell whether the operator names a function, on types that JAX has."""
        return question.definition.trying.jax is not None and DType.STRING not in question.dtypes

    def run(self, question: Question) -> Sequence[Any]:
        """Call the function."""
        with self._jax.enable_x64(True), self._jax.default_device(self._device):
            made = self._functions(question)(dict(question.inputs))
            listed = made if isinstance(made, list | tuple) else [made]
            return [np.asarray(one) for one in listed]

    def _function(self, question: Question) -> Callable[[Mapping[str, Any]], Any]:
        written, order = question.definition.trying.jax, tuple(question.operands)
        constants, attributes = dict(question.constants), dict(question.attributes)

        def function(inputs: Mapping[str, Any]) -> Any:
            given = {name: self._jax.numpy.asarray(array) for name, array in inputs.items()}
            # What decides a shape stays an array of NumPy's.
            operands = given | constants
            ready = {name: operands[name] for name in order}
            if callable(written):
                return written(self._jax, ready, attributes)
            return attrgetter(str(written))(self._jax)(*ready.values(), *attributes.values())

        compiled: Callable[[Mapping[str, Any]], Any] = self._jax.jit(function)
        return compiled if self._jit else function
