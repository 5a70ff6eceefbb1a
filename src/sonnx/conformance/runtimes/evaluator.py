"""ONNX's reference evaluator."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from onnx import __version__ as onnx_version
from onnx.reference import ReferenceEvaluator

from sonnx.conformance.runtimes.question import NEWEST_OPSET, Question, model_bytes, require_opset

_KEPT = 64


class Evaluator:
    """The evaluator of the package onnx: NumPy code, one class for every operator."""

    takes_models = True
    name = "reference-evaluator"
    version = f"onnx {onnx_version}"

    def __init__(self, opset: int = NEWEST_OPSET) -> None:
        """Choose the operator set of the models."""
        self._opset = require_opset(opset)
        self._evaluator = lru_cache(_KEPT)(ReferenceEvaluator)

    def supports(self, question: Question) -> bool:
        """Tell whether there is a model of it."""
        return question.has_model_in(self._opset)

    def run(self, question: Question) -> Sequence[Any]:
        """Execute the model."""
        evaluator = self._evaluator(model_bytes(question, self._opset))
        return list(evaluator.run(None, dict(question.inputs)))
