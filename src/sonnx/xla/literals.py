"""Literals as the XLA document writes them: `f32[2,3] {{1, 2, 3}, {4, 5, 6}}`, read and printed exactly."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Any, NoReturn

import numpy as np

from sonnx.model.dtype import INTEGERS, XLA_NAMES, XLA_TYPES, DType
from sonnx.numeric import literals as numbers
from sonnx.numeric.arrays import Array, describe, numpy_dtype, type_name
from sonnx.numeric.convert import PART, convert
from sonnx.numeric.environment import require_ieee
from sonnx.numeric.rounding import FORMATS
from sonnx.operators.rules.limits import MOST_AXES, MOST_ELEMENTS

_WORD = r"[^\s{}(),]++(?:\([^\s{}(),]*+\))?+"
_WORDS = re.compile(_WORD, re.ASCII)
_PAIR = rf"\(\s*+{_WORD}\s*+,\s*+{_WORD}\s*+\)"
# What stands in the body of a literal: braces, commas, elements; a parenthesis of its own is a mistake.
_TOKEN = re.compile(rf"[{{}},]|{_PAIR}|{_WORD}|[()]", re.ASCII)
_TYPE = re.compile(r"\s*+([^\s\[\]{}(),]*+)", re.ASCII)
_SIZE_TOKEN = re.compile(r"\s*+([0-9]++(?=[\sx\[\]{}(),])|[\[\]{}(),x]|[^\s\[\]{}(),]++|)", re.ASCII)
_BLANK = " \t\n\r\f\v"
_PUNCTUATION = frozenset("{},()")

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*|0[xX][0-9a-fA-F]+)")
_ZEROS = re.compile(r"[-+]?0[0-9]+")
# No larger integer fits a type, and decimals are slow to read when they are long.
_INTEGER_DIGITS = 40
_NUMBER = re.compile(
    r"[-+]?(?:(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]+)?"
    r"|0[xX][0-9a-fA-F]++(?:\.[0-9a-fA-F]*+)?+(?:[pP][-+]?[0-9]+)?"
    r"|inf|nan(?:\(0x[0-9a-fA-F]+\))?)"
)
# Every double can be written exactly with far fewer characters.
_LONGEST_NUMBER = 4000
# Whole numbers of so many digits are doubles.
_EXACT_DIGITS = 15
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
# Decimals and hexadecimal floats of a size that Python reads in no time.
_DECIMAL = re.compile(
    r"[-+]?(?:[0-9]{1,1990}+(?:\.[0-9]{0,1990}+)?+|\.[0-9]{1,1990}+)(?:[eE][-+]?[0-9]{1,5})?"
)
_HEX = re.compile(r"[-+]?0[xX][0-9a-fA-F]{1,1990}+(?:\.[0-9a-fA-F]{0,1990}+)?+(?:[pP][-+]?[0-9]{1,5})?")

_TRUTH = {"true": True, "false": False, "1": True, "0": False}

# Characters of the text that a message shows before and after the place, and of what was found there.
_BEFORE, _AFTER, _FOUND = 60, 20, 40
# Whole numbers from here on are written with an exponent where that is shorter; every float16 lies below.
_WHOLE = 10**7
# More digits tell no bfloat16 from its neighbours.
_BFLOAT16_DIGITS = 4


@dataclass(frozen=True)
class Position:
    """A place in a text: line and column count from 1, the offset from 0."""

    line: int
    column: int
    offset: int


class LiteralError(ValueError):
    """A text is no literal; `position` says where, and the message shows it."""

    def __init__(self, message: str, position: Position) -> None:
        """Keep the message, fit to be printed, and the place."""
        super().__init__(message, position)
        self.position = position

    def __str__(self) -> str:
        """The message alone."""
        return str(self.args[0])


# Nobody reads as many; a shape of a few characters could ask for billions.
_MOST_BRACES = 1_000_000


def parse_literal(text: str) -> Array:
    """Read a literal such as `f32[2,3] {{1, 2, 3}, {4, 5, 6}}`, `s32[4x2] …`, `f32[] 2` or `s32 0`.

    Decimals and hexadecimal floats are rounded once to the type. Raises LiteralError with the position of
    the first mistake in the structure, else of the first element that the type does not have.
    """
    if not isinstance(text, str):
        raise TypeError(f"parse_literal: needs text, got {type_name(text)}")
    dtype, shape, start = _header(text)
    body = _Body(text, start, dtype, shape)
    elements = body.elements()
    try:
        flat = _array(elements, dtype)
    except _ElementError as error:
        body.fail_at_element(error)
    return flat.reshape(shape)


def format_literal(array: Any, *, hexadecimal: bool = False, width: int = 100) -> str:
    """Write an array as a literal that reads back to the same type, shape and bits.

    Floats are the shortest decimals that do so, or hexadecimal. A literal of rank 2 or more that is longer
    than `width` has one row a line. Raises ValueError for what XLA has no type for.
    """
    kind, held = describe(array)
    if held is None or kind.dtype not in XLA_NAMES:
        raise ValueError(f"format_literal: XLA has no type for {kind}; it has {', '.join(XLA_TYPES)}")
    shape = held.shape
    if prod(size or 1 for size in shape) > MOST_ELEMENTS:
        raise ValueError(f"format_literal: a literal has at most {MOST_ELEMENTS} elements, got {kind}")
    if held.size == 0 and prod(shape[: shape.index(0)]) > _MOST_BRACES:
        raise ValueError(f"format_literal: {kind} has no elements, and too many braces to be written")
    header = f"{XLA_NAMES[kind.dtype]}[{','.join(map(str, shape))}] "
    texts = _texts(np.ascontiguousarray(held).reshape(-1), kind.dtype, hexadecimal)
    line = header + _braced(texts, shape, None)
    return line if len(shape) < 2 or len(line) <= width else header + _braced(texts, shape, len(header))


# The text before the elements


def _header(text: str) -> tuple[DType, tuple[int, ...], int]:
    """The type, the shape, and where the elements begin."""
    match = _TYPE.match(text)
    assert match is not None  # the pattern matches the empty text
    dtype = XLA_TYPES.get(match[1])
    if dtype is None:
        found = match[1] or text[match.end() : match.end() + 1]
        _fail(text, match.start(1), f"an element type ({', '.join(XLA_TYPES)})", _shown(found))
    token = _size_token(text, match.end())
    if token[1] != "[":
        return dtype, (), match.end()
    return dtype, *_sizes(text, token.end())


def _size_token(text: str, start: int) -> re.Match[str]:
    match = _SIZE_TOKEN.match(text, start)
    assert match is not None  # the pattern matches the empty text
    return match


def _sizes(text: str, start: int) -> tuple[tuple[int, ...], int]:
    sizes: list[int] = []
    separator = ""
    token = _size_token(text, start)
    if token[1] == "]":
        return (), token.end()
    while True:
        sizes.append(_size(text, token, sizes))
        token = _size_token(text, token.end())
        if token[1] == "]":
            return tuple(sizes), token.end()
        if token[1] not in (",", "x"):
            _fail(text, token.start(1), f"{_quoted(separator or ',', ']')} after a size", _shown(token[1]))
        if separator not in ("", token[1]):
            mark = _quoted(separator)
            _fail(text, token.start(1), f"{mark} as between the sizes before", _shown(token[1]))
        separator = token[1]
        token = _size_token(text, token.end())


def _size(text: str, token: re.Match[str], before: Sequence[int]) -> int:
    word, start = token[1], token.start(1)
    if not (word.isascii() and word.isdigit()):
        _fail(text, start, "a size, which is a decimal number without sign", _shown(word))
    if len(before) == MOST_AXES:
        _fail(text, start, f"']' after {MOST_AXES} sizes, the most there can be", _shown(word))
    digits = word.lstrip("0") or "0"
    small = len(digits) <= len(str(MOST_ELEMENTS))
    if not small or prod(size or 1 for size in (*before, int(digits))) > MOST_ELEMENTS:
        _fail(text, start, f"sizes with a product of at most {MOST_ELEMENTS}", _shown(word))
    return int(digits)


# The structure of the elements


@dataclass(frozen=True)
class _Body:
    text: str
    start: int
    dtype: DType
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{XLA_NAMES[self.dtype]}[{','.join(map(str, self.shape))}]"

    def elements(self) -> list[str]:
        """The texts of the elements in order; their number is that of the shape.

        Nothing is made in the size of the shape: a short text cannot ask for much.
        """
        rank = len(self.shape)
        sizes = (1, *self.shape)  # outside all braces stands one item
        filled = [0] * len(sizes)
        depth, separated = 0, True
        found: list[str] = []
        for index, token in enumerate(_TOKEN.findall(self.text, self.start)):
            if token == ",":
                if separated or depth == 0:
                    self._fail(index, self._item(depth) if separated else "the end of the literal")
                separated = True
            elif token == "}":
                if depth == 0 or filled[depth] != sizes[depth]:
                    self._fail_at_brace(index, depth, filled[depth])
                depth, separated = depth - 1, False
            else:
                if not separated or filled[depth] == sizes[depth]:
                    self._fail_at_surplus(index, depth, separated)
                filled[depth] += 1
                if depth < rank and token == "{":
                    depth, separated = depth + 1, True
                    filled[depth] = 0
                elif depth < rank or token in _PUNCTUATION:
                    self._fail(index, self._item(depth))
                else:
                    found.append(token)
                    separated = False
        if depth or separated:
            self._fail(None, self._missing(depth, filled[depth], separated))
        return found

    def _item(self, depth: int) -> str:
        """What stands inside so many braces."""
        rank = len(self.shape)
        levels = f"{self} has {rank} level{'' if rank == 1 else 's'} of braces"
        if depth < rank:
            return f"'{{' ({levels}, {depth} open here)"
        pair = " in parentheses, such as (1, -0.5)" if self.dtype in PART else ""
        return f"an element{pair} ({levels if rank else f'{self} is a scalar and has no braces'})"

    def _missing(self, depth: int, count: int, separated: bool) -> str:
        if depth and count == self.shape[depth - 1]:
            return f"'}}' after {_items(count, depth)} of {self}"
        return self._item(depth) if separated else f"',' after {count} of {self._wanted(depth)}"

    def _wanted(self, depth: int) -> str:
        return f"{_items(self.shape[depth - 1], depth)} of {self}"

    def _fail_at_brace(self, index: int, depth: int, count: int) -> NoReturn:
        if depth:
            self._fail(index, self._wanted(depth), f"'}}' after {count}")
        self._fail(index, "the end of the literal" if index else self._item(0))

    def _fail_at_surplus(self, index: int, depth: int, separated: bool) -> NoReturn:
        if depth == 0:
            self._fail(index, "the end of the literal")
        if not separated:
            self._fail(index, f"{_quoted(',', '}')} after an item along axis {depth - 1}")
        self._fail(index, f"'}}' after {self._wanted(depth)}")

    def _fail(self, index: int | None, expected: str, found: str | None = None) -> NoReturn:
        """Refuse the token of this number, or the end of the text."""
        if index is None:
            _fail(self.text, len(self.text), expected, _shown(""))
        match = next(islice(_TOKEN.finditer(self.text, self.start), index, None))
        _fail(self.text, match.start(), expected, found or _shown(match[0]))

    def fail_at_element(self, error: "_ElementError") -> NoReturn:
        """Refuse an element, or one of the two parts of one."""
        places = (match for match in _TOKEN.finditer(self.text, self.start) if match[0] not in _PUNCTUATION)
        match = next(islice(places, error.index, None))
        start, word = match.start(), match[0]
        if error.part is not None:
            part = list(_WORDS.finditer(self.text, start, match.end()))[error.part]
            start, word = part.start(), part[0]
        _fail(self.text, start, error.expected, _shown(word))


def _items(count: int, depth: int) -> str:
    return f"{count} item{'' if count == 1 else 's'} along axis {depth - 1}"


# Words to elements


class _ElementError(Exception):
    """An element, by its number in order, or a part of one, is not what the type expects."""

    def __init__(self, expected: str, index: int, part: int | None = None) -> None:
        super().__init__(expected)
        self.expected, self.index, self.part = expected, index, part


def _array(words: list[str], dtype: DType) -> Array:
    if dtype is DType.BOOL:
        return _truths(words)
    if dtype in INTEGERS:
        return _integers(words, dtype)
    if dtype not in PART:
        return _floats(words, dtype)
    for index, word in enumerate(words):
        if not word.startswith("("):
            raise _ElementError(f"a pair in parentheses of {XLA_NAMES[dtype]}, such as (1, -0.5)", index)
    parts = [part for word in words for part in _WORDS.findall(word, 1)]
    try:
        return _floats(parts, PART[dtype]).view(numpy_dtype(dtype))
    except _ElementError as error:
        raise _ElementError(error.expected, error.index // 2, error.index % 2) from None


def _truths(words: list[str]) -> Array:
    values = list(map(_TRUTH.get, words))
    if None in values:
        raise _ElementError("true, false, 1 or 0", values.index(None))
    return np.array(values, dtype=np.bool_)


def _integers(words: list[str], dtype: DType) -> Array:
    info = np.iinfo(numpy_dtype(dtype))
    low, high = int(info.min), int(info.max)
    values = []
    for index, word in enumerate(words):
        value = _integer(word)
        if value is None or not low <= value <= high:
            zeros = ", without zeros before it" if value is None and _ZEROS.fullmatch(word) else ""
            raise _ElementError(f"an integer from {low} to {high} ({XLA_NAMES[dtype]}){zeros}", index)
        values.append(value)
    return np.array(values, dtype=numpy_dtype(dtype))


def _integer(word: str) -> int | None:
    if not _INTEGER.fullmatch(word):
        return None
    hexadecimal = "x" in word or "X" in word
    return int(word, 0) if hexadecimal or len(word) <= _INTEGER_DIGITS else None


def _floats(words: list[str], dtype: DType) -> Array:
    """Each word rounded once to the type, as `numeric.literals` defines it.

    Most words take a shorter way: Python reads them as doubles, rounded once. The exact number lies strictly
    between the neighbours of that double; where both neighbours round to one number of the type, so does it.
    """
    require_ieee()  # a process that flushes subnormals reads them as 0
    decimal = _DECIMAL.fullmatch
    doubles = np.array([float(word) if decimal(word) else _unusual(word) for word in words], np.float64)
    undecided = np.isnan(doubles)
    result = convert(doubles, DType.DOUBLE, dtype)
    bits = result.view(FORMATS[dtype].held_as)
    if dtype is not DType.DOUBLE:
        size = np.abs(doubles)
        below = convert(np.nextafter(size, 0.0), DType.DOUBLE, dtype).view(bits.dtype)
        above = convert(np.nextafter(size, np.inf), DType.DOUBLE, dtype).view(bits.dtype)
        undecided |= below != above
    known: dict[str, int] = {}
    for index in np.flatnonzero(undecided).tolist():
        word = words[index]
        if len(word) <= _EXACT_DIGITS and _WHOLE_NUMBER.fullmatch(word):
            continue
        if word not in known:
            known[word] = int(_defined(word, dtype, index).view(bits.dtype))
        bits[index] = known[word]
    return result


def _unusual(word: str) -> float:
    """A hexadecimal float as a double; NaN where `numeric.literals` is to be asked."""
    if not _HEX.fullmatch(word):
        return np.nan
    try:
        return float.fromhex(word)
    except OverflowError:  # larger than every double
        return -np.inf if word.startswith("-") else np.inf


def _defined(word: str, dtype: DType, index: int) -> Any:
    name = XLA_NAMES[dtype]
    if not _NUMBER.fullmatch(word):
        suffix = word[-1] in "fF" and _DECIMAL.fullmatch(word[:-1])
        note = "; the suffix of C is no part of it" if suffix else ""
        raise _ElementError(f"a number of {name} such as 1, -0.5, 2e-3, 0x1.8p+3, inf or nan{note}", index)
    if len(word) > _LONGEST_NUMBER:
        raise _ElementError(f"a number of at most {_LONGEST_NUMBER} characters", index)
    try:
        return numbers.parse_literal(word, dtype)
    except ValueError as error:
        raise _ElementError(f"a number that {name} can hold ({_escaped(str(error)[:120])})", index) from None


# Elements to words


def _texts(flat: Array, dtype: DType, hexadecimal: bool) -> list[str]:
    if dtype is DType.BOOL:
        return ["true" if value else "false" for value in flat.tolist()]
    if dtype in INTEGERS:
        return list(map(str, flat.tolist()))
    if dtype in PART:
        part = PART[dtype]
        parts = _texts(flat.view(numpy_dtype(part)), part, hexadecimal)
        return [f"({real}, {imaginary})" for real, imaginary in zip(parts[::2], parts[1::2], strict=True)]
    require_ieee()
    # Weights repeat, and there are few numbers of 16 bits: each is written once.
    form = FORMATS[dtype]
    bits, where = np.unique(flat.view(form.held_as), return_inverse=True)
    once = bits.view(flat.dtype)
    finite = (bits & form.held_as.type(form.sign_bit - 1)) < form.infinity
    texts = np.empty(bits.shape, dtype=object)
    write = _hexadecimals if hexadecimal else _shortest
    texts[finite] = write(once[finite], dtype)
    texts[~finite] = [_special(value, dtype) for value in once[~finite]]
    words: list[str] = texts[where].tolist()
    return words


def _special(value: Any, dtype: DType) -> str:
    text = numbers.format_float(value)
    default = numbers.format_float(numbers.parse_literal("nan", dtype))
    return text.replace(default, "nan")


def _hexadecimals(values: Array, dtype: DType) -> list[str]:
    return [numbers.format_float(value) for value in values]


def _shortest(values: Array, dtype: DType) -> list[str]:
    if dtype is DType.BFLOAT16:
        digits = _bfloat16_digits(values)
    elif dtype is DType.DOUBLE:
        digits = [np.format_float_scientific(value, trim="-") for value in values.tolist()]
    else:
        digits = [np.format_float_scientific(value, trim="-") for value in values]
    exact = convert(values, dtype, DType.DOUBLE).tolist()
    return [_plain(value, text) for value, text in zip(exact, digits, strict=True)]


def _bfloat16_digits(values: Array) -> list[str]:
    """The shortest decimals, each tried by reading it."""
    texts = [""] * len(values)
    exact = convert(values, DType.BFLOAT16, DType.DOUBLE)
    open_places = list(range(len(values)))
    for digits in range(_BFLOAT16_DIGITS):
        for away in (0, 1):  # the nearest decimal, or, above a power of two, the next one
            tried = [_decimal(float(exact[place]), digits, away) for place in open_places]
            same = _floats(tried, DType.BFLOAT16).view(np.uint16) == values[open_places].view(np.uint16)
            for place, text, good in zip(open_places, tried, same.tolist(), strict=True):
                texts[place] = text if good else ""
            open_places = [place for place in open_places if not texts[place]]
    return texts


def _decimal(value: float, digits: int, away: int) -> str:
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    sign, whole = mantissa[:1].strip("0123456789"), int(mantissa.lstrip("-").replace(".", "")) + away
    return f"{sign}{whole}e{int(exponent) - digits}"


def _plain(value: float, text: str) -> str:
    """Digits laid out as people write them: `3`, `-0`, `0.1`, `1e+10`."""
    sign = "-" if text.startswith("-") else ""
    if value == int(value) and abs(value) < _WHOLE:
        return f"{sign}{abs(int(value))}"
    mantissa, exponent = text.lstrip("-").split("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).rstrip("0")
    point = int(exponent) + len(whole)  # the value is 0.digits · 10^point
    if -4 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if 0 < point < len(digits):
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if point == len(digits):
        return f"{sign}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+03d}"


def _braced(texts: list[str], shape: tuple[int, ...], indent: int | None) -> str:
    """The elements in braces; with an indent, rows stand below each other and braces of one axis too."""
    items = texts
    for axis in reversed(range(len(shape))):
        size, last = shape[axis], axis == len(shape) - 1
        comma = ", " if last or indent is None else ",\n" + " " * (indent + axis + 1)
        starts = (row * size for row in range(prod(shape[:axis])))
        items = ["{" + comma.join(items[start : start + size]) + "}" for start in starts]
    return items[0]


# Messages


def _fail(text: str, offset: int, expected: str, found: str) -> NoReturn:
    """Raise the error for a place; `expected` and `found` are fit to be printed."""
    offset = min(offset, len(text.rstrip(_BLANK)))  # the text ends where its last word does
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[begin : len(text) if end < 0 else end].rstrip("\r")
    column = offset - begin
    left = max(0, column - _BEFORE)
    before = ("..." if left else "") + _escaped(line[left:column])
    after = _escaped(line[column : column + _AFTER]) + ("..." if len(line) > column + _AFTER else "")
    position = Position(text.count("\n", 0, offset) + 1, column + 1, offset)
    raise LiteralError(
        f"line {position.line}, column {position.column}: expected {expected}, found {found}\n"
        f"  {before}{after}\n"
        f"  {' ' * len(before)}^",
        position,
    )


def _quoted(*marks: str) -> str:
    return " or ".join(f"'{mark}'" for mark in marks)


def _shown(found: str) -> str:
    """A piece of the text; there is none at the end only."""
    if not found:
        return "the end of the text"
    if len(found) <= _FOUND:
        return f"'{_escaped(found)}'"
    return f"'{_escaped(found[:_FOUND])}...' ({len(found)} characters)"


def _escaped(text: str) -> str:
    """One column per character on every terminal: only printable ASCII is left as it is."""
    return text.encode("unicode_escape").decode("ascii")
