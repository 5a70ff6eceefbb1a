"""Trials from definitions: special values beside each other, both sides of comparisons, shapes, any bits.

They are for operators that treat every element alone; those of operators that move elements are in `moves`,
those of the word `converted` in `conversions`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np

from sonnx.derive import conversions, moves
from sonnx.derive.clauses import rulings
from sonnx.derive.domains import domain_of, inside, kind_of
from sonnx.derive.evaluate import Walk
from sonnx.derive.tracing import suited, traced
from sonnx.model.dtype import INTEGERS, DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.numeric.rounding import FORMATS
from sonnx.terms.term import DefinitionError, Sort, Term
from sonnx.terms.tracing import Trace
from sonnx.terms.walking import parts, without_names
from sonnx.vocabulary.draws import Draw, choice, drawn_array, drawn_from, drawn_shape
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Attribute, Operator, operand_names
from sonnx.vocabulary.special_values import (
    EVERY_BYTE,
    LONGER,
    MANY,
    NOTHING,
    SHAPES,
    THOUSANDS,
    Shape,
    bounds,
    distinct_floats,
    filled,
    random_bits,
    random_numbers,
    special_block,
    special_values,
    special_vector,
    spread,
    told_apart,
    words,
)
from sonnx.vocabulary.trial import Trial

_RANDOM = 40
# Operands of a variadic operator.
_COUNTS = (2, 1, 3, 5)
# Values of a float attribute beside ONNX's default: of either sign, none, and one that float16 rounds.
_FLOATS = (0.0, 1.0, -1.5, float(np.float32(0.1)))
# Attributes in so many ways at most.
_MOST_WAYS = 12
# How far around a seam elements are asked for.
_BESIDE = 2
# So far operands are shifted against each other: no zeros meet and no NaNs.
_APART = 5
# Two vectors of the longest kind, and a rest.
_BODY = 131
_LONG_TEXT = "0123456789" * 500
_BYTES = (0, 1, 2, 127, 128, 254, 255)
_TRUTHS = _BYTES[:2]
# Where a run stops: the shape of operands, and where they hold elements for which there is no result.
_STOPS: tuple[tuple[str, Shape, slice], ...] = (
    ("alone", (), slice(None)),
    ("at-the-last", (67,), slice(-1, None)),
    ("at-the-first", (2, 3), slice(1)),
    ("everywhere", (3,), slice(None)),
)
# Two values in their order, of the kinds of types: near to each other, or far.
_NEAR = (("minus-one", "one"), ("below-half", "half"), ("false", "true"))
_FAR = (("zero", "largest"), ("least", "greatest"), ("false", "true"))


@dataclass(frozen=True)
class _Way:
    """One way to call an operator: its operands by name, which of them are scalars, and its attributes.

    `alike` are those that a scalar may stand for, scalars here or not: the bounds of others.
    """

    names: tuple[str, ...]
    scalars: frozenset[str]
    alike: frozenset[str]
    truths: frozenset[str]
    attributes: Mapping[str, Any]
    shows: tuple[str, ...] = ()


def trials(operator: Operator, dtype: DType, seed: int) -> Iterator[Trial]:
    """The trials of an operator on one type, the same every time."""
    said = moves.moves_of(operator)
    if said is not None:
        yield from moves.trials(operator, said, dtype, seed)
        return
    if operator.trying.converts_to:
        yield from conversions.trials(operator, dtype, seed)
        return
    for asked in _every(operator, dtype, seed):
        trial = _within(operator, asked, dtype)
        met = operator.trying.before(trial.inputs, trial.attributes)
        told = dict.fromkeys((*trial.shows, *(clause.identifier for clause in met if clause.mask.any())))
        yield replace(trial, shows=tuple(told))


def _every(operator: Operator, dtype: DType, seed: int) -> Iterator[Trial]:
    ways = _ways(operator, dtype)
    for number, way in enumerate(ways):
        yield from _special(way, dtype, number)
        yield from _seams(operator, way, dtype, number)
    yield from _shapes(ways, dtype)
    yield from _beside(ways[0], dtype)
    yield from _bytes(operator, ways[0], dtype)
    if dtype is DType.STRING:
        yield from _long_texts(ways[0])
    if dtype is DType.FLOAT:
        yield _large(ways[0])
    random = np.random.default_rng(seed)
    for number in range(_RANDOM):
        yield _random(ways[number % len(ways)], dtype, random, number)


def drawn(operator: Operator, draw: Draw, dtype: DType) -> Trial:
    """Elements of all kinds, any operand but one constant."""
    if moves.moves_of(operator) is not None:
        return moves.drawn(operator, draw, dtype)
    if operator.trying.converts_to:
        return conversions.drawn(operator, draw, dtype)
    way = choice(draw, _ways(operator, dtype))
    shape = drawn_shape(draw)
    given = {}
    for name in way.names:
        here = () if name in way.scalars else shape
        if name in way.truths:
            held_bytes = np.array(choice(draw, (_TRUTHS, _TRUTHS, _TRUTHS, _BYTES)), np.uint8)
            given[name] = drawn_from(draw, held_bytes, here).view(np.bool_)
        else:
            given[name] = drawn_array(draw, dtype, here, signalling=True)
    # Of three operands two may be constant as well.
    pairs = map(frozenset, combinations(way.names, 2)) if len(way.names) == 3 and not way.alike else ()
    held = choice(draw, (*_held(way), *pairs))
    return _within(operator, Trial("drawn", given, way.shows, "Drawn elements.", way.attributes, held), dtype)


def stopping(operator: Operator, dtype: DType) -> Iterator[Trial]:
    """Trials with an element for which an operator is not defined, so that a run must stop (D-ALL-11).

    It stands alone, or is the last of some vectors and a rest, or the first; then there are such alone. No
    operand is a constant: of those the check tells, so no model of the profile has one.
    """
    domain = domain_of(operator)
    if domain is None or kind_of(dtype) not in domain.kinds:
        return
    text = f"Not everywhere {domain.text}: the run must stop."
    outside = np.array(domain.shown[1]).astype(numpy_dtype(dtype))
    for number, way in enumerate(_ways(operator, dtype)):
        for name, shape, places in _STOPS:
            label = f"stops-{name}" + (f"-way-{number}" if number else "")
            trial = _within(operator, _trial(way, label, _filled(way, dtype, shape, number), text), dtype)
            changed = {operand: trial.inputs[operand].copy() for operand in domain.operands}
            for array in changed.values():
                array.reshape(-1)[places] = outside
            yield replace(trial, inputs={**trial.inputs, **changed}, shows=(domain.ruling,))


def _within(operator: Operator, trial: Trial, dtype: DType) -> Trial:
    """The trial with other elements where the operator is not defined (D-ALL-11)."""
    domain = domain_of(operator)
    types = {name: TensorType(held_type(array), array.shape) for name, array in trial.inputs.items()}
    element = None if domain is None else traced(operator, types, trial.attributes, {}).element
    asked = inside(operator, element, dtype)
    if domain is None or asked is None:
        return trial

    def held(given: Mapping[str, Array]) -> Array:
        return Walk(dtype, DType.BOOL, given, dict(given))(asked)

    outside = ~held(trial.inputs)
    if not outside.any():
        return trial
    for other in special_values(dtype).values():
        mended = {name: _mended(trial.inputs[name], outside, other) for name in domain.operands}
        if held({**trial.inputs, **mended}).all():
            return replace(trial, inputs={**trial.inputs, **mended})
    raise DefinitionError(f"no special value of {dtype} lies inside the domain of {operator.name}")


def _mended(array: Array, outside: Array, other: Array) -> Array:
    """Another element where one lies outside; for a scalar, where one does that it goes with."""
    return np.where(np.broadcast_to(outside, array.shape) if array.shape else outside.any(), other, array)


# --- ways to call ------------------------------------------------------------------------------------------


@lru_cache(1024)
def _ways(operator: Operator, dtype: DType) -> tuple[_Way, ...]:
    """Every attribute at its default and at other values, in turn; of variadic operands several."""
    contract = operator.contract
    asked = [each for each in contract.attributes if not each.mode]
    chosen = list(product(*(_values(each, dtype) for each in asked)))
    settings = [dict(zip((each.name for each in asked), values, strict=True)) for values in chosen]
    counts = _COUNTS if any(each.variadic for each in contract.inputs) else (len(contract.inputs),)
    alone = frozenset(each.name for each in contract.inputs if each.form == "scalar")
    either = [each.name for each in contract.inputs if each.form == "either"]
    kept = [alone | set(each) for size in range(len(either), -1, -1) for each in combinations(either, size)]
    found = []
    for number in range(max(len(counts), len(kept), min(len(settings), _MOST_WAYS))):
        names = tuple(operand_names(contract.inputs, counts[number % len(counts)]))
        truths = frozenset(each.name for each in contract.inputs if each.types == (DType.BOOL,))
        # Settings are gone through in steps, so that every attribute changes.
        setting = settings[number * _step(len(settings)) % len(settings)]
        way = _Way(names, kept[number % len(kept)], alone.union(either), truths, setting)
        # Where a run stops there is no result, so no other trial than those can show that.
        domain = domain_of(operator)
        meant = rulings(_trace(operator, way, dtype))
        named = tuple(each for each in meant if domain is None or each != domain.ruling)
        named += ("D-WHERE-1",) if truths else ()
        found.append(replace(way, shows=("D-ALL-4", *named, *(rule.identifier for rule in contract.rules))))
    return tuple(found)


def _step(count: int) -> int:
    """A step that meets all of so many, and neighbours late."""
    return next(step for step in (7, 5, 3, 1) if step == 1 or count % step)


def _values(attribute: Attribute, dtype: DType) -> tuple[Any, ...]:
    known = attribute.default_in_onnx
    first = () if known is None or callable(known) else (known,)
    if isinstance(attribute.holds, OneOf):
        return attribute.holds.of(dtype)
    if attribute.kind == "float":
        return tuple(dict.fromkeys((*(float(np.float32(each)) for each in first), *_FLOATS)))
    return first


def _held(way: _Way) -> tuple[frozenset[str], ...]:
    """Operands that a model may hold itself; something is left to be an input."""
    if len(way.names) == 1:
        return (NOTHING,)
    if way.alike:
        return (NOTHING, way.alike, *(frozenset({name}) for name in sorted(way.alike)))
    return (NOTHING, *(frozenset({name}) for name in way.names))


def _trial(way: _Way, name: str, given: Mapping[str, Array], text: str, held: int = 0) -> Trial:
    constants = _held(way)[held % len(_held(way))]
    ordered = {each: given[each] for each in way.names}
    return Trial(name, ordered, way.shows, text, way.attributes, constants)


# --- elements ----------------------------------------------------------------------------------------------


def _special(way: _Way, dtype: DType, number: int) -> Iterator[Trial]:
    """Every special value beside every other, every operand in every place; scalars at all pairs of them."""
    every = special_vector(dtype, signalling=True)
    whole = [name for name in way.names if name not in way.scalars | way.truths]
    columns = _columns(every, len(whole))
    size, text = len(columns[0]), "Every special value beside every other."
    alone = [name for name in way.names if name in way.scalars]
    chosen = product(bounds(dtype).items() if alone else (), repeat=len(alone))
    for place, (scalars, turn) in enumerate(product(list(chosen), range(len(whole)))):
        given = {name: columns[(at + turn) % len(columns)] for at, name in enumerate(whole)}
        for each in way.truths:
            given[each] = spread(np.array(_BYTES, np.uint8), (size,), turn).view(np.bool_)
        given |= {name: value for name, (_, value) in zip(alone, scalars, strict=True)}
        label = _named([slug for slug, _ in scalars])
        label += (f"-turn-{turn}" if turn else "") + (f"-way-{number}" if number else "")
        yield _trial(way, label, given, text)
        if way.alike and way.scalars != way.alike:
            yield replace(_trial(way, f"{label}-constant", given, text), constants=way.alike)
        elif alone:
            # The same with all scalars constant; and so many that every value lies in a rest of vectors.
            yield replace(_trial(way, f"{label}-constant", given, text), constants=way.scalars)
            line = np.concatenate([spread(every, (_BODY + place % 7,), 3 * place), *_zeros(dtype)])
            yield _trial(way, f"many-{label}", given | dict.fromkeys(whole, line), text, place)
        elif len(way.names) > 1:
            yield _trial(way, f"{label}-held", given, text, turn + 1)


def _columns(every: Array, count: int) -> list[Array]:
    """Vectors of so many operands; a third one, and more, are the second one moved on."""
    if count == 1:
        return [every]
    rest = np.tile(every, len(every))
    return [np.repeat(every, len(every)), *(np.roll(rest, place * _APART) for place in range(count - 1))]


def _named(scalars: Sequence[str]) -> str:
    """A name for scalars of these values: `from-zero-to-one`; without any it is about the elements."""
    return f"from-{'-to-'.join(scalars)}" if scalars else "special-values"


def _zeros(dtype: DType) -> list[Array]:
    """The zeros of a type, as vectors."""
    return [each.reshape(1) for name, each in special_values(dtype).items() if name.endswith("zero")]


def _beside(way: _Way, dtype: DType) -> Iterator[Trial]:
    """Scalars and their nearest neighbours; a signalling NaN as each of them."""
    listed = [name for name in way.names if name in way.scalars]
    if not listed:
        return
    # Two numbers of one sign that every type of numbers has, well apart.
    values = np.array([[10], [100]]).astype(numpy_dtype(dtype))
    usual = {name: values[min(place, 1)].reshape(()) for place, name in enumerate(listed)}
    if dtype is not DType.BOOL:
        places = _in_order(values.reshape(-1), dtype) if dtype in FORMATS else np.array([10, 100])
        x = _elements((places[:, None] + np.arange(-_BESIDE, _BESIDE + 1)).reshape(-1), dtype)
        given = dict.fromkeys(way.names, x) | usual
        yield _trial(way, "beside-the-bounds", given, "The scalars themselves and their nearest neighbours.")
    for slug, value in special_values(dtype).items():
        equal = dict.fromkeys(way.names, special_vector(dtype)) | dict.fromkeys(usual, value)
        yield _trial(way, f"both-{slug}", equal, f"Special values where all scalars are {words(slug)}.")
    if dtype in FORMATS:
        signalling, every = special_values(dtype, signalling=True)["signalling-nan"], special_vector(dtype)
        for name in usual:
            whole = dict.fromkeys(way.names, every) | usual | {name: signalling}
            yield _trial(way, f"signalling-{name}", whole, "A signalling NaN is a NaN.")


def _seams(operator: Operator, way: _Way, dtype: DType, number: int) -> Iterator[Trial]:
    """Both sides of where the answer of a comparison changes, the nearest elements each.

    All operands hold the same there, but for truths.
    """
    seams = _seams_of(operator, number, dtype)
    if not len(seams):
        return
    x = _elements((seams[:, None] + np.arange(-_BESIDE, _BESIDE + 1)).reshape(-1), dtype)
    given = {name: x[:1].reshape(()) if name in way.scalars else x for name in way.names}
    given |= {name: spread(np.array([True, False]), x.shape) for name in way.truths}
    text = "Both sides of every comparison: where its answer changes, and the nearest neighbours."
    yield _trial(way, f"seams-{number}", given, text)


@lru_cache
def _seams_of(operator: Operator, number: int, dtype: DType) -> Array:
    """Where a comparison changes its answer when the operator is called that way; to be read only."""
    way = _ways(operator, dtype)[number]
    conditions = _conditions(operator, way, dtype)
    if dtype in FORMATS:
        ordered = _in_order(special_vector(dtype), dtype)
        places = [_places(way, dtype, condition, ordered) for condition in conditions]
    else:
        places = [_literals(condition) for condition in conditions]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *places]))


def _literals(condition: Term) -> Array:
    """The whole numbers that a condition compares with."""
    said = [each.data for each in parts(condition) if each.word == "literal"]
    return np.array([int(each) for each in said if each.denominator == 1], np.int64)


def _conditions(operator: Operator, way: _Way, dtype: DType) -> list[Term]:
    """The comparisons of numbers in a definition."""
    term = _term(operator, way, dtype)
    comparing = ("less", "less_equal", "equal")
    return [each for each in parts(term) if each.word in comparing and each.arguments[0].sort is Sort.NUMBER]


def _trace(operator: Operator, way: _Way, dtype: DType) -> Trace:
    kinds = {name: DType.BOOL if name in way.truths else dtype for name in way.names}
    types = {name: TensorType(kind, () if name in way.scalars else (1,)) for name, kind in kinds.items()}
    return traced(operator, types, way.attributes, {})


def _term(operator: Operator, way: _Way, dtype: DType) -> Term:
    element = _trace(operator, way, dtype).element
    assert element is not None  # only element-wise operators are tried so
    term = without_names(element.term)
    return suited(term, dtype)


def _places(way: _Way, dtype: DType, condition: Term, ordered: Array) -> Array:
    """Where in the order of the floats a condition changes, between special values: by halves."""

    def holds(places: Array) -> Array:
        x = _elements(places, dtype)
        values = {name: np.ones(x.shape, bool) if name in way.truths else x for name in way.names}
        with np.errstate(all="ignore"):
            found = Walk(dtype, dtype, values, values=values)(condition)
        return np.broadcast_to(found, x.shape)

    low, high = ordered[:-1], ordered[1:]
    before = holds(low)
    changes = before != holds(high)
    low, high, before = low[changes], high[changes], before[changes]
    while (high - low > 1).any():
        middle = low + (high - low) // 2
        same = holds(middle) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(high)


def _in_order(values: Array, dtype: DType) -> Array:
    """The places of floats in the order of their type, counted from zero; NaNs have none."""
    form = FORMATS[dtype]
    raw = values.view(form.held_as).astype(np.uint64)
    magnitude = (raw & np.uint64(form.sign_bit - 1)).astype(np.int64)
    places = np.where(raw >= form.sign_bit, -magnitude, magnitude)
    return np.unique(places[magnitude <= form.infinity])


def _elements(places: Array, dtype: DType) -> Array:
    """The numbers at places of the order; beyond its ends, its ends."""
    if dtype not in FORMATS:
        info = np.iinfo(numpy_dtype(dtype))
        least, most = max(info.min, -(2**63)), min(info.max, 2**63 - 1)
        return np.where(places < least, least, np.where(places > most, most, places)).astype(info.dtype)
    form = FORMATS[dtype]
    magnitude = np.abs(places)
    magnitude = np.where(magnitude > form.infinity, form.infinity, magnitude).astype(np.uint64)
    raw = np.where(places < 0, magnitude | np.uint64(form.sign_bit), magnitude)
    return raw.astype(form.held_as).view(numpy_dtype(dtype))


# --- shapes ------------------------------------------------------------------------------------------------


def _filled(way: _Way, dtype: DType, shape: Shape, first: int) -> dict[str, Array]:
    every, given = special_vector(dtype, signalling=True), {}
    for place, name in enumerate(way.names):
        given[name] = spread(every, shape, first + place * _APART)
        if name in way.truths:
            given[name] = spread(np.array([True, False, False]), shape, first)
    return given | _usual(way, dtype)


def _usual(way: _Way, dtype: DType, *, far: bool = False) -> dict[str, Array]:
    """Scalars well inside a type's range, or at its ends, one above the other; most elements are either."""
    known = special_values(dtype)
    ends = _FAR if far else _NEAR
    values = next(([known[low], known[high]] for low, high in ends if high in known), [])
    # The first of them is the lower one, in the order of the operands.
    listed = [name for name in way.names if name in way.alike]
    return {name: values[min(place, 1)] for place, name in enumerate(listed) if name in way.scalars}


