"""onnxruntime."""

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sonnx.conformance.runtimes.question import NEWEST_OPSET, Question, model_bytes, require_opset
from sonnx.conformance.runtimes.runtime import UnavailableError, needed
from sonnx.load.types import TO_ONNX
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, dtype_of, numpy_dtype

_KEPT = 64
# How much a model is changed before it runs, and onnxruntime's names for that.
_LEVELS = {
    "none": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
_BFLOAT16 = "tensor(bfloat16)"
_SILENT = 4


class OnnxRuntime:
    """A session for every model, on one thread, that prints nothing.

    `provider` is one of onnxruntime's execution providers, `level` one of none, basic, extended and all.
    """

    takes_models = True

    def __init__(
        self, provider: str = "CPUExecutionProvider", level: str = "all", opset: int = NEWEST_OPSET
    ) -> None:
        """Look whether all of that is there."""
        self._library = needed("onnxruntime", "onnxruntime>=1.20")
        if level not in _LEVELS:
            raise ValueError(f"`level` must be one of {', '.join(_LEVELS)}, not {level!r}")
        providers = self._library.get_available_providers()
        if provider not in providers:
            raise UnavailableError(f"onnxruntime has no provider {provider!r}; it has {', '.join(providers)}")
        self._provider, self._level, self._opset = provider, level, require_opset(opset)
        self._session = lru_cache(_KEPT)(self._made)

    @property
    def name(self) -> str:
        """The name, with what is not the default."""
        short = self._provider.removesuffix("ExecutionProvider")
        chosen = [f"provider {short}"] if short != "CPU" else []
        chosen += [f"level {self._level}"] if self._level != "all" else []
        return f"onnxruntime ({', '.join(chosen)})" if chosen else "onnxruntime"

    @property
    def version(self) -> str:
        """The package's version."""
        return str(self._library.__version__)

    def supports(self, question: Question) -> bool:
        """Tell whether there is a model of it."""
        return question.has_model_in(self._opset)

    def run(self, question: Question) -> Sequence[Any]:
        """Execute the model."""
        session = self._session(model_bytes(question, self._opset))
        if DType.BFLOAT16 not in question.dtypes:
            return list(session.run(None, dict(question.inputs)))
        # Its interface with NumPy has no bfloat16.
        given = {name: self._value(array) for name, array in question.inputs.items()}
        return [_array(value) for value in session.run_with_ort_values(None, given)]

    def _made(self, model: bytes) -> Any:
        library = self._library
        options = library.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = _SILENT
        options.graph_optimization_level = getattr(library.GraphOptimizationLevel, _LEVELS[self._level])
        return library.InferenceSession(model, options, providers=[self._provider])

    def _value(self, array: Array) -> Any:
        values = self._library.OrtValue
        if dtype_of(array) is not DType.BFLOAT16:
            return values.ortvalue_from_numpy(array)
        return values.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), TO_ONNX[DType.BFLOAT16])


def _array(value: Any) -> Any:
    if value.data_type() != _BFLOAT16:
        return value.numpy()
    shape = tuple(value.shape())
    held = np.empty(shape, np.uint16)
    ctypes.memmove(held.ctypes.data, value.data_ptr(), held.nbytes)
    return held.view(numpy_dtype(DType.BFLOAT16))
