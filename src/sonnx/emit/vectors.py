"""Inputs on which an emitted project is tested, drawn with a fixed seed."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from sonnx.derive.c_types import CType
from sonnx.emit.layout import calculated
from sonnx.emit.types import c_type
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph, Value
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.vocabulary.rule import DomainError

_SEED = 20_260

# Changes some of the bits of a float input.
_Change = Callable[[Array, CType, np.random.Generator], None]


@dataclass(frozen=True, eq=False)
class Vector:
    """Arrays by input name, and what the model gives for them, by output name.

    Where it stops outside a domain, there are no outputs, and the status says at which node (D-ALL-11).
    """

    label: str
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]
    status: int = 0


def draw(graph: Graph) -> list[tuple[str, dict[str, Array]]]:
    """Arrays for every input of a graph without functions, each set with the name of what is in it.

    Special values are rare where there are sums: one NaN reaches every sum that it takes part in, and among
    NaNs nothing else is seen. Models without strings only: strings cannot be emitted.
    """
    if not graph.inputs:
        return [("constants alone", {})]
    filled = [value for value in graph.inputs if 0 not in (value.type.sizes or ())]
    wanted: list[tuple[str, _Change | None, int]] = [("ordinary numbers", None, 2)]
    if any(value.type.dtype is DType.BOOL for value in filled):
        wanted.append(("ordinary numbers, bools of any byte", None, 256))
    if any(_kind(value).infinity for value in filled):
        wanted += [(label, change, 2) for label, change in _SPARSE]
        wanted += [] if calculated(graph) else [(_DENSE[0], _DENSE[1], 2)]
    random = np.random.Generator(np.random.PCG64(_SEED))
    return [
        (label, {value.name: _drawn(value, change, bytes_of_bool, random) for value in graph.inputs})
        for label, change, bytes_of_bool in wanted
    ]


def _kind(value: Value) -> CType:
    return c_type(value.type, value.name)


def _drawn(value: Value, change: _Change | None, bytes_of_bool: int, random: np.random.Generator) -> Array:
    sizes, kind = value.type.sizes or (), _kind(value)
    dtype = value.type.dtype or DType.FLOAT
    count = prod(sizes) * kind.parts
    if not kind.infinity:
        high = bytes_of_bool if dtype is DType.BOOL else 256
        words = random.integers(0, high, count * kind.width, np.uint8)
    else:
        words = _ordinary(dtype, kind, random.uniform(-2, 2, count))
        if change is not None and count:
            change(words, kind, random)
    return words.view(numpy_dtype(dtype)).reshape(sizes)


def _ordinary(dtype: DType, kind: CType, numbers: Array) -> Array:
    """The bits of numbers, parts of complex ones one after the other."""
    if dtype is DType.BFLOAT16:
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return numbers.astype(f"f{kind.width}").view(f"u{kind.width}")


def _sign(kind: CType) -> int:
    return 1 << (8 * kind.width - 1)


def _nans(kind: CType) -> list[int]:
    """NaNs of both kinds and signs."""
    quiet = (kind.infinity & -kind.infinity) >> 1
    found = [kind.infinity | payload for payload in (1, 5, quiet, quiet + 3)]
    return found + [nan | _sign(kind) for nan in found]


def _small(kind: CType) -> list[int]:
    """Zeros, and numbers below the smallest normal one, which is the lowest bit of the exponent."""
    normal = kind.infinity & -kind.infinity
    found = [0, 1, 2, 3, normal - 1, normal]
    return found + [bits | _sign(kind) for bits in found]


def _endless(kind: CType) -> list[int]:
    return [kind.infinity, kind.infinity | _sign(kind)]


def _some(
    choices: Callable[[CType], list[int]], rate: int, words: Array, kind: CType, random: np.random.Generator
) -> None:
    """Make one word in so many, and one at least, one of the choices."""
    chosen = np.asarray(random.integers(0, rate, words.size)) == 0
    chosen[int(random.integers(0, words.size))] = True
    special = np.array(choices(kind), words.dtype)
    words[chosen] = special[random.integers(0, len(special), np.count_nonzero(chosen))]


def _one(
    choices: Callable[[CType], list[int]], words: Array, kind: CType, random: np.random.Generator
) -> None:
    """Make one word one of the choices."""
    special = choices(kind)
    words[int(random.integers(0, words.size))] = special[int(random.integers(0, len(special)))]


_SPARSE: tuple[tuple[str, _Change], ...] = (
    ("zeros and subnormal numbers", partial(_some, _small, 2)),
    ("one NaN in every float input", partial(_one, _nans)),
    ("one +infinity in every float input", partial(_one, lambda kind: _endless(kind)[:1])),
    ("one -infinity in every float input", partial(_one, lambda kind: _endless(kind)[1:])),
)
_DENSE: tuple[str, _Change] = (
    "many NaNs, infinities and zeros",
    partial(_some, lambda kind: [*_nans(kind), *_endless(kind), 0, _sign(kind)], 3),
)


def vectors(
    graph: Graph,
    evaluate: Callable[[Mapping[str, Array]], Mapping[str, Array]],
    status: Callable[[DomainError], int],
    *,
    stops: bool,
) -> list[Vector]:
    """What is drawn, with what the definitions give for it; `stops` says whether a node may have no result.

    Where there is none, the same is asked again with ones in the place of zeros.
    """
    drawn = draw(graph)
    zeros = {name: _integers(0, array, array != 0) for name, array in drawn[0][1].items()} if stops else {}
    found = []
    for label, inputs in (*drawn, *([("integers that are zero", zeros)] if zeros else [])):
        try:
            found.append(Vector(label, inputs, evaluate(inputs)))
        except DomainError as stopped:
            found.append(Vector(f"{label}, where it stops", inputs, {}, status(stopped)))
            mended = {name: _integers(1, array, array == 0) for name, array in inputs.items()}
            with suppress(DomainError):
                found.append(Vector(label, mended, evaluate(mended)))
    return found


def _integers(value: int, array: Array, places: Array) -> Array:
    """Another value at some places, if the elements are integers."""
    return np.where(places, array.dtype.type(value), array) if array.dtype.kind in "iu" else array
