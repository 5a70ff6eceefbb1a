"""What all reports say alike: names, places to read more, and every departure once."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from sonnx.conformance.result import Cell, Departure, Key, Report, Stop, Verdict
from sonnx.conformance.subjects import SUBJECTS
from sonnx.model.dtype import DType
from sonnx.operators import OPERATORS, operator
from sonnx.operators.rulebook import rules
from sonnx.report.text import cut, printable, site_page
from sonnx.vocabulary.operator import Operator

# A cell of which some cases conform and the others are not supported stands between the two.
Standing = Literal["crashes", "departs", "unsupported", "partly", "conforms"]

TYPES = tuple(dtype for dtype in DType if dtype is not DType.REAL)
VERDICT_WORDS: Mapping[Verdict, str] = {
    "crashes": "crashes",
    "departs": "departs from the specification",
    "unsupported": "supports nothing that was asked",
    "conforms": "conforms to the specification",
}
_OUTSIDE_ALONE = "was asked nothing that the profile specifies"
_SO_FAR = "conforms so far, but not everything was asked"
ANY_ORDER = "Any order of the sum is allowed; no order gives what was found."
_LONGEST = 500
_GENERAL = "operators/general.html"
# Addresses and sizes differ from crash to crash.
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")


@dataclass(frozen=True)
class Pointer:
    """Where to read more of an identifier: a command, where there is one, and a page of the site."""

    command: str
    page: str


@dataclass(frozen=True, eq=False)
class Once:
    """A way of departing on all types that show it; `cell` and `departure` are of its smallest example.

    `behind` are other ways that it may be the cause of, on all types that show them.
    """

    cell: Cell
    departure: Departure
    types: tuple[DType, ...]
    cases: int
    behind: tuple["Once", ...] = ()


@dataclass(frozen=True, eq=False)
class StopOnce:
    """A way of having no result on all types that show it, with its first example."""

    cell: Cell
    stop: Stop
    types: tuple[DType, ...]
    cases: int


def one_line(text: str, most: int = _LONGEST) -> str:
    """A text from anywhere on one line, cut, with nothing in it that a reader's program would obey."""
    return printable(cut(" ".join(text[: 4 * most].split()), most))


def verdict_words(report: Report) -> str:
    """The verdict on a runtime, to follow its name."""
    if report.verdict == "conforms" and report.outside_profile:
        return _OUTSIDE_ALONE
    so_far = report.verdict == "conforms" and report.partial
    departs = any(cell.departures and not cell.outside_profile for cell in report.cells)
    both = f", and {VERDICT_WORDS['departs']}" if report.verdict == "crashes" and departs else ""
    return _SO_FAR if so_far else VERDICT_WORDS[report.verdict] + both


def search_words(cells: Iterable[Cell]) -> str:
    """What no vector has shown, and the search has; nothing where that is nothing."""
    chosen = list(cells)
    stops = [stop for cell in chosen for stop in cell.stops if stop.verdict == "crashes" and not stop.cases]
    others = [each for cell in chosen for each in cell.departures if not each.cases]
    told = ((len(stops), "crash", "crashes"), (len(others), "departure", "departures"))
    found = [f"{number} {one if number == 1 else many}" for number, one, many in told if number]
    return f"found by the search alone: {', '.join(found)}" if found else ""


def standing(cell: Cell) -> Standing:
    """The verdict on a cell, which tells apart what is not supported at all and what is in part."""
    partly = cell.verdict == "unsupported" and cell.counts["conforms"]
    return "partly" if partly else cell.verdict


def operator_name(identifier: str) -> str:
    """How documents spell an operator: `Clip`, `xla.Clamp`."""
    return operator(identifier).name


def runtime_name(report: Report) -> str:
    """The runtime and its version."""
    return one_line(f"{report.runtime} {report.version}".strip(), 200)


@lru_cache(1024)
def pointer(owner: str, identifier: str) -> Pointer:
    """Where to read more of a rule or ruling that an operator's results have broken."""
    rule = next((rule for rule in rules() if rule.identifier == identifier), None)
    if rule is not None:
        return Pointer(f"sonnx explain {identifier}", site_page(rule.page))
    own = operator(owner)
    # A ruling on elements, such as which bytes are true, may stand on the page of another operator.
    others = [each for each in OPERATORS if each is not own]
    places = {_page(each): f"{each.contract.domain or 'onnx'}/{each.folder}" for each in (own, *others)}
    for name, place in {_page(own): places[_page(own)], _GENERAL: "general", **places}.items():
        text = files("sonnx.operators").joinpath(place, "page.md").read_text(encoding="utf-8")
        if identifier.startswith("D-") and re.search(rf"\b{re.escape(identifier)}\b", text):
            return Pointer(f"sonnx explain {identifier}", f"{name}#{identifier.lower()}")
    return Pointer("", _page(own))


def _page(found: Operator) -> str:
    return f"operators/{found.identifier.replace('.', '-')}.html"


def any_order(report: Report, cell: Cell, departure: Departure) -> bool:
    """Tell whether other results than the specified one would have conformed, because sums are free."""
    if report.sums != "free" or departure.against or departure.difference.kind == "type or shape":
        return False
    subject = next(subject for subject in SUBJECTS if subject.identifier == cell.operator)
    return subject.specified(departure.trial, cell.dtype).enclosure is not None


def departures_once(cells: Iterable[Cell]) -> tuple[Once, ...]:
    """Every way of departing once for every operator, with the smallest example of all its types.

    Those that a plainer one may have caused, whatever the type, stand behind that.
    """
    groups: dict[tuple[str, Key], list[tuple[Cell, Departure]]] = {}
    for cell in cells:
        for each in cell.departures:
            groups.setdefault((cell.operator, each.key), []).append((cell, each))
    behind: dict[tuple[str, Key], list[Once]] = {}
    for (owner, _), group in groups.items():
        cause = next((each.cause for _, each in group if each.cause), None)
        if cause and all(each.cause for _, each in group):
            behind.setdefault((owner, cause), []).append(_once(group))
    return tuple(
        _once(group, tuple(behind.get(key, ())))
        for key, group in groups.items()
        if any(each.cause is None for _, each in group)
    )


def _once(group: Sequence[tuple[Cell, Departure]], behind: tuple[Once, ...] = ()) -> Once:
    """The smallest example is one without a plainer one, if there is any."""
    return Once(
        *min(group, key=lambda pair: (pair[1].cause is not None, pair[1].elements)),
        _types(cell for cell, _ in group),
        sum(each.cases for _, each in group),
        behind,
    )


def ways(cell: Cell) -> int:
    """How many ways of departing a cell has, without those that a plainer one may have caused."""
    return sum(each.cause is None for each in cell.departures)


def stops_once(cells: Sequence[Cell], verdict: Verdict) -> tuple[StopOnce, ...]:
    """Crashes by operator and what was said, or what is not supported by operator alone."""
    groups: dict[tuple[str, str], list[tuple[Cell, Stop]]] = {}
    for cell in cells:
        for stop in cell.stops:
            if stop.verdict == verdict:
                key = cell.operator, _NUMBER.sub("#", stop.said)
                groups.setdefault(key, []).append((cell, stop))
    return tuple(
        StopOnce(*group[0], _types(cell for cell, _ in group), sum(stop.cases for _, stop in group))
        for group in groups.values()
    )


def _types(cells: Iterable[Cell]) -> tuple[DType, ...]:
    return tuple(dict.fromkeys(cell.dtype for cell in cells))
