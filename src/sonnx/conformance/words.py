"""Elements as text that says every bit of them; names that may have been meant by others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from sonnx.model.dtype import IEEE, DType
from sonnx.numeric.arrays import Array
from sonnx.numeric.convert import PART
from sonnx.numeric.literals import format_float
from sonnx.report.text import cut, printable

_LONGEST = 60
# Any other byte is true as well, and runtimes differ in it.
_TRUTHS = {0: "False", 1: "True"}


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


def text_at(array: Array, place: tuple[int, ...], dtype: DType) -> str:
    """One element of an array; a bool with the byte that it has there, which it alone does not keep."""
    if dtype is DType.BOOL:
        byte = int(array.view(np.uint8)[place])
        return _TRUTHS.get(byte, f"True (0x{byte:02x})")
    return element_text(array[place], dtype)


def meant_by(names: Iterable[str], meant: Mapping[str, str]) -> Iterator[str]:
    """What may have been meant by names that there are not, each once.

    The names that there are, in small letters, stand for what is to be written.
    """
    near = (get_close_matches(name.lower(), meant, n=1) for name in names)
    yield from dict.fromkeys(meant[each] for found in near for each in found)


def did_you_mean(near: Sequence[str]) -> str:
    """The end of a message about names that there are not; nothing where no other is near."""
    return f"; did you mean {', '.join(near)}?" if near else ""
