"""What the tests of the XLA operations share: the element types by XLA's names, and calls both ways."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tests.operators.support import HELD, Array, array_of, bits, message, special_values

import sonnx

# XLA's names and those under which the other tests know the types.
SPELLED = {
    "pred": "bool",
    **{f"s{width}": f"int{width}" for width in (8, 16, 32, 64)},
    **{f"u{width}": f"uint{width}" for width in (8, 16, 32, 64)},
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float",
    "f64": "double",
    "c64": "complex64",
    "c128": "complex128",
}
INTEGERS = [name for name in SPELLED if name[0] in "su"]
FLOATS = ["f16", "bf16", "f32", "f64"]
COMPLEX = ["c64", "c128"]
SUMMED = ["real", *INTEGERS, *FLOATS]
ORDERED = ["real", "pred", *INTEGERS, *FLOATS]
EVERY_TYPE = [*ORDERED, *COMPLEX]

# NaNs with payloads and of both signs, quiet and signalling; infinities, zeros, subnormals, ends; 1, -2.5.
_BFLOAT16 = (0x7F81, 0x7FC0, 0xFFD5, 0xFF81, 0x7F80, 0xFF80, 0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080)
_MORE_BFLOAT16 = (0x7F7F, 0xFF7F, 0x3F80, 0xC020)


def held(name: str) -> np.dtype[Any]:
    """The NumPy dtype that holds a type."""
    return np.dtype(object) if name == "real" else HELD[SPELLED[name]]


def specials(name: str) -> list[Any]:
    """Elements of a type whose treatment is easily got wrong."""
    if name == "bf16":
        return list(np.array(_BFLOAT16 + _MORE_BFLOAT16, np.uint16).view(held(name)))
    return special_values(SPELLED.get(name, name))


def array(name: str, shape: Sequence[int], elements: Sequence[Any]) -> Array:
    """An array of a type from its elements, bit for bit."""
    return array_of(SPELLED.get(name, name), shape, elements)


def ones(name: str, *shape: int) -> Array:
    """An array of ones."""
    return sonnx.real(np.ones(shape)) if name == "real" else np.ones(shape, held(name))


def random_bits(random: np.random.Generator, name: str, shape: Sequence[int]) -> Array:
    """An array of arbitrary bits; every other element is a special one."""
    count = int(np.prod(tuple(shape), dtype=np.int64))
    chosen = [specials(name)[k] for k in random.integers(0, len(specials(name)), count)]
    result = array(name, (count,), chosen)
    if name != "real":
        others = np.frombuffer(random.bytes(count * held(name).itemsize), held(name))
        result[::2] = others[::2]
    return result.reshape(tuple(shape))


def nans(numbers: Array) -> Array:
    """Where a float array holds a NaN, by its bits: a test that signals none."""
    infinity = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF << 52}
    kind = np.dtype(f"u{numbers.dtype.itemsize}")
    magnitude = np.asarray(numbers).view(kind) & kind.type(2 ** (8 * kind.itemsize - 1) - 1)
    return np.asarray(magnitude > kind.type(infinity[numbers.dtype.name]))


def same_numbers(left: Array, right: Array) -> bool:
    """Tell whether two arrays have the same bits, where every NaN is as good as another (D-ALL-4)."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if left.dtype.kind in "iuO":
        return bits(left) == bits(right)
    both = nans(left) & nans(right)
    zero = left.dtype.type(0)
    return bits(np.where(both, zero, left)) == bits(np.where(both, zero, right))


NAN = float("nan")
# No list of integers, whatever it is; and what a message shows of it must be fit to be printed.
NO_LISTS: list[Any] = [
    *(None, NAN, 1, 1.0, "1", "11", b"1", True, 10**5000, {1}, {1: 1}, object(), int, "\x1b[31m"),
    *(np.array(1), np.ones((1, 1), int), np.array([1.0]), np.array([NAN]), np.array([True])),
    *(np.array([1], "m8[s]"), np.array(["1"]), np.broadcast_to(np.float32(1), (2**40,))),
]
NO_INTEGERS: list[Any] = [
    *(None, NAN, 1.0, "1", b"1", True, 2**63, -(2**63) - 1, 10**5000),
    *([1], (1,), 1j, object()),
]


class Silent:
    """Cannot print itself."""

    def __repr__(self) -> str:
        raise RuntimeError


HOSTILE = [*NO_LISTS, *([item] for item in NO_INTEGERS), [[1]], [[[]]], [1, [1]], Silent(), [Silent()]]
NESTED: list[Any] = []
for _ in range(20):
    NESTED = [NESTED, 1]


def rules_of(function: Callable[..., Any], *operands: Any, **attributes: Any) -> list[str]:
    """What a call breaks both ways; its message must be short and printable."""
    text = message(function, *operands, **attributes)
    assert text.isascii()
    assert all(line.isprintable() for line in text.splitlines())
    assert max(map(len, text.splitlines())) < 400
    return refused(function, *operands, **attributes)


def said(function: Callable[..., Any], *operands: Any, **attributes: Any) -> str:
    """The message of a broken rule, with single spaces."""
    return re.sub(" +", " ", message(function, *operands, **attributes))


def refused(function: Callable[..., Any], *operands: Any, **attributes: Any) -> list[str]:
    """The rules that a call breaks, by the plain function and by the builder alike.

    Arrays become parameters of a computation; a mode of evaluation is nothing that a builder takes.
    """
    with pytest.raises(sonnx.RuleError) as plain:
        function(*operands, **attributes)
    builder = sonnx.xla.ComputationBuilder("wrong")
    handles = [_handle(builder, operand) for operand in operands]
    with pytest.raises(sonnx.RuleError) as built:
        getattr(builder, function.__name__)(*handles, **attributes)
    found = [finding.rule for finding in plain.value.findings]
    assert [finding.rule for finding in built.value.findings] == found
    return found


def _handle(builder: Any, operand: Any) -> Any:
    """What stands for an argument in a builder: a handle for an array, anything else itself."""
    if isinstance(operand, list):
        return [_handle(builder, item) for item in operand]
    return builder.constant(operand) if isinstance(operand, (np.ndarray, np.generic)) else operand
