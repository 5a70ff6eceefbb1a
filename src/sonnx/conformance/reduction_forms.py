"""Which axes of operands and attributes belong together, by operator: what reductions cut, and leave out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.conv.meaning import sliding as conv_sliding
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.trials import Trial
from sonnx.operators.xla.conv.meaning import general_attributes
from sonnx.operators.xla.conv_with_general_padding.geometry import LEADING, SAME, VALID
from sonnx.operators.xla.conv_with_general_padding.meaning import sliding as xla_sliding

Place = tuple[int, ...]
# Arrays by name: operands, and in place of a list of sizes an array of that shape.
Parts = Mapping[str, Array]
# The axes of each part by name.
Labels = Mapping[str, tuple[str, ...]]
Indices = Sequence[int] | slice | Array


def _operands(trial: Trial) -> Parts:
    return trial.inputs


def _with_operands(trial: Trial, parts: Parts) -> Trial:
    return replace(trial, inputs={name: part.copy() for name, part in parts.items()})


def _from_the_end(parts: Parts) -> Labels:
    """Names for axes that stand for the same axis of the output at the same distance from the last one."""
    return {name: tuple(f"{axis - part.ndim}" for axis in range(part.ndim)) for name, part in parts.items()}


def _aligned(trial: Trial) -> Labels:
    return _from_the_end(trial.inputs)


def _nowhere(_trial: Trial, _place: Place) -> Iterator[Trial]:
    return iter(())


def _same_places(_: Trial, place: Place) -> Mapping[str, int]:
    return {f"{axis - len(place)}": index for axis, index in enumerate(place)}


@dataclass(frozen=True)
class Form:
    """How the trials of an operator are cut.

    Axes of one name are cut together, but for a size 1 beside a larger one. `parts` are what has axes, and
    `whole` is the trial with other parts. `places` says at which index of which axes an output element is
    decided, `near` are trials that have little more than what decides it. `others` are trials with an axis or
    an operand less; without it, any axis may be left out.
    """

    labels: Callable[[Trial], Labels] = _aligned
    parts: Callable[[Trial], Parts] = _operands
    whole: Callable[[Trial, Parts], Trial] = _with_operands
    places: Callable[[Trial, Place], Mapping[str, int]] = _same_places
    near: Callable[[Trial, Place], Iterator[Trial]] = _nowhere
    others: Callable[[Trial], Iterator[Trial]] | None = None

    def size(self, trial: Trial, label: str) -> int:
        """The size of an axis."""
        return max(self._sizes(trial).get(label, [0]))

    def names(self, trial: Trial) -> list[str]:
        """The axes, the largest first."""
        sizes = self._sizes(trial)
        return sorted(sizes, key=lambda label: -max(sizes[label]))

    def _sizes(self, trial: Trial) -> Mapping[str, list[int]]:
        parts, sizes = self.parts(trial), dict[str, list[int]]()
        for name, labels in self.labels(trial).items():
            for label, size in zip(labels, parts[name].shape, strict=True):
                sizes.setdefault(label, []).append(size)
        return sizes

    def cut(self, trial: Trial, label: str, keep: Indices) -> Trial:
        """The trial with some indices of an axis."""
        parts, labels, size = self.parts(trial), self.labels(trial), self.size(trial, label)

        def taken(name: str, part: Array) -> Array:
            cuts = [
                keep if each == label and length == size else slice(None)
                for each, length in zip(labels[name], part.shape, strict=True)
            ]
            # Without the dots, an array of no axes would become its element.
            return part[(*cuts, ...)]

        return self.whole(trial, {name: taken(name, part) for name, part in parts.items()})

    def without(self, trial: Trial, label: str) -> Trial | None:
        """The trial without an axis, where that has size 1 everywhere."""
        if self.size(trial, label) != 1:
            return None
        labels = self.labels(trial)

        def squeezed(name: str, part: Array) -> Array:
            return part.reshape(
                [size for each, size in zip(labels[name], part.shape, strict=True) if each != label]
            )

        return self.whole(trial, {name: squeezed(name, part) for name, part in self.parts(trial).items()})

    def smaller(self, trial: Trial) -> Iterator[Trial]:
        """Trials with an axis or an operand less."""
        if self.others is not None:
            yield from self.others(trial)
            return
        for label in self.names(trial):
            if (less := self.without(trial, label)) is not None:
                yield less


def at(form: Form, trial: Trial, places: Mapping[str, int]) -> Trial:
    """The trial with one index of some axes."""
    for label, index in places.items():
        trial = form.cut(trial, label, [index])
    return trial


# --- operators that move elements --------------------------------------------------------------------------


def _shape_only(sizes: Any) -> Array:
    return np.broadcast_to(np.False_, tuple(map(int, sizes)))


def _expand_parts(trial: Trial) -> Parts:
    return {"input": trial.inputs["input"], "shape": _shape_only(trial.inputs["shape"])}


def _expand_whole(trial: Trial, parts: Parts) -> Trial:
    shape = np.array(parts["shape"].shape, np.int64)
    return replace(trial, inputs={"input": parts["input"].copy(), "shape": shape})


def _broadcast_parts(trial: Trial) -> Parts:
    return {**trial.inputs, "broadcast_sizes": _shape_only(trial.attributes["broadcast_sizes"])}


def _broadcast_whole(trial: Trial, parts: Parts) -> Trial:
    attributes = {**trial.attributes, "broadcast_sizes": parts["broadcast_sizes"].shape}
    return replace(trial, inputs={"operand": parts["operand"].copy()}, attributes=attributes)


def _broadcast_labels(trial: Trial) -> Labels:
    operand, new = trial.inputs["operand"].ndim, len(trial.attributes["broadcast_sizes"])
    names = tuple(f"{axis - operand - new}" for axis in range(operand + new))
    return {"operand": names[new:], "broadcast_sizes": names[:new]}


def _collapse_places(trial: Trial, place: Place) -> Mapping[str, int]:
    shape, run = trial.inputs["operand"].shape, trial.attributes["dimensions"]
    inside = np.unravel_index(place[run[0]], shape[run[0] : run[-1] + 1])
    whole = (*place[: run[0]], *map(int, inside), *place[run[0] + 1 :])
    return _same_places(trial, whole)


def _collapse_others(trial: Trial) -> Iterator[Trial]:
    run, rank = tuple(trial.attributes["dimensions"]), trial.inputs["operand"].ndim
    for axis in range(rank):
        left = tuple(each - (each > axis) for each in run if each != axis)
        less = _ALIGNED.without(trial, f"{axis - rank}")
        if less is not None and left:
            yield replace(less, attributes={**trial.attributes, "dimensions": left})


def _concatenate_labels(trial: Trial) -> Labels:
    """Along the dimension every operand has a size of its own."""
    dimension = trial.attributes["dimension"]
    return {
        name: tuple(f"{name} {label}" if axis == dimension else label for axis, label in enumerate(labels))
        for name, labels in _from_the_end(trial.inputs).items()
    }


def _owner(trial: Trial, place: Place) -> tuple[str, int]:
    """The operand that an output element comes from, and its index there along the dimension."""
    dimension = trial.attributes["dimension"]
    ends = np.cumsum([operand.shape[dimension] for operand in trial.inputs.values()])
    number = int(np.searchsorted(ends, place[dimension], side="right"))
    name = list(trial.inputs)[number]
    return name, place[dimension] - int(ends[number]) + trial.inputs[name].shape[dimension]


def _concatenate_places(trial: Trial, place: Place) -> Mapping[str, int]:
    (name, index), dimension = _owner(trial, place), trial.attributes["dimension"]
    along = f"{dimension - len(place)}"
    others = {label: other for label, other in _same_places(trial, place).items() if label != along}
    return {**others, f"{name} {along}": index}


def _concatenate_near(trial: Trial, place: Place) -> Iterator[Trial]:
    """The one operand that decides: its one element, or all of it."""
    (name, index), dimension = _owner(trial, place), trial.attributes["dimension"]
    alone = _concatenated(trial, [name])
    inside = (*place[:dimension], index, *place[dimension + 1 :])
    yield at(_CONCATENATE, alone, _concatenate_places(alone, inside))
    yield alone


def _concatenated(trial: Trial, names: Sequence[str]) -> Trial:
    """The trial with some of its operands."""
    inputs = {f"operands{m}": trial.inputs[name] for m, name in enumerate(names)}
    held = frozenset(f"operands{m}" for m, name in enumerate(names) if name in trial.constants)
    return replace(trial, inputs=inputs, constants=held)


def _concatenate_others(trial: Trial) -> Iterator[Trial]:
    names, dimension = list(trial.inputs), trial.attributes["dimension"]
    for name in names:
        yield _concatenated(trial, [each for each in names if each != name])
    rank = trial.inputs[names[0]].ndim
    for axis in range(rank):
        less = _CONCATENATE.without(trial, f"{axis - rank}")
        if less is not None and axis != dimension:
            attributes = {**trial.attributes, "dimension": dimension - (dimension > axis)}
            yield replace(less, attributes=attributes)


# --- convolutions ------------------------------------------------------------------------------------------


def _is_depthwise(trial: Trial) -> bool:
    return int(trial.attributes["group"]) > 1


def _conv_labels(trial: Trial) -> Labels:
    """Output channels m of a depthwise convolution are its channels c."""
    outputs, channels = ("c", "one") if _is_depthwise(trial) else ("m", "c")
    labels = {"X": ("n", "c", "h", "w"), "W": (outputs, channels, "k", "l"), "B": (outputs,)}
    return {name: labels[name] for name in trial.inputs}


def _conv_whole(trial: Trial, parts: Parts) -> Trial:
    group = parts["X"].shape[1] if _is_depthwise(trial) else 1
    stated = {"kernel_shape": parts["W"].shape[2:], "group": group}
    return replace(_with_operands(trial, parts), attributes={**trial.attributes, **stated})


def _conv_places(trial: Trial, place: Place) -> Mapping[str, int]:
    return {"n": place[0], "c" if _is_depthwise(trial) else "m": place[1]}


def _conv_near(trial: Trial, place: Place) -> Iterator[Trial]:
    """What one position of the kernel meets, and the zeros that it meets there."""
    W = trial.inputs["W"]
    found = list(map(_met, trial.inputs["X"].shape[2:], conv_sliding(W, trial.attributes), place[2:]))
    ends = [end for _, end in found]
    pads = (*(low for low, _ in ends), *(high for _, high in ends))
    attributes = {**trial.attributes, "strides": (1, 1), "pads": pads}
    yield _position(_CONV, replace(trial, attributes=attributes), place, "hw", found)


def _conv_others(trial: Trial) -> Iterator[Trial]:
    inputs = {name: operand for name, operand in trial.inputs.items() if name != "B"}
    if len(inputs) < len(trial.inputs):
        yield replace(trial, inputs=inputs, constants=trial.constants - {"B"})


def _xla_labels(trial: Trial) -> Labels:
    axes = range(trial.inputs["lhs"].ndim - LEADING)
    return {"lhs": ("n", "c", *(f"s{i}" for i in axes)), "rhs": ("m", "c", *(f"k{i}" for i in axes))}


def _xla_places(_: Trial, place: Place) -> Mapping[str, int]:
    return {"n": place[0], "m": place[1]}


def _xla_near(trial: Trial, place: Place) -> Iterator[Trial]:
    """The same for XLA's convolutions; what SAME stands for cannot be kept."""
    padding, base = trial.attributes["padding"], trial.inputs["lhs"].shape[LEADING:]
    if padding == SAME:
        return
    general = general_attributes(trial.inputs, trial.attributes) if padding == VALID else trial.attributes
    found = list(map(_met, base, xla_sliding(trial.inputs["rhs"], general), place[LEADING:]))
    ends = VALID if padding == VALID else tuple(end for _, end in found)
    attributes = {**trial.attributes, "window_strides": (1,) * len(base), "padding": ends}
    labels = [f"s{i}" for i in range(len(base))]
    yield _position(_XLA_CONV, replace(trial, attributes=attributes), place, labels, found)


