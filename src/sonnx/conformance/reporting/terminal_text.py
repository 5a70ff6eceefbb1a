"""The summary of a report for a terminal, with or without colours."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sonnx.conformance.reduction import form_of
from sonnx.conformance.reporting.arrays import array_text
from sonnx.conformance.reporting.facts import (
    ANY_ORDER,
    TYPES,
    Once,
    Standing,
    StopOnce,
    any_order,
    departures_once,
    one_line,
    operator_name,
    pointer,
    runtime_name,
    search_words,
    standing,
    stops_once,
    verdict_words,
    ways,
)
from sonnx.conformance.result import Cell, Departure, Report, Verdict
from sonnx.conformance.subjects import subject_named
from sonnx.model.dtype import DType
from sonnx.vocabulary.form import Form
from sonnx.vocabulary.trial import Trial

_WIDTH = 110
# Sixteen types and the longest name of an operator fit into the width.
_HEADS: Mapping[DType, str] = {
    **{DType.FLOAT16: "f16", DType.FLOAT: "f32", DType.DOUBLE: "f64", DType.BFLOAT16: "bf16"},
    **{DType.INT8: "i8", DType.INT16: "i16", DType.INT32: "i32", DType.INT64: "i64"},
    **{DType.UINT8: "u8", DType.UINT16: "u16", DType.UINT32: "u32", DType.UINT64: "u64"},
    **{DType.BOOL: "bool", DType.STRING: "str", DType.COMPLEX64: "c64", DType.COMPLEX128: "c128"},
}
_COLUMN = 4
# Codes of a terminal: green, red, magenta, yellow and grey.
_COLOURS: Mapping[Standing, str] = {
    **{"conforms": "32", "departs": "31", "crashes": "1;35", "partly": "33", "unsupported": "90"},
}
_SIGNS: Mapping[Standing, str] = {
    **{"conforms": "ok", "partly": "ok -", "unsupported": "-", "departs": "x", "crashes": "!"},
}
_LEGEND = (
    "ok conforms, x departs (in how many ways, + perhaps more), ! crashes, - not supported, ok - in part"
)
_COUNT_WORDS: Mapping[Verdict, tuple[str, str]] = {
    "conforms": ("conforms", "conform"),
    "departs": ("departs", "depart"),
    "unsupported": ("is not supported", "are not supported"),
    "crashes": ("crashes", "crash"),
}
_GRADES = {
    "separate": "rounded after every step",
    "fused": "fused",
    "enclosure": "inside the enclosure",
}


def report_text(report: Report, *, colours: bool = False) -> str:
    """Print the verdict, the matrix, every departure once, what has no result, and what it all took."""
    inside = [cell for cell in report.cells if not cell.outside_profile]
    outside = [cell for cell in report.cells if cell.outside_profile]
    parts = [_head(report, colours)]
    if inside:
        parts += [_matrix(inside, colours), _LEGEND, _counts(report, inside)]
    parts += [_departure(report, once, colours) for once in departures_once(inside)]
    parts += [_crash(once, colours) for once in stops_once(inside, "crashes")]
    parts += _unsupported(inside)
    if outside:
        parts.append(_outside(outside, colours))
    return "\n\n".join([*parts, _closing(report)])


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _painted(text: str, standing: Standing, colours: bool) -> str:
    return f"\x1b[{_COLOURS[standing]}m{text}\x1b[0m" if colours else text


def _head(report: Report, colours: bool) -> str:
    first = _wrapped(f"{runtime_name(report)} {verdict_words(report)}".split(" "), "")
    told = "".join(f", {one_line(f'{name}={value}', 200)}" for name, value in report.options.items())
    about = f"asked as {one_line(report.asked, 200)}{told}; sums {report.sums}; seed {report.seed}"
    lines = _wrapped(f"{about}; sonnx {report.sonnx}".split(" "), "")
    if report.partial:
        lines += _wrapped(f"not everything was asked: {one_line(report.partial)}".split(" "), "")
    return "\n".join([*(_painted(line, report.verdict, colours) for line in first), *lines])


def _matrix(cells: Sequence[Cell], colours: bool) -> str:
    """Operators by types; a type that an operator does not have is left blank."""
    by_place = {(cell.operator, cell.dtype): cell for cell in cells}
    operators = list(dict.fromkeys(cell.operator for cell in cells))
    types = [dtype for dtype in TYPES if any(cell.dtype is dtype for cell in cells)]
    names = max(len(operator_name(operator)) for operator in operators)
    lines = [" " * names + "".join(f" {_HEADS[dtype]:<{_COLUMN}}" for dtype in types)]
    for operator in operators:
        row = [_sign(by_place.get((operator, dtype)), colours) for dtype in types]
        lines.append(f"{operator_name(operator):<{names}} {' '.join(row)}")
    return "\n".join(line.rstrip() for line in lines)


def _sign(cell: Cell | None, colours: bool) -> str:
    """At most four characters, then blanks, which have no colour."""
    if cell is None:
        return " " * _COLUMN
    stands = standing(cell)
    more = "+" if ways(cell) < len(cell.departures) else ""
    departs = f"{_SIGNS['departs']}{ways(cell)}" if cell.departures else ""
    crashes = sum(stop.verdict == "crashes" for stop in cell.stops)
    signs = {
        "departs": [f"{departs}{more}"],
        # What departs besides is told as far as there is room.
        "crashes": [f"!{crashes or ''}{departs}{more}", f"!{crashes or ''}{departs}", f"!{departs}", "!x+"],
    }
    sign = next(each for each in signs.get(stands, [_SIGNS[stands]]) if len(each) <= _COLUMN)
    return _painted(sign, stands, colours) + " " * (_COLUMN - len(sign))


def _counts(report: Report, cells: Sequence[Cell]) -> str:
    counts = report.counts
    listed = [
        f"{counts[each]:,} {words[counts[each] != 1]}" for each, words in _COUNT_WORDS.items() if counts[each]
    ]
    lines = [f"{_number(sum(counts.values()), 'vector')}: {', '.join(listed)}"] if listed else []
    sums = Counter[str]()
    for cell in cells:
        sums.update({grade: number for grade, number in cell.grades.items() if grade in _GRADES})
    if sums:
        shown = ", ".join(f"{sums[grade]:,} {word}" for grade, word in _GRADES.items() if sums[grade])
        lines.append(f"sums that conform: {shown}")
    unasked = sum(cell.unasked for cell in cells)
    if unasked:
        lines.append(f"{_number(unasked, 'vector')} not asked, because so many before crashed")
    lines += filter(None, [search_words(cells)])
    return "\n".join(lines)


def _departure(report: Report, once: Once, colours: bool) -> str:
    """A departure with its smallest example."""
    cell, departure = once.cell, once.departure
    more = pointer(cell.operator, departure.identifier)
    lines = [
        *_error(departure.identifier, cell.operator, departure.clause, colours),
        *_shown_by(once.types, once.cases, departure.source),
        *_operands(departure.trial),
        *_wrapped(_told(departure), "   "),
        *([f"   {ANY_ORDER}"] if any_order(report, cell, departure) else []),
        f"  more: {more.command or more.page}",
        *_behind(once.behind),
    ]
    return "\n".join(lines)


def _behind(others: Sequence[Once]) -> list[str]:
    """Departures that are no more than this one, perhaps."""
    lines = ["  perhaps the same fault:"] if others else []
    for once in others:
        said = f"{one_line(once.departure.identifier)}: {one_line(once.departure.clause).removesuffix('.')}"
        kind = once.departure.difference.kind
        by = _number(once.cases, "vector") if once.cases else "found by the search"
        told = "" if kind == "value" else f"; {kind}"
        lines += _wrapped(f"{said} ({', '.join(once.types)}: {by}{told})".split(" "), "   ", "     ")
        lines += _operands(once.departure.trial, "     ", subject_named(once.cell.operator).form)
        lines += _wrapped(_told(once.departure), "     ")
    return lines


def _told(departure: Departure) -> list[str]:
    """What is specified and what was found."""
    difference = departure.difference
    where = f" of `{one_line(difference.output)}`{list(difference.place)}" if difference.place else ""
    right = "as inputs" if departure.against else "specified"
    return [f"{right} {one_line(difference.expected)},", f"found {one_line(difference.found)}{where}"]


def _error(identifier: str, operator: str, text: str, colours: bool) -> list[str]:
    head = f"error[{one_line(identifier)}]"
    words = f"{head}: {operator_name(operator)}: {one_line(text).removesuffix('.')}".split(" ")
    first, *rest = _wrapped(words, "", "   ")
    return [first.replace(head, _painted(head, "departs", colours), 1), *rest]


def _shown_by(types: Iterable[DType], cases: int, source: str) -> list[str]:
    by = f"{_number(cases, 'vector')}, first {one_line(source, 80)}" if cases else "found by the search"
    return _wrapped([f"{', '.join(types)}:", by], "  --> ")


def _operands(trial: Trial, indent: str = "   ", form: Form | None = None) -> list[str]:
    """The operands and attributes of a trial, or by its form those that do something; many on a line."""
    items = []
    for name, array in trial.inputs.items():
        head = f"{name}{' (constant)' if name in trial.constants else ''} = "
        items.append(f"{head}{array_text(array, _WIDTH - len(head) - 4)}")
    shown = {name for name in trial.attributes if form is None or name in form_of(form, trial)[1]}
    items += [f"{n}={one_line(_attribute(value), 60)}" for n, value in trial.attributes.items() if n in shown]
    return _wrapped([f"{item}{';' if item is not items[-1] else ''}" for item in items], indent)


def _attribute(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _wrapped(items: Sequence[str], indent: str, later: str | None = None) -> list[str]:
    """Items one after the other, in lines of the width; an item that is longer is cut."""
    rest = " " * len(indent) if later is None else later
    room = _WIDTH - max(len(indent), len(rest))
    lines: list[str] = []
    for item in items:
        shown = item if len(item) <= room else f"{item[: room - 3]}..."
        if lines and len(lines[-1]) + 1 + len(shown) <= _WIDTH:
            lines[-1] += f" {shown}"
        else:
            lines.append(f"{rest if lines else indent}{shown}")
    return lines


def _crash(once: StopOnce, colours: bool) -> str:
    printed = once.stop.printed
    lines = [
        *_error("crashes", once.cell.operator, once.stop.said, colours),
        *(_wrapped(["it printed last:", *one_line(printed, 200).split(" ")], "   ") if printed else ()),
        *_shown_by(once.types, once.cases, once.stop.source),
        *_operands(once.stop.trial),
    ]
    return "\n".join(lines)


def _unsupported(cells: Sequence[Cell]) -> list[str]:
    """What is not supported, by operator, with what was said first."""
    lines = []
    for once in stops_once(cells, "unsupported"):
        shown = _number(once.cases, "vector") if once.cases else "found by the search"
        head = f"{operator_name(once.cell.operator)} on {', '.join(once.types)}: {shown};"
        said = one_line(once.stop.said, 200) or "nothing was said"
        lines += _wrapped([*head.split(" "), *said.split(" ")], "  ", "    ")
    return ["\n".join(["not supported:", *lines])] if lines else []


def _outside(cells: Sequence[Cell], colours: bool) -> str:
    """What the profile does not specify: told, and not counted."""
    asked = (subject_named(cell.operator).operator.trying.asked_as for cell in cells)
    names = " or ".join(dict.fromkeys(each.name for each in asked if each is not None))
    parts = [
        f"outside the profile, asked as ONNX's {names}: results are not counted, crashes are",
        "",
        _matrix(cells, colours),
        "",
    ]
    for once in departures_once(cells):
        departure = once.departure
        text = f"{one_line(departure.clause)} [{one_line(departure.identifier)}]"
        found = f"{one_line(departure.difference.expected)}, found {one_line(departure.difference.found)};"
        parts += _wrapped([text, f"specified {found}", ", ".join(once.types)], "  ")
    parts += [_crash(once, colours) for once in stops_once(cells, "crashes")]
    return "\n".join(parts).rstrip("\n")


def _closing(report: Report) -> str:
    rate = f", {report.cases / report.seconds:,.0f} a second" if report.seconds > 0 else ""
    searched = sum(cell.searched for cell in report.cells)
    found = f" ({searched:,} of the search)" if searched else ""
    return f"{_number(report.cases, 'case')}{found}, {report.seconds:.1f} s{rate}"
