"""Conversion of arrays between element types (D-XLA-3), by integer arithmetic on bits.

No cast of floats by NumPy or ml_dtypes defines a result, and no state of the processor (flushed
subnormals, another rounding direction) changes one. NumPy's is used where it has no choice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sonnx.model.dtype import IEEE, INTEGERS, UNSIGNED, DType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.numeric.balls import settled
from sonnx.numeric.blocks import keep_at_hand
from sonnx.numeric.real import real
from sonnx.numeric.rounding import FORMATS, LEADING, Format, nearest_bits, nearest_bits_of

PART = {DType.COMPLEX64: DType.FLOAT, DType.COMPLEX128: DType.DOUBLE}

# Elements converted at a time, by a dozen temporaries of 64-bit words: they stay near the processor.
_BLOCK = 2**15
# Larger than every finite number of every type, and the double's infinity if encoded like a number.
_INFINITE = 1024
_DOUBLE_FRACTION = FORMATS[DType.DOUBLE].precision - 1


def convert(array: Array, source: DType, target: DType) -> Array:
    """Convert every element of an array that holds `source`, in the form `hold` gives, to `target`.

    The result is a new array of the same shape; where both types are one, it is the array itself.
    Floats are rounded once, to nearest even, and overflow to infinity; a NaN becomes a quiet NaN with its
    sign and the upper bits of its payload. Floats become integers by truncation, saturated; a NaN becomes 0.
    Integers keep their low bits; bool is "≠ 0". ValueError: from a complex type to one that is neither
    complex nor bool, from NaN or infinity to real, and from or to string.
    """
    if source is target:
        return array
    if DType.STRING in (source, target) or (source in PART and target not in (*PART, DType.BOOL)):
        raise ValueError(f"there is no conversion from {source} to {target}")
    if source in PART:
        return _from_complex(array, PART[source], target)
    if target in PART:
        parts = np.zeros((*array.shape, 2), numpy_dtype(PART[target]))
        parts[..., 0] = convert(array, source, PART[target])
        return parts.view(numpy_dtype(target)).reshape(array.shape)
    if source is DType.BOOL:  # bytes other than 0 and 1 are possible in a bool, and are true
        return convert(np.asarray(array.view(np.uint8) != 0, np.uint8), DType.UINT8, target)
    if target is DType.REAL:
        return real(array)
    if source is DType.REAL:
        return _from_real(array, target)
    if source in FORMATS:
        return _by_blocks(array.view(FORMATS[source].held_as), target, _float_converter(source, target))
    return _by_blocks(array, target, _integer_converter(target))


def _from_complex(array: Array, part: DType, target: DType) -> Array:
    parts = np.ascontiguousarray(array).reshape(-1).view(numpy_dtype(part))
    if target is DType.BOOL:
        true = convert(parts, part, target)
        return (true[::2] | true[1::2]).reshape(array.shape)
    return convert(parts, part, PART[target]).view(numpy_dtype(target)).reshape(array.shape)


def _from_real(array: Array, target: DType) -> Array:
    values = array.reshape(-1)
    if target is DType.BOOL:
        held = [value != 0 for value in values]
    elif target in INTEGERS:
        info = np.iinfo(numpy_dtype(target))
        held = [min(max(int(value), info.min), info.max) for value in values]  # int() truncates
    else:
        form = FORMATS[target]

        def nearest(value: Fraction) -> int:
            return nearest_bits(abs(value), form) | (form.sign_bit if value < 0 else 0)

        held = [settled(value, nearest) for value in values]
        return np.array(held, form.held_as).view(numpy_dtype(target)).reshape(array.shape)
    return np.array(held, numpy_dtype(target)).reshape(array.shape)


def _by_blocks(array: Array, target: DType, convert_block: Callable[[Array], Array]) -> Array:
    keep_at_hand()
    flat = array.reshape(-1)
    result = np.empty(flat.size, numpy_dtype(target))
    held = result.view(np.bool_ if target is DType.BOOL else _unsigned(result.dtype))
    for start in range(0, flat.size, _BLOCK):
        # Unsigned words take the low bits of longer ones and of signed ones.
        block = convert_block(flat[start : start + _BLOCK])
        held[start : start + _BLOCK] = block.astype(held.dtype, copy=False)
    return result.reshape(array.shape)


def _unsigned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"u{dtype.itemsize}")


def _integer_converter(target: DType) -> Callable[[Array], Array]:
    if target is DType.BOOL:
        return lambda block: block != 0
    if target in INTEGERS:
        return lambda block: block
    return lambda block: _to_float(_read_integers(block), FORMATS[target])


def _float_converter(source: DType, target: DType) -> Callable[[Array], Array]:
    form = FORMATS[source]
    if target is DType.BOOL:
        return lambda block: (block & form.held_as.type(form.sign_bit - 1)) != 0
    if target in INTEGERS and source in IEEE:
        return _cutting_off(source, target)
    if target in INTEGERS:
        return lambda block: _to_integer(_read_floats(block, form), numpy_dtype(target))
    return lambda block: _to_float(_read_floats(block, form), FORMATS[target])


@dataclass(frozen=True)
class _Numbers:
    """Numbers ± significand · 2^(exponent - 61), as `nearest_bits_of` takes them; infinity is 2^1024.

    Where `nan` is true the number is none, and `payload` holds the fraction field that it has as a double.
    """

    negative: Array
    significand: Array
    exponent: Array
    nan: Array
    payload: Array


def _read_integers(block: Array) -> _Numbers:
    words = block.astype(np.int64 if block.dtype.kind == "i" else np.uint64)
    negative, raw = words < 0, words.view(np.uint64)
    significand, exponent = _normalized(np.where(negative, -raw, raw))
    return _Numbers(negative, significand, exponent, np.zeros_like(negative), np.zeros_like(raw))


def _read_floats(block: Array, form: Format) -> _Numbers:
    raw = block.astype(np.uint64)
    stored, full = np.uint64(form.precision - 1), np.uint64(form.infinity)
    magnitude = raw & np.uint64(form.sign_bit - 1)
    hidden = np.uint64(1) << stored
    fraction = magnitude & (hidden - np.uint64(1))
    significand = (fraction | hidden) << np.uint64(LEADING + 1 - form.precision)
    exponent = (magnitude >> stored).view(np.int64) + (form.emin - 1)
    exponent[magnitude >= full] = _INFINITE
    subnormal = magnitude < hidden
    if subnormal.any():
        significand[subnormal], places = _normalized(fraction[subnormal])
        exponent[subnormal] = places + (form.emin - form.precision + 1)
    payload = fraction << np.uint64(_DOUBLE_FRACTION + 1 - form.precision)
    return _Numbers(raw > magnitude, significand, exponent, magnitude > full, payload)


def _normalized(words: Array) -> tuple[Array, Array]:
    """Words with their leading bit moved to place 61, and the place it had (-1023 in a word that is 0).

    Bits that are cut off leave a 1 in the last place.
    """
    # The exponent of a double tells the place. Without the bit below the leading one, a word rounds to no
    # other power of two, in whatever direction.
    doubles = (words & ~(words >> np.uint64(1))).astype(np.float64)
    place = (doubles.view(np.int64) >> _DOUBLE_FRACTION) - 1023
    full = words << np.where(place < 0, 0, 63 - place).view(np.uint64)
    return (full >> np.uint64(2)) | ((full & np.uint64(3)) != 0), place


def _to_float(numbers: _Numbers, form: Format) -> Array:
    bits = nearest_bits_of(numbers.significand, numbers.exponent, form)
    if numbers.nan.any():
        quiet = np.uint64(form.quiet_nan)
        payload = numbers.payload >> np.uint64(_DOUBLE_FRACTION + 1 - form.precision)
        bits = np.where(numbers.nan, payload | quiet, bits)
    return np.where(numbers.negative, bits | np.uint64(form.sign_bit), bits)


def _cutting_off(source: DType, target: DType) -> Callable[[Array], Array]:
    """Floats to integers: where they lie within the type, C leaves no cast a choice but to truncate."""
    form, floats, held = FORMATS[source], numpy_dtype(source), numpy_dtype(target)
    bits = form.held_as.type(2 * form.sign_bit - 1 if target in UNSIGNED else form.sign_bit - 1)
    limit = form.held_as.type(nearest_bits(Fraction(np.iinfo(held).max + 1), form))

    def cut_off(block: Array) -> Array:
        within = (block & bits) < limit
        if within.all():
            return block.view(floats).astype(held).view(_unsigned(held))
        result = np.where(within, block, 0).view(floats).astype(held).view(_unsigned(held))
        others = ~within
        result[others] = _to_integer(_read_floats(block[others], form), held).astype(result.dtype)
        return result

    return cut_off


def _to_integer(numbers: _Numbers, held: np.dtype[Any]) -> Array:
    """Truncate towards zero and saturate; negative results are in two's complement of 64 bits."""
    info = np.iinfo(held)
    # From 2^64 on no type holds the number, and its bits are not asked for; below 1 nothing is left.
    too_large, down = numbers.exponent > 63, 63 - numbers.exponent
    down = np.where(too_large, 0, np.where(down > 63, 63, down)).view(np.uint64)
    magnitude = (numbers.significand << np.uint64(63 - LEADING)) >> down
    magnitude[numbers.exponent < 0] = 0
    limit = np.where(numbers.negative, np.uint64(-info.min), np.uint64(info.max))
    magnitude = np.where(too_large | (magnitude > limit), limit, magnitude)
    if numbers.nan.any():
        magnitude[numbers.nan] = 0
    return np.where(numbers.negative, -magnitude, magnitude)