def _xla_others(trial: Trial) -> Iterator[Trial]:
    """Without a spatial dimension that has one element, as its window has."""
    lhs, rhs = trial.inputs["lhs"], trial.inputs["rhs"]
    for axis in range(lhs.ndim - LEADING):
        if lhs.shape[LEADING + axis] == rhs.shape[LEADING + axis] == 1:
            inputs = {name: each.squeeze(LEADING + axis) for name, each in trial.inputs.items()}
            lists = {
                name: value if isinstance(value, str) else (*value[:axis], *value[axis + 1 :])
                for name, value in trial.attributes.items()
            }
            yield replace(trial, inputs=inputs, attributes=lists)


def _met(size: int, axis: Axis, position: int) -> tuple[slice, tuple[int, int]]:
    """The elements that a kernel meets along an axis, and how many zeros it meets before and after them."""
    step = axis.base_dilation
    # Element i lies at i·step.
    start = position * axis.stride - axis.begin
    first, last = max(0, -(-start // step)), min(size, (start + axis.extent - 1) // step + 1)
    if last <= first:  # an element that it does not meet is easier to read than none
        return slice(0, 1), (axis.extent, 0)
    return slice(first, last), (first * step - start, start + axis.extent - ((last - 1) * step + 1))


def _position(
    form: Form,
    trial: Trial,
    place: Place,
    labels: Sequence[str],
    found: Sequence[tuple[slice, tuple[int, int]]],
) -> Trial:
    """The trial with one image, one output channel, and what lies under one position of the kernel."""
    trial = at(form, trial, form.places(trial, place))
    for label, (keep, _) in zip(labels, found, strict=True):
        trial = form.cut(trial, label, keep)
    return trial


_ALIGNED = Form()
_EXPAND = Form(lambda trial: _from_the_end(_expand_parts(trial)), _expand_parts, _expand_whole)
_CONCATENATE = Form(
    _concatenate_labels, places=_concatenate_places, near=_concatenate_near, others=_concatenate_others
)
_CONV = Form(_conv_labels, whole=_conv_whole, places=_conv_places, near=_conv_near, others=_conv_others)
_XLA_CONV = Form(_xla_labels, places=_xla_places, near=_xla_near, others=_xla_others)
FORMS: Mapping[str, Form] = {
    **dict.fromkeys(("clip", "where", "xla.clamp", "xla.convert_element_type"), _ALIGNED),
    "expand": _EXPAND,
    "xla.broadcast": Form(_broadcast_labels, _broadcast_parts, _broadcast_whole),
    "xla.collapse": Form(places=_collapse_places, others=_collapse_others),
    "xla.concatenate": _CONCATENATE,
    "conv": _CONV,
    **dict.fromkeys(("xla.conv", "xla.conv_with_general_padding"), _XLA_CONV),
}
