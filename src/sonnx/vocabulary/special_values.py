"""Elements whose treatment is easily got wrong, by type; arrays of them, of random bits and of numbers.

Everything is made from bits, so that no cast of another library has a say, and from generators that the
caller seeds, so that it comes out the same every time.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from sonnx.model.dtype import INTEGERS, SIGNED, DType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.numeric.convert import PART
from sonnx.numeric.rounding import FORMATS, Format, number
from sonnx.vocabulary.trial import Clause

# A text: whoever only checks a model does without NumPy's generators, which take long to load.
Random: TypeAlias = "np.random.Generator"
Shape = tuple[int, ...]

# Bits below the first one of a NaN's fraction; every float type has six of them at least.
_PAYLOAD = 0x15
_STRINGS = {
    "empty": "",
    "letter": "a",
    "blank": " ",
    "not-ascii": "ä€\U0001d11e",
    "two-lines": "a\nb",
    "nul-inside": "a\x00b",
    "nul-at-the-end": "a\x00",
    "nan-as-text": "NaN",
    "decomposed": "a\u0308",
    "carriage-returns": "a\r\nb\r",
    "marks": "\ufeff\t\"'\\n\\",
    "long": "0123456789abcdef" * 64,
    # Lengths beside those that are held without an allocation.
    "sixteen": "sixteen letters:",
    "seventeen": "seventeen letters",
    "twenty-four": "as many as twenty-four .",
    "none-as-text": "None",
    "null-as-text": "null",
    "controls": "\x1b[0m\x08\x7f",
    "no-characters": "\ufffd\ufffe\uffff",
    "private-use": "\ue000\uf8ff",
    "higher-planes": "\u0130\U00020000\U0010fffd",
}
_LETTERS = "abcXYZ 019\x00\näß€\U0001d11e"
_LONGEST = 12
# Of a byte other than 0 and 1 it is not said what becomes where a bool is moved.
_TRUTHS = {"false": 0, "true": 1}
# Bools of every byte; whole vectors of them, and behind these a rest that holds one beside 0 and 1 as well.
EVERY_BYTE = (np.arange(256 + 3) % 256).astype(np.uint8).view(np.bool_)

# Shapes for operators that treat every element alike: ranks, sizes 0 and 1, and lengths beside those of
# vectors, where loops have a rest.
SHAPES: Mapping[str, Shape] = {
    "scalar": (),
    "no-elements": (0,),
    "no-elements-in-the-middle": (2, 0, 3),
    "one-element": (1,),
    "one-element-of-three-axes": (1, 1, 1),
    "matrix": (5, 7),
    "column": (6, 1),
    "three-axes": (2, 3, 4),
    "six-axes": (1, 3, 2, 1, 2, 3),
    "eight-axes": (2, 1, 2, 1, 1, 3, 1, 2),
    **{f"length-{length}": (length,) for length in (3, 15, 16, 17, 31, 33, 63, 65, 127)},
}
# More lengths, each asked once: whole vectors with no rest, several of them with one element too few, and
# rests behind more than a hundred elements.
LONGER = (8, 32, 64, 95, 128, 137, 255, 256, 257, 300)
# For operators that have shapes of their own.
LENGTHS = tuple(sorted((63, 127, *LONGER)))
# Some of them in as many axes as no other shape has.
_BLOCKS: Mapping[int, Shape] = {95: (1, 5, 1, 19), 137: (1, 1, 1, 137, 1, 1, 1), 300: (2, 3, 1, 5, 10)}
# What stands last in a line of special values: no zero, no NaN, and beyond what bounds are tried with.
_LAST = frozenset({"largest", "largest-and-one", "greatest", "true", "marks"})

# Bounds that meet each other in pairs: of either sign, zeros, not finite, none; and a subnormal one.
_FLOAT_BOUNDS = (
    *("quiet-nan", "minus-infinity", "minus-one", "minus-zero", "zero"),
    *("smallest", "one", "largest", "infinity"),
)
NOTHING: frozenset[str] = frozenset()
# The elements of a trial of every type: more than one block, with a rest behind it.
THOUSANDS = 5003
# The elements of a large trial: no multiple of anything that a loop is cut into.
MANY = 1_000_003


@cache
def special_values(dtype: DType, *, signalling: bool = False) -> Mapping[str, Array]:
    """Scalars by name; with a signalling NaN where that is asked for, as by operators that only move.

    Trials ask for them thousands of times, so they are made once, to be read only.
    """
    found = _special_values(dtype, signalling)
    for array in found.values():
        array.flags.writeable = False
    return MappingProxyType(found)


def _special_values(dtype: DType, signalling: bool) -> dict[str, Array]:
    if dtype is DType.STRING:
        return {name: np.array(text, dtype=object) for name, text in _STRINGS.items()}
    if dtype is DType.BOOL:
        return {name: np.array(bool(value)) for name, value in _TRUTHS.items()}
    if dtype in INTEGERS:
        return {name: np.array(value, numpy_dtype(dtype)) for name, value in _integers(dtype).items()}
    if dtype in PART:
        return _complex(dtype, special_values(PART[dtype], signalling=signalling))
    return _floats(dtype, signalling)


@cache
def special_vector(dtype: DType, *, signalling: bool = False) -> Array:
    """The same scalars, one after the other."""
    found = np.stack(list(special_values(dtype, signalling=signalling).values()))
    found.flags.writeable = False
    return found


def special_line(dtype: DType, length: int, shift: int = 0) -> Array:
    """So many special values, over and over; `shift` places before the end stands what is easily seen."""
    values = special_values(dtype)
    (last,) = (place for place, name in enumerate(values) if name in _LAST)
    return spread(special_vector(dtype), (length,), last + 1 - length + shift)


def special_block(dtype: DType, length: int, shift: int = 0) -> Array:
    """The same, of some lengths in several axes."""
    return special_line(dtype, length, shift).reshape(_BLOCKS.get(length, (length,)))


def bounds(dtype: DType) -> Mapping[str, Array]:
    """The special values of an ordered type that are tried as bounds in every pair."""
    values = special_values(dtype)
    return {name: values[name] for name in _FLOAT_BOUNDS} if dtype in FORMATS else values


def words(name: str) -> str:
    """A slug as words."""
    return name.replace("-", " ")


def _floats(dtype: DType, signalling: bool) -> dict[str, Array]:
    form = FORMATS[dtype]
    # The encoding of the smallest normal number; exponents are encoded from it upwards.
    normal = 1 << (form.precision - 1)
    magnitudes = {
        "zero": 0,
        "smallest": 1,
        "largest-subnormal": normal - 1,
        "smallest-normal": normal,
        "one": form.emax * normal,
        "above-one": form.emax * normal + 1,
        "largest": form.infinity - 1,
        "infinity": form.infinity,
    }
    values = {name: number(bits, dtype, negative=False) for name, bits in magnitudes.items()}
    values |= {f"minus-{name}": number(bits, dtype, negative=True) for name, bits in magnitudes.items()}
    values["quiet-nan"] = number(form.quiet_nan, dtype, negative=False)
    values["nan-with-payload"] = number(form.quiet_nan | _PAYLOAD, dtype, negative=False)
    values["negative-nan"] = number(form.quiet_nan, dtype, negative=True)
    if signalling:
        values["signalling-nan"] = number(form.infinity | _PAYLOAD, dtype, negative=False)
        values["negative-signalling-nan"] = number(form.infinity | _PAYLOAD, dtype, negative=True)
    return {name: np.asarray(value) for name, value in values.items()}


def _integers(dtype: DType) -> dict[str, int]:
    info = np.iinfo(numpy_dtype(dtype))
    bits, half = info.bits, 1 << (info.bits - 1)
    values = {"least": info.min, "next-to-least": info.min + 1}
    values |= {"minus-one": -1, "zero": 0, "one": 1} if dtype in SIGNED else {}
    # Unsigned numbers that a comparison of signed ones takes for negative; bytes that show their order.
    values |= {} if dtype in SIGNED else {"below-half": half - 1, "half": half}
    values["bytes-in-order"] = int.from_bytes(range(1, bits // 8 + 1)) if bits > 8 else 18
    for name, precision in (("beyond-float", 24), ("beyond-double", 53)):
        values |= {name: (1 << precision) + 1} if bits > precision else {}
    return values | {"next-to-greatest": info.max - 1, "greatest": info.max}


def _complex(dtype: DType, parts: Mapping[str, Array]) -> dict[str, Array]:
    """Every special value as either part, beside a one."""
    one = parts["one"]
    pairs = {f"{name}-and-one": (part, one) for name, part in parts.items()}
    pairs |= {f"one-and-{name}": (one, part) for name, part in parts.items()}
    return {name: np.stack(pair).view(numpy_dtype(dtype)).reshape(()) for name, pair in pairs.items()}


def spread(values: Array, shape: Shape, first: int = 0) -> Array:
    """An array filled with the values of a vector, over and over, beginning with number `first`."""
    places = (np.arange(int(np.prod(shape, dtype=np.int64))) + first) % len(values)
    return values[places].reshape(shape)


def filled(value: Array, shape: Shape) -> Array:
    """An array that holds one scalar everywhere."""
    return spread(value.reshape(1), shape)


def replaced(array: Array, places: Mapping[tuple[int, ...], Array]) -> Array:
    """A copy with other elements at some places."""
    result = array.copy()
    for place, value in places.items():
        result[place] = value
    return result


def random_bits(random: Random, dtype: DType, shape: Shape, *, signalling: bool = False) -> Array:
    """Elements of any bits, every third one a special value; NaNs are quiet unless asked otherwise."""
    count = int(np.prod(shape, dtype=np.int64))
    specials = special_vector(dtype, signalling=signalling)
    chosen = specials[random.integers(0, len(specials), count)]
    keep = random.integers(0, 3, count) == 0
    return np.where(keep, chosen, any_bits(random, dtype, count, signalling=signalling)).reshape(shape)


def any_bits(random: Random, dtype: DType, count: int, *, signalling: bool = False) -> Array:
    """A vector of elements of any bits; NaNs are quiet unless asked otherwise."""
    if dtype is DType.STRING:
        strings = np.empty(count, dtype=object)
        strings[:] = [_string(random) for _ in range(count)]
        return strings
    if dtype is DType.BOOL:
        return np.asarray(random.integers(0, 2, count), np.bool_)
    held = numpy_dtype(dtype)
    array = np.frombuffer(random.bytes(count * held.itemsize), held)
    return array if signalling or dtype in INTEGERS else _quiet(array, PART.get(dtype, dtype))


def _string(random: Random) -> str:
    length = int(random.integers(0, _LONGEST))
    return "".join(_LETTERS[place] for place in random.integers(0, len(_LETTERS), length))


def _quiet(array: Array, dtype: DType) -> Array:
    form = FORMATS[dtype]
    raw = array.view(form.held_as)
    nan = (raw & form.held_as.type(form.sign_bit - 1)) > form.held_as.type(form.infinity)
    return np.where(nan, raw | form.held_as.type(form.quiet_nan), raw).view(array.dtype)


def random_numbers(random: Random, dtype: DType, shape: Shape, *, octaves: int = 3) -> Array:
    """Floats with all bits in use whose magnitudes lie within so many octaves of 1; integers of one digit."""
    if dtype not in FORMATS:
        return whole_numbers(random, dtype, shape, 9)
    form = FORMATS[dtype]
    fields = random.integers(form.emax - octaves, form.emax + octaves, shape)
    fractions = random.integers(0, 1 << (form.precision - 1), shape)
    signs = random.integers(0, 2, shape)
    magnitudes = np.asarray((fields << (form.precision - 1)) | fractions).astype(form.held_as)
    signed = np.where(signs == 1, magnitudes | form.held_as.type(form.sign_bit), magnitudes)
    return signed.view(numpy_dtype(dtype))


def whole_numbers(random: Random, dtype: DType, shape: Shape, most: int) -> Array:
    """Whole numbers up to `most`, of both signs where the type has them."""
    least = -most if dtype in (*FORMATS, *SIGNED) else 0
    return np.asarray(random.integers(least, most + 1, shape)).astype(numpy_dtype(dtype))


def tiny_numbers(random: Random, dtype: DType, shape: Shape, most: int) -> Array:
    """Subnormal floats of both signs, up to so many times the smallest one."""
    form = FORMATS[dtype]
    # The encoding of a subnormal number counts how often it has the smallest one.
    times = np.asarray(random.integers(1, most + 1, shape)).astype(form.held_as)
    negative = times | form.held_as.type(form.sign_bit)
    return np.where(random.integers(0, 2, shape) == 1, negative, times).view(numpy_dtype(dtype))


def distinct_floats(random: Random, dtype: DType, count: int) -> Array:
    """Neighbouring floats from 1 up, each once, in disorder: no two places can be confused."""
    form = FORMATS[dtype]
    raw = (form.emax << (form.precision - 1)) + random.permutation(count)
    return raw.astype(form.held_as).view(numpy_dtype(dtype))


def told_apart(dtype: DType, count: int, seed: int = THOUSANDS) -> Array:
    """So many elements in disorder, each another one as far as the type has as many: places show."""
    random = np.random.default_rng(seed)
    if dtype is DType.BOOL:
        return np.asarray(random.integers(0, 2, count), np.bool_)
    if dtype is DType.STRING:
        return np.array([str(number) for number in random.permutation(count)], object)
    if dtype in FORMATS:
        return distinct_floats(random, dtype, count)
    if dtype in PART:
        return distinct_floats(random, PART[dtype], 2 * count).view(numpy_dtype(dtype))
    # Those that are too large keep their low bits.
    return random.permutation(count).astype(numpy_dtype(dtype))


def _parts(array: Array) -> Array:
    """One line an element: of a complex number both parts, of any other itself."""
    dtype = held_type(array)
    return array.reshape(-1, 1).view(numpy_dtype(PART.get(dtype, dtype)))


def _some_part(array: Array, test: Callable[[Array, Format], Array]) -> Array:
    """Where the bits of an element, or of a part of it, pass; nowhere in a type that has no floats."""
    parts = _parts(array)
    form = FORMATS.get(held_type(parts))
    if form is None:
        return np.zeros(array.shape, bool)
    found: Array = np.any(test(parts.view(form.held_as), form), axis=1)
    return found.reshape(array.shape)


def is_nan(array: Array) -> Array:
    """Where an element, or a part of it, is NaN; told by its bits, which raises no flag."""
    return _some_part(array, lambda raw, form: (raw & (form.sign_bit - 1)) > form.infinity)


def is_infinite(array: Array) -> Array:
    """Where an element, or a part of it, is an infinity."""
    return _some_part(array, lambda raw, form: (raw & (form.sign_bit - 1)) == form.infinity)


def is_subnormal(array: Array) -> Array:
    """Where an element, or a part of it, is subnormal: its exponent field is empty, its fraction is not."""

    def test(raw: Array, form: Format) -> Array:
        magnitude = raw & (form.sign_bit - 1)
        return (magnitude > 0) & (magnitude < 1 << (form.precision - 1))

    return _some_part(array, test)


def is_negative_zero(array: Array) -> Array:
    """Where an element, or a part of it, is -0."""
    return _some_part(array, lambda raw, form: raw == form.sign_bit)


def kept_bits(moved: Array, ruling: str) -> tuple[Clause, ...]:
    """What is easily lost where elements are only moved."""
    return (
        Clause(
            ruling,
            "A NaN is moved with every bit: its sign, its payload, and that it signals.",
            is_nan(moved),
        ),
        Clause(ruling, "A zero is moved with its sign.", is_negative_zero(moved)),
        Clause("D-ALL-4", "A subnormal number is kept.", is_subnormal(moved)),
    )


def everywhere(shape: Sequence[int]) -> Array:
    """The mask of a clause that decides all that is left."""
    return np.ones(tuple(shape), bool)
