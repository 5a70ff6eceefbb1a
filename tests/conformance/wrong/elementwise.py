"""Runtimes that are wrong in operators on elements: their order, their roundings, their NaNs."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from tests.conformance.wrong.mutant import F16, F32, F64, I8, I64, U8, U64, Mutant

from sonnx.conformance.runtimes.question import Question
from sonnx.numeric.arrays import Array


def _on_arrays(function: Callable[..., Any]) -> Callable[[Question], Sequence[Any]]:
    def answer(question: Question) -> Sequence[Any]:
        arrays = list(question.operands.values())
        with np.errstate(all="ignore"):
            made = function(*arrays, **question.attributes)
        return [np.asarray(made).astype(arrays[0].dtype)]

    return answer


def _flushed(x: Array) -> Array:
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, x * 0, x)


def _line(x: Array, alpha: float, beta: float) -> Any:
    return x.dtype.type(alpha) * x + x.dtype.type(beta)


def _between(x: Any) -> Any:
    return np.where(x < 0, 0, np.where(x > 1, 1, x))


def _saturated(a: Array, b: Array) -> Any:
    info = np.iinfo(a.dtype)
    exact = a.astype(object) + b.astype(object)
    return np.where(exact < info.min, info.min, np.where(exact > info.max, info.max, exact))


def _relu(x: Array) -> Any:
    return np.where(x < 0, 0, x)


def _larger(a: Array, b: Array) -> Any:
    return np.where(a < b, b, a)


def _smaller(a: Array, b: Array) -> Any:
    return np.where(b < a, b, a)


def _first_of_equals(*data: Array) -> Any:
    return reduce(lambda a, b: np.where(np.isnan(b) | (b < a), b, a), data)


def _signed(*data: Array) -> Any:
    return reduce(_larger, [each.view(np.int8) for each in data])


def _truncated(a: Array, b: Array) -> Any:
    """Quotients rounded towards zero; that by 0 is NumPy's, which is 0."""
    return a // b + ((a % b != 0) & ((a < 0) != (b < 0)))


def _left_over(a: Array, b: Array, fmod: int) -> Any:
    """What a division leaves; one by 0 leaves all there is, as XLA has it."""
    return np.where(b == 0, a, np.fmod(a, b) if fmod else np.mod(a, b))


