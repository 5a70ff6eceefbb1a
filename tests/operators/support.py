"""What the tests of operators share: arrays of arbitrary bits, and ways to look at results."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

import sonnx

Array = NDArray[Any]

# The types as ONNX spells them (D-ALL-2) and the NumPy dtypes that hold their bits.
FLOATS: dict[str, np.dtype[Any]] = {
    "float16": np.dtype(np.float16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}
INTEGERS: dict[str, np.dtype[Any]] = {
    f"{sign}int{width}": np.dtype(f"{sign}int{width}") for sign in ("", "u") for width in (8, 16, 32, 64)
}
OTHERS: dict[str, np.dtype[Any]] = {
    "bool": np.dtype(np.bool_),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "complex64": np.dtype(np.complex64),
    "complex128": np.dtype(np.complex128),
}
HELD = FLOATS | INTEGERS | OTHERS
CLIPPED = ["real", *FLOATS, *INTEGERS]
BROADCAST = ["real", *FLOATS, *INTEGERS, "string", "bool"]
EVERY_TYPE = ["real", "string", *HELD]

# Bits that ask questions: zeros, ones, infinities, NaNs with payloads, subnormals, extremes.
_SPECIAL_FLOATS = ("0x0p0", "-0x0p0", "inf", "-inf", "1.0", "-1.0", "0.5", "2.5", "-2.5")
_SPECIAL_BITS = {
    2: (0x7C01, 0x7E00, 0xFE55, 0xFC01, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF),
    4: (0x7F800001, 0x7FC00000, 0xFFC12345, 0xFF800001, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF),
    8: (
        0x7FF0000000000001,
        0x7FF8000000000000,
        0xFFF8000000ABCDEF,
        1,
        2**63 + 1,
        2**52 - 1,
        0x7FEFFFFFFFFFFFFF,
    ),
}


def special_values(name: str) -> list[Any]:
    """Elements of a type whose treatment is easily got wrong."""
    if name == "real":
        return [Fraction(-61, 10), Fraction(0), Fraction(1, 3), Fraction(10**30), Fraction(-1, 10**30)]
    if name == "string":
        return ["", "a", "ä\n", "\x00", "NaN"]
    held = HELD[name]
    if name in FLOATS:
        plain = [held.type(float.fromhex(text)) for text in _SPECIAL_FLOATS]
        bits = np.array(_SPECIAL_BITS[held.itemsize], f"u{held.itemsize}").view(held)
        return [*plain, *bits]
    if name in INTEGERS:
        info = np.iinfo(held)
        return [held.type(value) for value in (info.min, info.min + 1, 0, 1, 10, info.max - 1, info.max)]
    raw = np.array([0, 1, 255], np.uint8) if name == "bool" else np.arange(3 * held.itemsize, dtype=np.uint8)
    return list(raw.view(held))


def array_of(name: str, shape: Sequence[int], elements: Sequence[Any]) -> Array:
    """An array of a type from its elements, bit for bit."""
    if name == "real":
        return sonnx.real(np.array(elements, object)).reshape(tuple(shape))
    held = np.dtype(object) if name == "string" else HELD[name]
    result = np.empty(len(elements), held)
    for index, element in enumerate(elements):
        result[index : index + 1] = np.array([element], held)
    return result.reshape(tuple(shape))


def elements_of(name: str) -> st.SearchStrategy[Any]:
    """Any element of a type: special ones and arbitrary bits."""
    if name == "real":
        return st.one_of(st.sampled_from(special_values(name)), st.fractions(max_denominator=1000))
    if name == "string":
        return st.one_of(st.sampled_from(special_values(name)), st.text(max_size=4))
    width = HELD[name].itemsize
    anything = st.binary(min_size=width, max_size=width).map(lambda raw: np.frombuffer(raw, HELD[name])[0])
    return st.one_of(st.sampled_from(special_values(name)), anything)


@st.composite
def arrays(draw: st.DrawFn, name: str, shape: Sequence[int]) -> Array:
    """Any array of a type and shape; now and then it is big-endian or runs backwards through memory."""
    count = int(np.prod(shape, dtype=np.int64))
    special = draw(st.lists(st.sampled_from(special_values(name)), max_size=count))
    rest = count - len(special)
    if name in HELD:  # all other bits at once: a draw for each element takes long
        width = HELD[name].itemsize
        others = list(
            np.frombuffer(draw(st.binary(min_size=rest * width, max_size=rest * width)), HELD[name])
        )
    else:
        others = draw(st.lists(elements_of(name), min_size=rest, max_size=rest))
    return draw(st.sampled_from(LAYOUTS))(array_of(name, shape, [*others, *special]))


def big_endian(array: Array) -> Array:
    """The same elements, the most significant byte first (where NumPy has such a dtype)."""
    if array.dtype.kind not in "iufc" or array.dtype == HELD["bfloat16"]:
        return array
    return array.astype(array.dtype.newbyteorder(">"))


def backwards(array: Array) -> Array:
    """The same elements, laid out so that every stride is negative."""
    flip = (slice(None, None, -1),) * array.ndim
    return array[flip].copy()[flip] if array.ndim else array


def gappy(array: Array) -> Array:
    """The same elements with others between them in memory."""
    wide = np.repeat(array, 2, axis=-1) if array.ndim else array
    return wide[..., ::2] if array.ndim else wide


def in_columns(array: Array) -> Array:
    """The same elements in Fortran's order."""
    return array.copy(order="F")


LAYOUTS: list[Callable[[Array], Array]] = [np.asanyarray, big_endian, backwards, gappy, in_columns]


def bits(array: Any) -> tuple[Any, ...]:
    """Everything that two arrays of the same bits share: byte order aside, dtype, shape and raw elements."""
    array = np.asanyarray(array)
    if array.dtype.kind in "OUT":
        return ("objects", array.shape, [str(e) if isinstance(e, str) else e for e in array.ravel().tolist()])
    native = array.astype(array.dtype.newbyteorder("=")) if array.dtype.byteorder == ">" else array
    return (str(native.dtype), native.shape, np.ascontiguousarray(native).tobytes())


def broken(function: Callable[..., Any], *operands: Any, **attributes: Any) -> list[str]:
    """The identifiers of the rules that a call breaks; it must break one."""
    with pytest.raises(sonnx.RuleError) as caught:
        function(*operands, **attributes)
    return [finding.rule for finding in caught.value.findings]


def message(function: Callable[..., Any], *operands: Any, **attributes: Any) -> str:
    """The text of the error that a call raises."""
    with pytest.raises(sonnx.RuleError) as caught:
        function(*operands, **attributes)
    return str(caught.value)


def plain(kernel: tuple[int, int] = (1, 1), **changes: Any) -> Mapping[str, Any]:
    """Attributes of a Conv that pads nothing and steps by 1."""
    given: dict[str, Any] = {
        "strides": (1, 1),
        "pads": (0, 0, 0, 0),
        "dilations": (1, 1),
        "group": 1,
        "kernel_shape": kernel,
    }
    return given | changes
