"""Definitions of element-wise operators, against what a user of NumPy would write."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sonnx
from bench.reference.subject import Subject
from sonnx.model.dtype import DType
from sonnx.operators import NODE_OPERATORS
from sonnx.vocabulary.operator import Operand, Operator

Array = NDArray[Any]
ELEMENTS = 10_000_000
BAR = 3
ROUNDS = 5
# Numbers x and y, truths p and q, and bounds.
EXPRESSIONS: Mapping[str, str] = {
    "Abs": "np.abs(x)",
    "Add": "x + y",
    "And": "p & q",
    "Cast": "x.astype(np.int32)",
    "Ceil": "np.ceil(x)",
    "Clip": "np.clip(x, low, high)",
    "Div": "x / y",
    "Equal": "x == y",
    "Floor": "np.floor(x)",
    "Greater": "x > y",
    "GreaterOrEqual": "x >= y",
    "HardSigmoid": "np.clip(0.2 * x + 0.5, 0, 1)",
    "HardSwish": "x * np.clip(x / 6 + 0.5, 0, 1)",
    "IsInf": "np.isinf(x)",
    "IsNaN": "np.isnan(x)",
    "LeakyRelu": "np.where(x < 0, 0.01 * x, x)",
    "Less": "x < y",
    "LessOrEqual": "x <= y",
    "Max": "np.maximum(x, y)",
    "Mean": "(x + y) / 2",
    "Min": "np.minimum(x, y)",
    "Mod": "np.fmod(x, y)",
    "Mul": "x * y",
    "Neg": "-x",
    "Not": "~p",
    "Or": "p | q",
    "PRelu": "np.where(x < 0, y * x, x)",
    "Reciprocal": "1 / x",
    "Relu": "np.where(x < 0, 0, x)",
    "Round": "np.round(x)",
    "Sign": "np.sign(x)",
    "Sqrt": "np.sqrt(x)",
    "Sub": "x - y",
    "Sum": "x + y",
    "ThresholdedRelu": "np.where(x > 1, x, 0)",
    "Where": "np.where(p, x, y)",
    "Xor": "p ^ q",
}
# Attributes for which ONNX has no default; all others are what that says.
_ATTRIBUTES: Mapping[str, Any] = {"to": "int32", "fmod": 1}


def element_wise() -> list[Operator]:
    """Operators of nodes that combine floats or truths element by element, and that have an expression."""
    return [
        operator
        for operator in NODE_OPERATORS.values()
        if operator.name in EXPRESSIONS
        and operator.contract.inputs[0].form == "elements"
        and all(_is_truth(each) or DType.FLOAT in each.types for each in operator.contract.inputs)
    ]


def _is_truth(operand: Operand) -> bool:
    return operand.types == (DType.BOOL,)


def data(elements: int) -> dict[str, Array]:
    """What expressions speak of."""
    rng = np.random.default_rng(2)
    x, y = (rng.standard_normal(elements, np.float32) for _ in range(2))
    p, q = (rng.random(elements, np.float32) < 0.5 for _ in range(2))
    return {"x": x, "y": y, "p": p, "q": q, "low": np.array(-1, np.float32), "high": np.array(1, np.float32)}


def operands(operator: Operator, given: Mapping[str, Array]) -> list[Array]:
    """The arrays that an operator takes, in the order in which its expression has them."""
    numbers, truths, bounds = iter("xy"), iter("pq"), iter(("low", "high"))
    names = []
    for each in operator.contract.inputs:
        kind = bounds if each.form == "scalar" else truths if _is_truth(each) else numbers
        names += [next(kind) for _ in range(2 if each.variadic else 1)]
    return [given[name] for name in names]


def definition(operator: Operator, arrays: Sequence[Array]) -> Callable[[], Any]:
    """The operator's function on these arrays."""
    function = getattr(sonnx, operator.folder)
    attributes = {
        each.name: _ATTRIBUTES.get(each.name, each.default_in_onnx)
        for each in operator.contract.attributes
        if not each.mode
    }
    return lambda: function(*arrays, **attributes)


def expression(name: str, given: Mapping[str, Array]) -> Callable[[], Any]:
    """The expression on these arrays."""
    code = compile(EXPRESSIONS[name], name, "eval")
    known = {"np": np, **given}

    def run() -> Any:
        with np.errstate(all="ignore"):  # as definitions do it
            return eval(code, known)

    return run


def definition_subjects() -> list[Subject]:
    """One of each operator."""
    given = data(ELEMENTS)
    return [
        Subject(
            f"definition of {operator.name}, 10 million {_said(operator)}",
            EXPRESSIONS[operator.name],
            definition(operator, operands(operator, given)),
            expression(operator.name, given),
            BAR,
            ROUNDS,
        )
        for operator in element_wise()
    ]


def _said(operator: Operator) -> str:
    return "truths" if all(map(_is_truth, operator.contract.inputs)) else "floats"