def _shapes(ways: Sequence[_Way], dtype: DType) -> Iterator[Trial]:
    for first, (name, shape) in enumerate(SHAPES.items()):
        way, text = ways[first % len(ways)], f"Operands of shape {words(name)}."
        yield _trial(way, f"shape-{name}", _filled(way, dtype, shape, first), text, first)
    for first, length in enumerate(LONGER):
        way = ways[first % len(ways)]
        # What stands last is easily seen there.
        given = _filled(way, dtype, special_block(dtype, length).shape, first)
        whole = [name for name in way.names if name not in way.truths | way.alike]
        given |= {name: special_block(dtype, length, at * _APART) for at, name in enumerate(whole)}
        limits = _usual(replace(way, scalars=way.alike), dtype)
        given |= {name: filled(limits[name], given[name].shape) for name in way.alike - way.scalars}
        yield _trial(way, f"length-{length}", given, f"Operands of {length} elements.", first)
    way, given = ways[0], {}
    for place, name in enumerate(way.names):
        of = DType.BOOL if name in way.truths else dtype
        given[name] = told_apart(of, THOUSANDS, THOUSANDS + place)
    given |= _usual(way, dtype, far=True)
    yield _trial(way, "thousands", given, "Thousands of elements.")


def _bytes(operator: Operator, way: _Way, dtype: DType) -> Iterator[Trial]:
    """Conditions of every byte, of which 0 alone is false (D-WHERE-1); and of one byte, without axes.

    Bools that are compared are such too; those that are moved have the bytes that programs give them.
    """
    truths = way.truths
    if dtype is DType.BOOL:
        given = _trace(operator, way, dtype).operands
        truths |= {name for name, operand in given.items() if operand.sort is Sort.TRUTH}
    for name in sorted(truths):
        every = _filled(way, dtype, EVERY_BYTE.shape, 0)
        place = way.names.index(name) + 1
        for held, where in ((0, ""), (place, "-held")):
            text = "A condition of every byte, of which 0 alone is false."
            yield _trial(way, f"{name}-of-every-byte{where}", {**every, name: EVERY_BYTE}, text, held)
        for byte, held in ((2, 0), (128, place)):
            one = {each: array.reshape(-1)[:1].reshape(()) for each, array in every.items()}
            one[name] = EVERY_BYTE[byte : byte + 1].reshape(())
            text = f"One condition, of the byte {byte}, which is true."
            yield _trial(way, f"{name}-of-byte-{byte}", one, text, held)


