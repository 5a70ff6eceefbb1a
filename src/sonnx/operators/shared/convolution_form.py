"""How trials of convolutions are cut: channels together, and what lies under one position of the kernel."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.convolution_operator import LEADING, Convolution
from sonnx.vocabulary.form import Form, Labels, Parts, Place, at, with_operands
from sonnx.vocabulary.trial import Trial

_NO_TEXTS: Mapping[str, str] = MappingProxyType({})


def met(size: int, axis: Axis, position: int) -> tuple[slice, tuple[int, int]]:
    """The elements that a kernel meets along an axis, and how many zeros it meets before and after them."""
    step = axis.base_dilation
    # Element i lies at i·step.
    start = position * axis.stride - axis.begin
    first, last = max(0, -(-start // step)), min(size, (start + axis.extent - 1) // step + 1)
    if last <= first:  # an element that it does not meet is easier to read than none
        return slice(0, 1), (axis.extent, 0)
    return slice(first, last), (first * step - start, start + axis.extent - ((last - 1) * step + 1))


def convolution_form(
    of: Convolution, simplest: Mapping[str, int], plainest: Mapping[str, str] = _NO_TEXTS
) -> Form:
    """The form of a convolution's trials; of attributes it must know what does nothing."""

    def spatial(trial: Trial) -> range:
        return range(trial.inputs[of.image].ndim - LEADING)

    def labels(trial: Trial) -> Labels:
        """Output channels m of a depthwise convolution are its channels c."""
        outputs, channels = ("c", "one") if _is_depthwise(trial) else ("m", "c")
        image, kernel = (tuple(f"{letter}{i}" for i in spatial(trial)) for letter in "sk")
        named = {of.image: ("n", "c", *image), of.kernel: (outputs, channels, *kernel), of.bias: (outputs,)}
        return {name: named[name] for name in trial.inputs}

    def whole(trial: Trial, parts: Parts) -> Trial:
        group = parts[of.image].shape[1] if _is_depthwise(trial) else 1
        stated = {"kernel_shape": parts[of.kernel].shape[LEADING:], "group": group}
        told = {name: stated.get(name, value) for name, value in trial.attributes.items()}
        return replace(with_operands(trial, parts), attributes=told)

    def places(trial: Trial, place: Place) -> Mapping[str, int]:
        return {"n": place[0], "c" if _is_depthwise(trial) else "m": place[1]}

    def near(trial: Trial, place: Place) -> Iterator[Trial]:
        """What one position of the kernel meets, and the zeros that it meets there."""
        sizes, axes = trial.inputs[of.image].shape[LEADING:], of.axes(trial.inputs, trial.attributes)
        found = list(map(met, sizes, axes, place[LEADING:]))
        told = of.met(trial.attributes, [ends for _, ends in found])
        if told is None:
            return
        trial = at(form, replace(trial, attributes=told), places(trial, place))
        for axis, (keep, _) in enumerate(found):
            trial = form.cut(trial, f"s{axis}", keep)
        yield trial

    def others(trial: Trial) -> Iterator[Trial]:
        """Without the bias; where any rank will do, without a spatial axis of one element and one tap."""
        if of.bias in trial.inputs:
            inputs = {name: operand for name, operand in trial.inputs.items() if name != of.bias}
            yield replace(trial, inputs=inputs, constants=trial.constants - {of.bias})
        for axis in spatial(trial) if of.rank is None else ():
            if all(each.shape[LEADING + axis] == 1 for each in trial.inputs.values()):
                inputs = {name: each.squeeze(LEADING + axis) for name, each in trial.inputs.items()}
                lists = {
                    name: value if isinstance(value, str) else (*value[:axis], *value[axis + 1 :])
                    for name, value in trial.attributes.items()
                }
                yield replace(trial, inputs=inputs, attributes=lists)

    form = Form(
        labels, whole=whole, places=places, near=near, others=others, simplest=simplest, plainest=plainest
    )
    return form


def _is_depthwise(trial: Trial) -> bool:
    return int(trial.attributes.get("group", 1)) > 1
