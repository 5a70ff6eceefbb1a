"""A tour of the operators: values, special values and exact results, as tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import sonnx
from sonnx import xla

_NAMES = {
    "sonnx": sonnx,
    "xla": xla,
    "np": np,
    "f": np.float32,
    "nan": np.float32(np.nan),
    "array": lambda *values: np.array(values, np.float32),
    "image": lambda *values, dtype=np.float32: np.array(values, dtype).reshape(1, 1, 1, -1),
    "exact_image": lambda *values: sonnx.real(list(values)).reshape(1, 1, 1, -1),
    "plain": {"strides": [1, 1], "pads": [0, 0, 0, 0], "dilations": [1, 1], "group": 1},
}

_LEGEND = """Short forms below: xla is sonnx.xla, f is np.float32, array(...) holds floats, image(...) is a
float image of one line, exact_image(...) one of real numbers; plain is strides and dilations 1,
no pads, group 1.
"""


@dataclass(frozen=True)
class Stop:
    """One line of the tour: an expression and what there is to see."""

    expression: str
    remark: str

    def result(self) -> str:
        """Evaluate the expression; the text that is shown is the text that runs."""
        try:
            value = eval(self.expression, dict(_NAMES))
        except sonnx.DomainError as error:
            return "stops: " + ", ".join(finding.rule for finding in error.findings)
        except sonnx.RuleError as error:
            return "refused: " + ", ".join(finding.rule for finding in error.findings)
        return show(value)


TOUR: dict[str, tuple[Stop, ...]] = {
    "Clip: limit elements to an interval": (
        Stop(
            'sonnx.clip(sonnx.real(["-6.1", "9.5", "35.7"]), sonnx.real(0), sonnx.real(10))',
            "exact real numbers",
        ),
        Stop("sonnx.clip(array(-6.3, 9.2, 35.5), f(0.5), f(10.1))", "float, bit for bit"),
        Stop("sonnx.clip(array(6.5, nan), f(20), f(10))", "min above max: max; but NaN stays NaN"),
        Stop("sonnx.clip(array(-np.inf, 0, np.inf), f(-1), nan)", "a NaN bound does not bound"),
        Stop("sonnx.clip(array(-0.0, 0.0), f(0.0), f(1))", "zeros are equal, so the sign stays"),
        Stop("sonnx.clip(np.int8([-128, 5]), np.int8(-9), np.int8(0))", "integers"),
        Stop("sonnx.clip(array(1, 2), np.float64(0), f(1))", "no silent conversion"),
    ),
    "Conv: slide a kernel, sum the products": (
        Stop(
            'sonnx.conv(exact_image("0.1", "0.2"), exact_image("1/3", 3), sonnx.real(["1/7"]), '
            "kernel_shape=[1, 2], **plain)",
            "exact: 1/30 + 3/5 + 1/7",
        ),
        Stop(
            "sonnx.conv(image(0.1, 0.2), image(1 / 3, 3), array(1 / 7), kernel_shape=[1, 2], **plain)",
            "the same in float",
        ),
        Stop(
            'sonnx.error_bound("Conv", image(0.1, 0.2), image(1 / 3, 3), array(1 / 7), '
            "kernel_shape=[1, 2], **plain)",
            "how far rounding can take it",
        ),
        Stop(
            "sonnx.conv(image(2**24, 1, -(2**24), 1), image(1, 1, 1, 1), kernel_shape=[1, 4], **plain)",
            "in order: the first 1 is lost",
        ),
        Stop(
            "sonnx.conv(image(1 + 2**-12), image(1 + 2**-12), array(-1), kernel_shape=[1, 1], **plain)",
            "separate: two roundings",
        ),
        Stop(
            "sonnx.conv(image(1 + 2**-12), image(1 + 2**-12), array(-1), kernel_shape=[1, 1], "
            'accumulate="fused", **plain)',
            "fused: one rounding",
        ),
        Stop(
            "sonnx.conv(image(1), image(np.inf, 1), kernel_shape=[1, 2], **(plain | {'pads': [0, 1, 0, 0]}))",
            "padding inserts zeros: 0 times inf",
        ),
        Stop(
            "sonnx.conv(image(1), image(1, 2), kernel_shape=[1, 2], **(plain | {'group': 0}))",
            "all findings at once",
        ),
    ),
    "Where: choose element by element": (
        Stop("sonnx.where(np.array([True, False, True]), array(9, 8, 7), array(6, 5, 4))", "values"),
        Stop("sonnx.where(np.array([True, False]), array(-0.0, 1), array(1, nan))", "bits are kept"),
        Stop("sonnx.where(np.array([True, False]), np.array(['a', 'b']), np.array(['c', 'd']))", "strings"),
        Stop("sonnx.where(np.array([True]), array(1, 2), array(3, 4))", "no silent broadcasting"),
    ),
    "Broadcast and Expand: one shape for all": (
        Stop("sonnx.broadcast(array(1, 2, 3), np.int8([[10], [20]]))", "each keeps its type"),
        Stop("sonnx.expand(sonnx.real(['1/3']), [2, 2])", "the explicit operator"),
        Stop("sonnx.broadcast(array(1), array())", "0 beside 1: neither largest nor 1"),
    ),
    "Arithmetic, element by element": (
        Stop("sonnx.add(array(2**24, -0.0, np.inf), array(1, 0.0, -np.inf))", "each sum is rounded once"),
        Stop('sonnx.div(sonnx.real(["1", "0.2"]), sonnx.real(["3", "-7"]))', "exact quotients"),
        Stop("sonnx.div(np.int8([-7, -128]), np.int8([2, -1]))", "towards zero; integers wrap"),
        Stop("sonnx.div(np.int32([7, 7]), np.int32([2, 0]))", "a divisor 0 of integers stops a run"),
        Stop("sonnx.mod(np.int32([7, -7]), np.int32([3, 3]), fmod=0)", "the sign of the divisor"),
        Stop("sonnx.max(array(-0.0, nan, 1), array(0.0, 1, 2))", "the later of equal zeros; a NaN wins"),
        Stop(
            "sonnx.cast(array(3e9, -1.9, nan), to='int32', saturate=1, round_mode='up')",
            "cut off, limited, NaN is 0",
        ),
        Stop('sonnx.sqrt(sonnx.real(["4/9", "2"]))', "a fraction where there is one, else an enclosure"),
        Stop("sonnx.hard_swish(array(-4, 1, -np.inf))", "a composition: every part rounds"),
    ),
    "XLA operations": (
        Stop("xla.clamp(np.int32([-1, 5, 9]), np.int32(0), np.int32(6))", "between two bounds"),
        Stop("xla.clamp(array(-0.0, 1), f(0), nan)", "unlike Clip: a NaN bound gives NaN"),
        Stop(
            'xla.convert_element_type(np.float64([1 + 2**-11 + 2**-30]), "f16")',
            "rounded once, not by way of f32",
        ),
        Stop('xla.convert_element_type(array(nan, -300.5, 1e9), "s8")', "NaN is 0, the ends saturate"),
        Stop(
            "xla.conv_with_general_padding(image(1, 2)[0], image(1, 1)[0], [1], [(1, -1)], [2], [1])",
            "zeros between, one before, one place less",
        ),
        Stop("xla.collapse(np.zeros((2, 3)), [1, 0])", "only in order"),
    ),
}


def show(value: Any) -> str:
    """Write arrays as nested lists, floats so that they read back to the same value, reals as fractions."""
    if isinstance(value, tuple):
        return "  and  ".join(map(show, value))
    return _nested(value.tolist() if value.dtype != np.float32 else value)


def _nested(value: Any) -> str:
    if isinstance(value, (list, np.ndarray)):
        return f"[{', '.join(map(_nested, value))}]"
    return str(value) if isinstance(value, (Fraction, np.float32, sonnx.Ball)) else repr(value)


def print_tour(console: Console) -> None:
    """Print the whole tour, and at its end one refused call with its message."""
    console.print(Panel(Text("The profile's operators, executed by their definitions"), expand=False))
    console.print(Text(_LEGEND))
    for title, stops in TOUR.items():
        console.print(_table(title, stops))
        console.print()
    console.print(_refusal())


def _table(title: str, stops: Iterable[Stop]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=True)
    table.add_column("expression", overflow="fold", ratio=5)
    table.add_column("result", overflow="fold", ratio=3)
    table.add_column("what to see", overflow="fold", ratio=2)
    for stop in stops:
        table.add_row(Text(stop.expression), Text(stop.result(), style="bold"), Text(stop.remark))
    return table


def _refusal() -> Group:
    expression = "sonnx.clip(array(1, 2), np.float64(0), f(1))"
    try:
        eval(expression, dict(_NAMES))
        message = "(nothing was refused)"
    except sonnx.RuleError as error:
        message = str(error)
    heading = Text("A call outside the profile is refused, with rule, values and advice:", style="bold")
    return Group(heading, Text(f"\n>>> {expression}\n"), Text(message))
