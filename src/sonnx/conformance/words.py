"""Elements as text that says every bit of them."""

from typing import Any

import numpy as np

from sonnx.model.dtype import IEEE, DType
from sonnx.numeric.convert import PART
from sonnx.numeric.literals import format_float
from sonnx.report.text import cut, printable

_LONGEST = 60


def element_text(element: Any, dtype: DType) -> str:
    """An element as its value and, where the value does not say all, its bits: `-0.0 (0x80000000)`."""
    if dtype is DType.STRING:
        return printable(cut(repr(str(element)), _LONGEST))
    if dtype in PART:
        parts = np.asarray(element).reshape(1).view(f"f{np.asarray(element).itemsize // 2}")
        return f"({', '.join(element_text(part, PART[dtype]) for part in parts)})"
    if dtype in (*IEEE, DType.BFLOAT16):
        raw = np.asarray(element).reshape(1).view(f"u{np.asarray(element).itemsize}")[0]
        return f"{format_float(element)} (0x{int(raw):0{2 * np.asarray(element).itemsize}x})"
    return str(element)
