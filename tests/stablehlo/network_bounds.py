"""How far the scores of a network may lie from the exact ones, for any order of summation, derived.

Every Conv adds an error of its own, at most its bound for any order, on what it really sees. From there an
error reaches the scores through Convs, which are linear, and through Clips, whose slope between the computed
and the exact number lies in [0, 1]: it is 1 or 0 where the number is further from both bounds than it can be
wrong, and else unknown. So the error of a score is Σ a·δ over all elements of all Convs, where the slopes a
are found backwards from the scores, as intervals. Where and Expand only move numbers.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

import sonnx
from sonnx.evaluate.execution import ExecutedNode
from sonnx.model.dtype import DType
from sonnx.model.graph import Node
from sonnx.operators.shared.convolution_accuracy import flushed

Array = Any
# Slopes are sums of at most some thousand doubles, layer after layer: they are wrong by less, relatively.
SLACK = 1e-11


def up(values: Array) -> Array:
    return np.nextafter(values, np.inf)


def magnitudes(exact: Array, error: Array) -> Array:
    """The least floats that no computed element can exceed."""
    largest = [abs(value) + Fraction(float(e)) for value, e in zip(exact.flat, error.flat, strict=True)]
    doubles = up(np.array([float(value) for value in largest]).reshape(exact.shape))
    floats = doubles.astype(np.float32)
    return np.where(floats < doubles, np.nextafter(floats, np.float32(np.inf)), floats)


@dataclass
class Slopes:
    """How much an error moves each score: between `low` and `high`, and no more than `most` in any case."""

    low: Array
    high: Array
    most: Array

    def through(self, weights: Array, source: tuple[int, ...], attributes: dict[str, Any]) -> "Slopes":
        """Back through a convolution: linear, so slopes are convolved with the kernel turned round."""
        positive, negative = np.where(weights > 0, weights, 0), np.where(weights < 0, weights, 0)
        back = [
            backwards(slope, part, source, attributes)
            for slope, part in (
                (self.low, positive),
                (self.high, negative),
                (self.high, positive),
                (self.low, negative),
                (self.most, np.abs(weights)),
            )
        ]
        return Slopes(back[0] + back[1], back[2] + back[3], back[4])

    def where(self, passed: Array, stopped: Array) -> "Slopes":
        """Through a slope of 1 where passed, 0 where stopped, and anything between elsewhere."""
        low = np.where(passed, self.low, np.where(self.low < 0, self.low, 0))
        high = np.where(passed, self.high, np.where(self.high > 0, self.high, 0))
        return Slopes(*(np.where(stopped, 0.0, part) for part in (low, high, self.most)))

    def times(self, own: Array) -> Array:
        """The errors of the scores that errors up to `own` make."""
        largest = np.where(self.high > -self.low, self.high, -self.low) + SLACK * self.most
        return (largest * own).reshape(len(self.low), -1).sum(axis=1)


def backwards(slope: Array, weights: Array, source: tuple[int, ...], attributes: dict[str, Any]) -> Array:
    """The transposed convolution, as a convolution over a dilated base area."""
    strides, dilations, pads = (attributes[name] for name in ("strides", "dilations", "pads"))
    padding = []
    for axis in (0, 1):
        reach = dilations[axis] * (weights.shape[2 + axis] - 1)
        spread = strides[axis] * (slope.shape[2 + axis] - 1) + 1
        low = reach - pads[axis]
        padding.append((low, source[2 + axis] + reach - spread - low))
    turned = np.ascontiguousarray(weights.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1])
    return sonnx.xla.conv_with_general_padding(slope, turned, (1, 1), padding, strides, dilations)


def dense(weights: Array, group: int) -> Array:
    """A depthwise kernel with the zeros that it leaves out."""
    wide = weights.astype(np.float64)
    return wide if group == 1 else np.eye(group)[:, :, None, None] * wide


@dataclass
class Bounds:
    """The exact tensors of a run, what Convs may add, and a coarse bound of the errors so far."""

    graph: sonnx.Graph
    image: Array
    exact: dict[str, Array] = field(default_factory=dict)
    errors: dict[str, Array] = field(default_factory=dict)
    own: dict[str, Array] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.exact["image"], self.errors["image"] = sonnx.real(self.image), np.zeros(self.image.shape)
        self.graph.run({"image": self.image}, domain="real", watch=self._add)

    def _add(self, step: ExecutedNode) -> None:
        node = step.node
        ((name, self.exact[name]),) = step.results.items()
        self.nodes.append(node)
        if node.operator == "Conv":
            self.errors[name] = self._conv(node, name)
        elif node.operator == "Expand":
            assert node.inputs[0] in self.graph.data  # only constants are expanded in this network
        else:
            # Clip moves no two numbers further apart; Where takes them, or constants, as they are.
            moved = node.inputs[0] if node.operator == "Clip" else node.inputs[1]
            self.errors[name] = self.errors[moved]

    def _conv(self, node: Node, name: str) -> Array:
        X, W, B = node.inputs
        attributes = dict(node.attributes)
        weights, bias = (np.abs(self.graph.data[operand]) for operand in (W, B))
        seen = magnitudes(self.exact[X], self.errors[X])
        terms = int(np.prod(weights.shape[1:])) + 1  # the bias is one more
        rounded = sonnx.error_bound("Conv", seen, weights, bias, order="any", **attributes)
        self.own[name] = up(rounded + flushed(terms, DType.FLOAT))
        wide = weights.astype(np.float64)
        passed = sonnx.conv(self.errors[X], wide, **attributes)
        lost = sonnx.error_bound("Conv", self.errors[X], wide, order="any", **attributes)
        return up(self.own[name] + up(passed + lost))

    def of(self, output: str) -> Array:
        """A bound for every score."""
        number = self.exact[output].size
        start = np.eye(number).reshape(number, *self.exact[output].shape[1:])
        slopes, total, name = Slopes(start, start, start), np.zeros(number), output
        for node in reversed(self.nodes):
            if name not in node.outputs:
                continue
            if node.operator == "Conv":
                total += slopes.times(self.own[name])
                name = node.inputs[0]
                weights = dense(self.graph.data[node.inputs[1]], node.attributes["group"])
                slopes = slopes.through(weights, self.exact[name].shape, dict(node.attributes))
            elif node.operator == "Clip":
                name = node.inputs[0]
                slopes = slopes.where(*self._clipped(node))
            else:
                condition, name, _ = node.inputs
                visible = np.broadcast_to(np.asarray(self.exact[condition], bool), self.exact[name].shape)
                slopes = slopes.where(visible, ~visible)
        assert name == "image"
        return total * (1 + SLACK)

    def _clipped(self, node: Node) -> tuple[Array, Array]:
        """Where a Clip certainly passes an element, whatever the error, and where it certainly does not."""
        X, low, high = node.inputs
        least, most = (float(self.graph.data[bound]) for bound in (low, high))
        x = np.array([float(value) for value in self.exact[X].flat]).reshape(self.exact[X].shape)
        reach = up(self.errors[X]) + 1e-12  # more than the rounding of x above
        return (x > least + reach) & (x < most - reach), (x < least - reach) | (x > most + reach)
