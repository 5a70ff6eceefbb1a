"""Runtimes with one fault each, made of the definitions; children import them by name."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from sonnx.conformance.runtimes.ours import Reference
from sonnx.conformance.runtimes.question import Question

HERE = "tests.conformance.campaign_support"


class LosesZeros(Reference):
    """Adds what it chooses to zero."""

    name = "loses zeros"

    def run(self, question: Question) -> Sequence[Any]:
        (output,) = super().run(question)
        return [output + output.dtype.type(0)] if output.dtype.kind == "f" else [output]


class RoundsDown(Reference):
    """Divides as Python does, and by 0 as NumPy does: no run stops."""

    name = "rounds down"

    def run(self, question: Question) -> Sequence[Any]:
        with np.errstate(all="ignore"):
            return [np.floor_divide(*question.operands.values())]


class Refuses(Reference):
    """Knows the operator, but says so too late."""

    name = "refuses"

    def run(self, question: Question) -> Sequence[Any]:
        raise NotImplementedError("not yet")


class LosesMatrices(Reference):
    """Wrong on matrices of a few elements, of which there are no vectors."""

    name = "loses matrices"

    def run(self, question: Question) -> Sequence[Any]:
        (output,) = super().run(question)
        return (
            [np.full_like(output, 7)]
            if output.ndim == 2 and output.size < 30 and output.shape[1] > 1
            else [output]
        )


class Crashes(Reference):
    """Does not survive an infinity."""

    name = "crashes"

    def run(self, question: Question) -> Sequence[Any]:
        if any(np.isinf(array).any() for array in question.inputs.values()):
            os._exit(3)
        return super().run(question)


class AlwaysCrashes(Reference):
    """Survives nothing."""

    name = "always crashes"

    def run(self, question: Question) -> Sequence[Any]:
        os._exit(3)


class TwoMinded(Reference):
    """Sums the other way round where operands are constants."""

    name = "two-minded"

    def run(self, question: Question) -> Sequence[Any]:
        operands = question.operands
        X, W = operands["X"], operands["W"]
        # Of one line and one column, so that channels alone are summed, which can be turned round.
        if (
            not question.constants
            or W.shape[2:] != (1, 1)
            or question.attributes["group"] != 1
            or "B" in operands
        ):
            return super().run(question)
        turned = Question(
            question.operator,
            {"X": X[:, ::-1], "W": W[:, ::-1]},
            {},
            question.attributes,
            question.outputs,
        )
        return super().run(turned)


class Casts(Reference):
    """Is asked ONNX's Cast, and rounds up where it should truncate."""

    name = "casts"
    takes_models = True

    def run(self, question: Question) -> Sequence[Any]:
        (output,) = super().run(question)
        return [output + output.dtype.type(1)] if output.dtype.kind == "i" and output.size else [output]


class CastCrashes(Reference):
    """Is asked ONNX's Cast, and does not survive it."""

    name = "cast crashes"
    takes_models = True

    def run(self, question: Question) -> Sequence[Any]:
        if question.operator == "xla.convert_element_type":
            os._exit(3)
        return super().run(question)


class Silent(Reference):
    """Gives no list of outputs where an operand is negative."""

    name = "silent"

    def run(self, question: Question) -> Any:
        negative = any((array < 0).any() for array in question.operands.values())
        return None if negative else super().run(question)


class KnowsNothing(Reference):
    """Refuses everything, with a word that a terminal would obey."""

    name = "knows nothing"

    def run(self, question: Question) -> Sequence[Any]:
        raise NotImplementedError("no \x1b[31msuch thing")


class Counts(KnowsNothing):
    """Refuses everything, and counts how often."""

    name = "counts"
    _asked = 0

    def run(self, question: Question) -> Sequence[Any]:
        self._asked += 1
        raise NotImplementedError(f"no {self._asked} of 0x{self._asked:x}")


class Moody(Reference):
    """Every third answer is wrong, whatever was asked."""

    name = "moody"
    _asked = 0

    def run(self, question: Question) -> Sequence[Any]:
        (output,) = super().run(question)
        self._asked += 1
        return [output + output.dtype.type(self._asked % 3 == 0)]