def _long_texts(way: _Way) -> Iterator[Trial]:
    # More than sixteen bits count.
    for name, long in (("long-texts", _LONG_TEXT), ("longer-texts", _LONG_TEXT * 14)):
        texts = np.array([long, long[::-1], f"{long}x", f"x{long}"], object)
        given = {each: spread(texts, (4,), place) for place, each in enumerate(way.names)}
        given |= {each: np.array([True, False, True, False]) for each in way.truths}
        yield _trial(way, name, given, f"Texts of {len(long)} characters.")


def _large(way: _Way) -> Trial:
    given = dict(zip(way.names, _many(tuple(name in way.truths for name in way.names)), strict=True))
    given |= _usual(way, DType.FLOAT, far=True)
    return _trial(way, "million", given, "A million floats of every operand, each another.")


@lru_cache(2)
def _many(truths: tuple[bool, ...]) -> tuple[Array, ...]:
    """A million elements of each operand, to be read only: operators that follow each other share them."""
    random, found = np.random.default_rng(MANY), []
    for is_truth in truths:
        made = distinct_floats(random, DType.FLOAT, MANY)
        if is_truth:
            made = np.asarray(random.integers(0, 2, MANY), np.bool_)
        made.flags.writeable = False
        found.append(made)
    return tuple(found)


def _random(way: _Way, dtype: DType, random: np.random.Generator, number: int) -> Trial:
    shapes = list(SHAPES.values())
    shape, given = shapes[int(random.integers(0, len(shapes)))], {}
    for name in way.names:
        here: Shape = () if name in way.scalars else shape
        if name in way.truths:
            given[name] = random_bits(random, DType.BOOL, here)
        else:
            usual = number % 2 and dtype in (*FORMATS, *INTEGERS)
            given[name] = random_numbers(random, dtype, here) if usual else random_bits(random, dtype, here)
    return _trial(way, f"random-{number}", given, "Random elements.", number // 2)
