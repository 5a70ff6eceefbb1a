"""Inputs on which an emitted project is tested, drawn with a fixed seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sonnx.model.dtype import IEEE, DType
from sonnx.model.graph import Graph, Value
from sonnx.numeric.arrays import Array, numpy_dtype

_SEED = 20_260
LABELS = ("ordinary numbers", "zeros and subnormal numbers", "NaN and infinities")
# One element in so many is a special one; more would leave no sum without a NaN.
_RARE = 50


@dataclass(frozen=True, eq=False)
class Vector:
    """Arrays by input name, and what the model gives for them, by output name."""

    label: str
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]


def draw(graph: Graph) -> list[tuple[str, dict[str, Array]]]:
    """Arrays for every input of a graph, with what they show; one set where there are no inputs.

    Models without strings only: strings cannot be emitted.
    """
    random = np.random.Generator(np.random.PCG64(_SEED))
    labels = LABELS if graph.inputs else ("constants alone",)
    return [(label, {value.name: _drawn(value, label, random) for value in graph.inputs}) for label in labels]


def _drawn(value: Value, label: str, random: np.random.Generator) -> Array:
    sizes = value.type.sizes or ()
    dtype = value.type.dtype or DType.FLOAT
    held = numpy_dtype(dtype)
    if dtype not in IEEE:
        high = 2 if dtype is DType.BOOL and label == LABELS[0] else 256
        raw = random.integers(0, high, (*sizes, held.itemsize), np.uint8)
        return raw.view(held).reshape(sizes)
    ordinary = random.uniform(-2, 2, sizes).astype(held)
    if label == LABELS[0]:
        return ordinary
    chosen = np.asarray(random.integers(0, _RARE, sizes)) == 0
    if label == LABELS[1]:
        chosen = np.asarray(random.integers(0, 2, sizes)) == 0
    special = _special(dtype, finite=label == LABELS[1])
    ordinary = np.array(ordinary)
    ordinary[chosen] = special[random.integers(0, len(special), np.count_nonzero(chosen))]
    # There is one of the special ones at least, however small the tensor.
    ordinary.reshape(-1)[:1] = special[int(random.integers(0, len(special)))]
    return ordinary


def _special(dtype: DType, *, finite: bool) -> Array:
    """Numbers whose treatment is easily got wrong; NaNs of both kinds and signs among them."""
    held = numpy_dtype(dtype)
    info = np.finfo(held)
    if finite:
        values: Sequence[float] = (0.0, -0.0, float(info.tiny), 1.0, -1.0, 1024.0)
        small = np.array([1, 2, 3], f"u{held.itemsize}").view(held)
        return np.concatenate([np.array(values, held), small, -small])
    width = 8 * held.itemsize
    infinity = np.array(np.inf, held).view(f"u{held.itemsize}")
    payloads = np.array([1, 5, 1 << (info.nmant - 1), (1 << (info.nmant - 1)) + 3], f"u{held.itemsize}")
    nans = infinity | payloads
    negative = nans | np.array(1 << (width - 1), f"u{held.itemsize}")
    endless = np.array([np.inf, -np.inf, 0.0, -0.0], held)
    return np.concatenate([nans.view(held), negative.view(held), endless])
