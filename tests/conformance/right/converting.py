"""ConvertElementType, one element at a time, in whole numbers and fractions."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from tests.conformance.right.elements import FORMS, PARTS, Array, encoded, number, to_even
from tests.conformance.right.moving import Attributes, Operands

TYPES: dict[str, np.dtype[Any]] = {
    "pred": np.dtype(np.bool_),
    **{f"s{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
# The types that ONNX's Cast knows, by their numbers.
NUMBERED = dict(enumerate(["f32", "u8", "s8", "u16", "s16", "s32", "s64"], 1)) | {
    **{9: "pred", 10: "f16", 11: "f64", 12: "u32", 13: "u64", 16: "bf16"}
}
Element = int | float
# More than anybody wants to convert one by one.
_MANY = 100_000


def saturated(value: int, least: int, greatest: int) -> int:
    return least if value < least else greatest if value > greatest else value


def wrapped(value: int, least: int, greatest: int) -> int:
    return (value - least) % (greatest - least + 1) + least


@dataclass(frozen=True)
class Way:
    """How an element is converted; what is given here is the specified way."""

    whole: Callable[[float], int] = math.trunc
    too_large: Callable[[int, int, int], int] = saturated
    integer_too_large: Callable[[int, int, int], int] = wrapped
    nan: Callable[[int, int], int] = lambda least, greatest: 0
    choose: Callable[[int, Fraction], int] = to_even
    true: Callable[[Element], bool] = lambda element: element != 0
    imaginary: float = 0.0


SPECIFIED = Way()


def asked_of(operands: Operands, attributes: Attributes) -> tuple[Array, str]:
    """What is to be converted, and to which type, as XLA spells it."""
    (x,) = operands.values()
    return x, NUMBERED[attributes["to"]] if "to" in attributes else attributes["new_element_type"]


def convert(operands: Operands, attributes: Attributes) -> Array:
    return converted(*asked_of(operands, attributes))


def converted(x: Array, to: str, way: Way = SPECIFIED) -> Array:
    """An array of another type."""
    target = TYPES[to]
    if x.dtype == target:
        return x.copy()
    if x.dtype in PARTS:
        return _from_complex(x, to, way)
    if target in PARTS:
        output = np.empty(x.shape, target)
        part = converted(x, "f32" if to == "c64" else "f64", way)
        output.real, output.imag = part, way.imaginary
        return output
    elements: list[Element] = number(x).reshape(-1).tolist()
    if target == np.bool_:
        return np.array([way.true(element) for element in elements], bool).reshape(x.shape)
    if target in FORMS:
        form = FORMS[target]
        found = [_float(element, target, way) for element in elements]
        return np.array(found, form.raw).view(target).reshape(x.shape)
    info = np.iinfo(target)
    if x.size > _MANY and x.dtype in FORMS and way is SPECIFIED:
        return _many_from_float(number(x), target)
    whole = _from_float if x.dtype in FORMS else _from_integer
    found = [whole(element, int(info.min), int(info.max), way) for element in elements]
    return np.array(found, target).reshape(x.shape)


def _from_complex(x: Array, to: str, way: Way) -> Array:
    if to == "pred":
        either: Array = converted(x.real.copy(), to, way) | converted(x.imag.copy(), to, way)
        return either
    output = np.empty(x.shape, TYPES[to])
    part = "f32" if to == "c64" else "f64"
    output.real, output.imag = (converted(half.copy(), part, way) for half in (x.real, x.imag))
    return output


def _float(element: Element, target: np.dtype[Any], way: Way) -> int:
    form = FORMS[target]
    if isinstance(element, float):
        sign = form.sign if math.copysign(1, element) < 0 else 0
        if not math.isfinite(element):
            return sign | form.infinity | (form.quiet if math.isnan(element) else 0)
        if element == 0:
            return sign
    return encoded(Fraction(element), form, way.choose)


def _from_float(element: Element, least: int, greatest: int, way: Way) -> int:
    if math.isnan(element):
        return way.nan(least, greatest)
    if math.isinf(element):
        return way.too_large(2**80 if element > 0 else -(2**80), least, greatest)
    return way.too_large(way.whole(element), least, greatest)


def _many_from_float(x: Array, target: np.dtype[Any]) -> Array:
    """The same for narrow integers, all at once: doubles hold their ends."""
    info = np.iinfo(target)
    with np.errstate(all="ignore"):
        whole = np.where(np.isnan(x), 0.0, np.trunc(x))
    whole = np.where(whole < info.min, float(info.min), np.where(whole > info.max, float(info.max), whole))
    return whole.astype(target)


def _from_integer(element: Element, least: int, greatest: int, way: Way) -> int:
    return way.integer_too_large(int(element), least, greatest)


def with_way(**changes: Any) -> Callable[[Operands, Attributes], Array]:
    """The conversion, but for some of its ways."""
    way = replace(SPECIFIED, **changes)
    return lambda operands, attributes: converted(*asked_of(operands, attributes), way)