SIXTH = float(np.float32(1 / 6))
MUTANTS = [
    Mutant(name, operator, types, ruling, _on_arrays(function))
    for name, operator, types, ruling, function in (
        ("the root of -0 is +0", "sqrt", (F32, F64), "D-ALL-7", lambda X: np.sqrt(X) + X.dtype.type(0)),
        ("roots of what is negative", "sqrt", (F32, F16), "D-ALL-4", lambda X: np.sqrt(np.abs(X))),
        (
            "a root as a reciprocal root",
            "sqrt",
            (F32, F64),
            "D-ALL-7",
            lambda X: np.where((X == 0) | np.isinf(X), np.sqrt(X), X * (1 / np.sqrt(X))),
        ),
        ("subnormal numbers have no root", "sqrt", (F32,), "D-ALL-4", lambda X: np.sqrt(_flushed(X))),
        (
            "zeros have one reciprocal",
            "reciprocal",
            (F32, F64),
            "D-ALL-7",
            lambda X: 1 / np.where(X == 0, 0, X),
        ),
        ("subnormal reciprocals are lost", "reciprocal", (F32, F64), "D-ALL-4", lambda X: _flushed(1 / X)),
        ("one step too few", "reciprocal", (F64,), "D-ALL-7", lambda X: 1 / X.astype(np.float32)),
        ("a NaN becomes 0", "relu", (F32, F16), "D-RELU", lambda X: np.where(X > 0, X, 0)),
        ("-0 becomes +0", "relu", (F32, F64), "D-RELU", lambda X: np.where(X <= 0, 0, X)),
        ("1 becomes 0", "relu", (I8, I64), "D-RELU", lambda X: np.where(X < 2, 0, X)),
        (
            "subnormal numbers are lost",
            "relu",
            (F32, F16),
            "D-ALL-4",
            lambda X: _relu(_flushed(X)),
        ),
        ("floats are added in half", "add", (F32,), "D-ADD", lambda A, B: A.astype(np.float16) + B),
        ("sums of floats are rounded twice", "add", (F64,), "D-ADD", lambda A, B: (A + B).astype(np.float32)),
        ("integers saturate", "add", (I8, U64), "D-ADD", _saturated),
        ("subnormal sums are lost", "add", (F32,), "D-ALL-4", lambda A, B: _flushed(A + B)),
        ("factors lose their last bit", "mul", (F64,), "D-MUL", lambda A, B: A * B.astype(np.float32)),
        ("a subnormal factor is lost", "mul", (F32, F64), "D-ALL-4", lambda A, B: _flushed(A) * B),
        ("the second is squared", "mul", (U8,), "D-MUL", lambda A, B: B * B),
        ("a quotient by 0 is 0", "div", (I8, I64, U8), "D-ALL-11", _truncated),
        ("quotients are rounded down", "div", (I8, I64), "D-DIV", lambda A, B: A // B),
        ("a quotient is a product", "div", (F32, F64), "D-DIV", lambda A, B: A * (1 / B)),
        ("division by 0 leaves the dividend", "mod", (I8, I64, U8), "D-ALL-11", _left_over),
        ("floats have the sign of the divisor", "mod", (F32, F64), "D-MOD", lambda A, B, fmod: np.mod(A, B)),
        (
            "a large quotient is rounded",
            "mod",
            (F32, F64),
            "D-MOD",
            lambda A, B, fmod: A - B * np.trunc(A / B),
        ),
        ("fmod is always 1", "mod", (I8, I64), "D-MOD", lambda A, B, fmod: np.fmod(A, B)),
        ("a NaN loses", "max", (F32, F64), "D-ALL-4", lambda *data: reduce(np.fmax, data)),
        ("the smaller comes out", "max", (I8, U64), "D-ALL-10", lambda *data: reduce(np.fmin, data)),
        (
            "the last is left out",
            "min",
            (F64,),
            "D-ALL-10",
            lambda *data: reduce(_smaller, data[:-1] or data),
        ),
        (
            "the last is left out",
            "max",
            (F16,),
            "D-ALL-10",
            lambda *data: reduce(_larger, data[:-1] or data),
        ),
        (
            "unsigned is taken for signed",
            "max",
            (U8,),
            "D-ALL-10",
            _signed,
        ),
        ("a NaN loses", "min", (F32, F64), "D-ALL-4", lambda *data: reduce(np.fmin, data)),
        ("the larger comes out", "min", (I8, U64), "D-ALL-10", lambda *data: reduce(np.fmax, data)),
        ("a NaN that comes second loses", "min", (F16,), "D-ALL-4", lambda *data: reduce(_smaller, data)),
        ("the first of equal zeros", "min", (F64,), "D-ALL-10", _first_of_equals),
        (
            *("the first is left out", "min", (F32, U8), "D-ALL-10"),
            lambda *data: reduce(_smaller, data[1:] or data),
        ),
        (
            *("the line is not rounded", "hard_sigmoid", (F32, F16), "D-HARDSIGMOID"),
            lambda X, alpha, beta: _between(_line(X.astype(np.float64), alpha, beta)),
        ),
        (
            *("alpha is ONNX's default", "hard_sigmoid", (F32, F64), "D-HARDSIGMOID"),
            lambda X, alpha, beta: _between(_line(X, 0.2, beta)),
        ),
        (
            *("a sixth is divided by", "hard_swish", (F32, F64), "D-HARDSWISH"),
            lambda X: X * _between((X + X.dtype.type(3)) / X.dtype.type(6)),
        ),
        (
            *("-inf gives zero", "hard_swish", (F32,), "D-ALL-4"),
            lambda X: np.where(X < -9, -0.0, X * _between(_line(X, SIXTH, 0.5))),
        ),
    )
]
