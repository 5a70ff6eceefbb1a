"""What `auto_pad` stands for, to make a model conform (D-CONV-8); no conforming model holds it."""

from collections.abc import Sequence

from sonnx.operators.shared.convolution import Axis

AUTO_PADS = SAME_UPPER, SAME_LOWER, VALID = "SAME_UPPER", "SAME_LOWER", "VALID"


def resolve(
    auto_pad: str,
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> tuple[int, ...]:
    """Find the pads (begins, then ends) that SAME_UPPER, SAME_LOWER or VALID means on spatial sizes."""
    if auto_pad not in AUTO_PADS:
        raise ValueError(
            f"auto_pad = {auto_pad!r} stands for no pads; there are SAME_UPPER, SAME_LOWER, VALID"
        )
    totals = [
        Axis(taps, stride, dilation, 0, 0).same_total(size) if auto_pad != VALID else 0
        for size, taps, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True)
    ]
    smaller = [total // 2 for total in totals]
    larger = [total - half for total, half in zip(totals, smaller, strict=True)]
    # The odd element goes to the end for SAME_UPPER and to the beginning for SAME_LOWER.
    return (*smaller, *larger) if auto_pad == SAME_UPPER else (*larger, *smaller)
