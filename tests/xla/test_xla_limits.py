"""What XLA operations are held to: IEEE arithmetic, memory, and the size of calls written out."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

import sonnx
from sonnx import xla
from sonnx.evaluate import apply as boundary
from sonnx.model.inline import inlined_size


def test_bfloat16_is_calculated_with_only_where_arithmetic_is_ieee(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise sonnx.NotIeeeError("flushed")

    monkeypatch.setattr(boundary, "require_ieee", refuse)
    x = np.ones((1, 1), ml_dtypes.bfloat16)
    with pytest.raises(sonnx.NotIeeeError):
        xla.conv(x, x, (), "VALID")
    assert xla.broadcast(x, (2,)).shape == (2, 1, 1)  # what only moves does not ask


def least_memory(name: str) -> int:
    """The fewest bytes with which a convolution of 1,000 elements runs."""
    b = xla.ComputationBuilder("sums")
    x = b.parameter(0, xla.Shape(name, (1, 1, 1000)), "x")
    b.conv(x, b.parameter(1, xla.Shape(name, (1, 1, 3)), "w"), (1,), "SAME")
    c = b.build()
    dtype = np.float16 if name == "f16" else ml_dtypes.bfloat16
    arrays = np.ones((1, 1, 1000), dtype), np.ones((1, 1, 3), dtype)
    low, high = 0, 10**6
    while high - low > 1:
        middle = (low + high) // 2
        try:
            c.run(*arrays, memory=middle)
            high = middle
        except sonnx.MemoryLimitError:
            low = middle
    return high


def test_sums_of_bfloat16_are_counted_as_wide_as_those_of_float16() -> None:
    # Three arrays of 1,000 elements of two bytes, and three times as much for what is held as float.
    assert least_memory("bf16") == least_memory("f16") > 16_000


def test_constants_count_when_calls_are_written_out() -> None:
    b = xla.ComputationBuilder("inner")
    x = b.parameter(0, "f32[1]", "x")
    b.clamp(x, b.constant("f32 0"), b.constant("f32 1"))
    o = xla.ComputationBuilder("outer")
    o.call(b.build(), o.parameter(0, "f32[1]", "x"))
    graph = o.build().graph
    (function,) = graph.functions
    many = tuple(replace(function.constants[0], name=f"c{n}") for n in range(2000))
    large = replace(graph, functions=(replace(function, constants=(*function.constants, *many)),))
    assert inlined_size(large)[0] >= inlined_size(graph)[0] + 100


def test_a_quote_in_a_name_does_not_end_its_comment() -> None:
    b = xla.ComputationBuilder('say "so" \\')
    b.parameter(0, "f32[1]", 'x"')
    lines = b.build().to_stablehlo().split("\n")
    assert lines[0] == '// model "say \\"so\\" \\\\"'
    assert '    // %arg0 is input "x\\""' in lines
