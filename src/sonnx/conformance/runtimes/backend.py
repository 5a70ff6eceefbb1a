"""Anything with the interface of an ONNX backend: `prepare` a model, `run` it on a list of arrays."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import onnx

from sonnx.conformance.runtimes.question import NEWEST_OPSET, Question, model_bytes, require_opset
from sonnx.conformance.runtimes.runtime import version_of

_KEPT = 64


class Backend:
    """A backend of somebody's; `device` is what it is told to run on."""

    takes_models = True

    def __init__(self, name: str, backend: Any, device: str = "CPU", opset: int = NEWEST_OPSET) -> None:
        """Take a backend by the name that reports call it by."""
        self._name, self._backend, self._device = name, backend, device
        self._opset = require_opset(opset)
        self._prepared = lru_cache(_KEPT)(self._prepare)

    @property
    def name(self) -> str:
        """The module and the attribute."""
        return self._name

    @property
    def version(self) -> str:
        """The version of the package that it lies in."""
        return version_of(self._name.partition(":")[0].partition(".")[0])

    def supports(self, question: Question) -> bool:
        """Tell whether there is a model of it; what the backend thinks of the model, it says itself."""
        return question.has_model_in(self._opset)

    def run(self, question: Question) -> Sequence[Any]:
        """Execute the model."""
        prepared = self._prepared(model_bytes(question, self._opset))
        outputs: Sequence[Any] = prepared.run(list(question.inputs.values()))
        return outputs

    def _prepare(self, model: bytes) -> Any:
        return self._backend.prepare(onnx.load_model_from_string(model), self._device)
