"""What the contract of Conv's plain C says: the definition in full, term by term, on the sizes of one node.

It is a witness of its own. The C leaves out what is always 0; this does not, and mirrors `meaning`: the
image at m·stride + tap·dilation less the padding, weights [c, ci, p, q], the sum from the bias on (D-CONV-5,
D-CONV-6).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from sonnx.model.plain import place


@dataclass(frozen=True)
class Shapes:
    """The sizes of one Conv, `padded` those of the image in its padding."""

    X: Sequence[int]
    padded: Sequence[int]
    W: Sequence[int]
    Y: Sequence[int]
    bias: bool


@dataclass(frozen=True)
class Arithmetic:
    """The type of the sum, whether its steps are fused, and whether elements are float16."""

    accumulator: str
    fused: bool
    half: bool

    def value(self, element: str) -> str:
        """An element as a number of the sum's type."""
        return f"value_of_half({element})" if self.half else element

    def step(self, before: str, x: str, w: str) -> str:
        """The sum after one more term."""
        if self.fused:
            return f"fused_{self.accumulator}({x}, {w}, {before})"
        return f"sum_{self.accumulator}({before}, product_{self.accumulator}({x}, {w}))"

    def result(self, made: str, total: str) -> str:
        """That an element is what a sum gives."""
        if self.half:
            return f"same_uint16_t({made}, nearest_half({total}))"
        return f"same_{self.accumulator}({made}, {total})"


def contract(
    shapes: Shapes, attributes: Mapping[str, Any], arithmetic: Arithmetic, used: Sequence[int], copied: bool
) -> dict[str, str | int]:
    """The values of the template's annotations.

    `used` are the axes of the output that the C asks for, `copied` tells that the image is padded in a copy.
    """
    X, W, Y = shapes.X, shapes.W, shapes.Y
    names = [index if axis in used else "0" for axis, index in enumerate("bcmn")]
    ranges = [f"0 <= {name} < {size}" for name, size in zip(names, Y, strict=True) if name != "0"]
    total = "${function}_sum(%s, " + f"{W[1]}, 0, 0)"
    before = "${function}_sum(b, c, m, n, ci, p, q - 1)"
    x = _operand(shapes, attributes, arithmetic, "bcmn", "(q - 1)")
    w = arithmetic.value(f"$W[((c * {W[1]} + ci) * {W[2]} + p) * {W[3]} + (q - 1)]")
    written = [f"$padded[0 .. {prod(shapes.padded) - 1}]"] if copied else []
    return {
        **(_padded(shapes.padded, attributes["pads"]) if copied else {}),
        "lines": X[2],
        "columns": X[3],
        "term": arithmetic.step(before, x, w) if prod(W[1:]) else "",
        "operand": _operand(shapes, attributes, arithmetic, names, "q"),
        "first": arithmetic.value("$B[c]") if shapes.bias else f"({arithmetic.accumulator})0.0",
        "ranges": " && ".join(ranges) or "\\true",
        "indices": ", ".join(names),
        "sum_same": f"same_{arithmetic.accumulator}",
        "result": arithmetic.result("\\result", total % ", ".join(names)),
        "made": arithmetic.result("$Y[t]", total % _places("t", Y, used)),
        "made_before": arithmetic.result("$Y[k]", total % _places("k", Y, used)),
        "written": ", ".join([*written, f"$Y[0 .. {prod(Y) - 1}]"]),
        "last": prod(Y) - 1,
    }


def _padded(padded: Sequence[int], pads: Sequence[int]) -> dict[str, str | int]:
    """What is said of the copy with padding, whose elements are counted in C order."""
    flat = (prod(padded[:2]), *padded[2:])
    plane, line, column = (place("t", flat, axis) or "0" for axis in range(3))

    def equal(made: str, at: str) -> str:
        plane, line, column = (place(at, flat, axis) or "0" for axis in range(3))
        return f"$same({made}, ${{function}}_x({plane}, {line} - {pads[0]}, {column} - {pads[1]}))"

    return {
        "planes": flat[0],
        "padded_lines": flat[1],
        "padded_columns": flat[2],
        "padded_last": prod(padded) - 1,
        "before": pads[0],
        "left": pads[1],
        "place_plane": plane,
        "place_line": line,
        "place_column": column,
        "is_padding": equal("\\result", "t"),
        "is_padded": equal("$padded[t]", "t"),
        "was_padded": equal("$padded[k]", "k"),
    }


def _operand(
    shapes: Shapes, attributes: Mapping[str, Any], arithmetic: Arithmetic, indices: Sequence[str], q: str
) -> str:
    """The element of the padded image that a term reads, as a number of the sum's type."""
    b, c, m, n = indices
    channel = "ci" if attributes["group"] == 1 else f"({c} + ci)"
    (s0, s1), (d0, d1) = attributes["strides"], attributes["dilations"]
    before, left = attributes["pads"][:2]
    image = (
        f"{b} * {shapes.X[1]} + {channel}, {m} * {s0} + p * {d0} - {before}, {n} * {s1} + {q} * {d1} - {left}"
    )
    return arithmetic.value("${function}_x(" + image + ")")


def _places(flat: str, Y: Sequence[int], used: Sequence[int]) -> str:
    """The four indices of an element of the output, 0 where the C asks for none."""
    return ", ".join(place(flat, Y, axis) if axis in used else "0" for axis in range(4))
