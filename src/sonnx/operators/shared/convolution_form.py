"""What one position of a kernel meets: the small trial that decides an element of a convolution."""

from collections.abc import Sequence

from sonnx.operators.shared.convolution import Axis
from sonnx.vocabulary.form import Form, Place, at
from sonnx.vocabulary.trial import Trial


def met(size: int, axis: Axis, position: int) -> tuple[slice, tuple[int, int]]:
    """The elements that a kernel meets along an axis, and how many zeros it meets before and after them."""
    step = axis.base_dilation
    # Element i lies at i·step.
    start = position * axis.stride - axis.begin
    first, last = max(0, -(-start // step)), min(size, (start + axis.extent - 1) // step + 1)
    if last <= first:  # an element that it does not meet is easier to read than none
        return slice(0, 1), (axis.extent, 0)
    return slice(first, last), (first * step - start, start + axis.extent - ((last - 1) * step + 1))


def position(
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
