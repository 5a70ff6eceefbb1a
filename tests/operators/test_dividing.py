"""Div and Mod of integers against Python's own, exhaustively in 8 bits; every engine on what traps in C."""

from typing import Any

import numpy as np
import pytest
from tests.native.support import Array, model, node, value

import sonnx

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def towards_zero(a: int, b: int) -> int:
    """Python's // rounds down: -(-a // b) where that is another number."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


MEANT = {
    "Div": ({}, towards_zero),
    "Mod 0": ({"fmod": 0}, lambda a, b: a % b),  # Python's % has the sign of the divisor
    "Mod 1": ({"fmod": 1}, lambda a, b: a - b * towards_zero(a, b)),
}


def pairs(dtype: str) -> tuple[Array, Array]:
    """All of 8 bits; else ends, small numbers and neighbours."""
    info = np.iinfo(dtype)
    if info.bits == 8:
        every = np.arange(info.min, info.max + 1).astype(dtype)
    else:
        near = {
            *range(-4, 5),
            info.max // 2,
            *(info.max - k for k in range(3)),
            *(info.min + k for k in range(3)),
        }
        every = np.array(sorted(k for k in near if info.min <= k <= info.max), dtype)
    divisors = every[every != 0]
    return np.repeat(every, len(divisors)), np.tile(divisors, len(every))


def asked(name: str, dtype: str, count: int) -> sonnx.Graph:
    attributes, _ = MEANT[name]
    ends = {each: value(each, dtype, (count,)) for each in "aby"}
    nodes = [node(name.split(maxsplit=1)[0], ("a", "b"), "y", **attributes)]
    return model(nodes, [ends["a"], ends["b"]], [ends["y"]])


@pytest.mark.parametrize("engine", ["reference", "native", "xla"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MEANT)
def test_quotients_and_remainders_are_those_of_python(name: str, dtype: str, engine: Any) -> None:
    a, b = pairs(dtype)
    exact = [MEANT[name][1](x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    bits = np.iinfo(dtype).bits
    wanted = np.array([each % 2**bits for each in exact], f"u{bits // 8}").view(dtype)
    found = asked(name, dtype, len(a)).run({"a": a, "b": b}, engine=engine)["y"]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("engine", ["reference", "native", "xla"])
@pytest.mark.parametrize("name", MEANT)
def test_a_divisor_0_stops_every_engine_with_one_text(name: str, engine: Any) -> None:
    arrays = {"a": np.array([4, 5, 6], np.int32), "b": np.array([1, 0, 0], np.int32)}
    with pytest.raises(sonnx.DomainError) as caught:
        asked(name, "int32", 3).run(arrays, engine=engine)
    operator = name.split(maxsplit=1)[0]
    assert str(caught.value).splitlines()[:4] == [
        f"error[{operator.lower()}.B.D8]: At every element, the divisor is not 0",
        f"  --> node 0 `{operator} y` ({operator})",
        "   A[1] = 5",
        "   B[1] = 0",
    ]
