"""Reports as JSON, for programs; `report.schema.json` says what stands where."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from math import isfinite
from typing import Any

from sonnx.conformance.reporting.arrays import array_entry, differing_places
from sonnx.conformance.reporting.facts import (
    ANY_ORDER,
    any_order,
    one_line,
    operator_name,
    pointer,
    search_words,
    standing,
    verdict_words,
)
from sonnx.conformance.reporting.snippet import crash_snippet, departure_snippet
from sonnx.conformance.result import (
    VERDICTS,
    CaseVerdict,
    Cell,
    Departure,
    Key,
    Report,
    RuleVerdict,
    Stop,
    Verdict,
)
from sonnx.conformance.subjects import SUBJECTS
from sonnx.report.findings_json import json_text
from sonnx.sources import reference
from sonnx.vocabulary.trial import Trial

FORMAT = "sonnx-conformance-report"
# Counted up when a reader of the old form would misread the new one.
FORMAT_VERSION = 1
_HERE = "sonnx.conformance.reporting"
_LEVELS = 3


def report_json(report: Report, *, date: str = "") -> str:
    """Write `report_document` as text, in pure ASCII."""
    return json_text(report_document(report, date=date), _LEVELS)


def report_schema() -> Mapping[str, Any]:
    """The JSON schema of the format."""
    text = files(_HERE).joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def report_document(report: Report, *, date: str = "") -> dict[str, Any]:
    """Give everything that is known of a runtime; the same but for `seconds` where the campaign is the same.

    Every text is fit to be shown: control characters are written as escapes, and long ones are cut.
    """
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "tool": "sonnx",
        "version": report.sonnx,
        "specification": reference(),
        **({"date": one_line(date)} if date else {}),
        "runtime": {
            "name": one_line(report.runtime),
            "version": one_line(report.version),
            "asked": one_line(report.asked),
            "options": {one_line(name): _option(value) for name, value in report.options.items()},
        },
        "environment": {one_line(name): one_line(value) for name, value in report.environment.items()},
        "settings": {one_line(name): _option(value) for name, value in report.settings.items()},
        "sums": report.sums,
        "seed": report.seed,
        "verdict": report.verdict,
        "verdict_text": verdict_words(report),
        "partial": one_line(report.partial),
        "seconds": round(report.seconds, 3),
        "cases": report.cases,
        "counts": _counts(report.counts),
        "by_search": search_words(cell for cell in report.cells if not cell.outside_profile),
        "cells": [_cell(report, cell) for cell in report.cells],
    }


def _option(value: Any) -> Any:
    number = isinstance(value, float) and isfinite(value)
    return value if number or isinstance(value, bool | int | None) else one_line(str(value))


def _counts(counts: Mapping[Verdict, int]) -> dict[str, int]:
    return {verdict: counts.get(verdict, 0) for verdict in VERDICTS}


def _cell(report: Report, cell: Cell) -> dict[str, Any]:
    return {
        "operator": cell.operator,
        "name": operator_name(cell.operator),
        "type": str(cell.dtype),
        "verdict": cell.verdict,
        "standing": standing(cell),
        "outside_profile": cell.outside_profile,
        "counts": _counts(cell.counts),
        "grades": {one_line(grade): number for grade, number in cell.grades.items()},
        "searched": cell.searched,
        "unasked": cell.unasked,
        "rules": [_rule(cell, rule) for rule in cell.rules],
        "departures": [_departure(report, cell, departure) for departure in cell.departures],
        "stops": [_stop(report, cell, stop) for stop in cell.stops],
        "cases": _cases(cell.cases),
    }


def _rule(cell: Cell, rule: RuleVerdict) -> dict[str, Any]:
    return {
        "identifier": one_line(rule.identifier),
        "verdict": rule.verdict,
        "page": pointer(cell.operator, rule.identifier).page,
        "counts": _counts(rule.cases),
    }


def _cases(cases: Sequence[CaseVerdict]) -> list[list[str]]:
    """Rows of name, verdict and, where there is something to say, that."""
    return [
        [one_line(case.name), case.verdict, *([one_line(case.about)] if case.about else [])] for case in cases
    ]


def _departure(report: Report, cell: Cell, departure: Departure) -> dict[str, Any]:
    difference, more = departure.difference, pointer(cell.operator, departure.identifier)
    return {
        "identifier": one_line(departure.identifier),
        "clause": one_line(departure.clause),
        "more": more.command,
        "page": more.page,
        "kind": difference.kind,
        "cases": departure.cases,
        "source": one_line(departure.source),
        "against": one_line(departure.against),
        "cause": _number_of(cell, departure.cause),
        "note": ANY_ORDER if any_order(report, cell, departure) else "",
        "difference": {
            "output": one_line(difference.output),
            "place": None if difference.place is None else list(difference.place),
            "elements": difference.elements,
            "expected": one_line(difference.expected),
            "found": one_line(difference.found),
        },
        "trial": _trial(departure.trial),
        **_outputs(cell, departure),
        "python": departure_snippet(report, cell, departure),
    }


def _number_of(cell: Cell, cause: Key | None) -> int | None:
    """The place of a departure among those of its cell."""
    return next((number for number, each in enumerate(cell.departures) if each.key == cause), None)


def _outputs(cell: Cell, departure: Departure) -> dict[str, Any]:
    """What is specified and what was found, by name where that is clear."""
    nan = next(subject.nan for subject in SUBJECTS if subject.identifier == cell.operator)
    names, right = list(departure.expected), list(departure.expected.values())
    found = []
    for number, array in enumerate(departure.found):
        name = names[number] if number < len(names) else ""
        differs = differing_places(right[number], array, nan) if name else []
        found.append({"name": name, **array_entry(array), "differs": differs})
    return {
        "specified": [{"name": name, **array_entry(array)} for name, array in departure.expected.items()],
        "found": found,
    }


def _stop(report: Report, cell: Cell, stop: Stop) -> dict[str, Any]:
    return {
        "verdict": stop.verdict,
        "said": one_line(stop.said, 2000),
        "printed": one_line(stop.printed, 2000),
        "cases": stop.cases,
        "source": one_line(stop.source),
        "trial": _trial(stop.trial),
        "python": crash_snippet(report, cell, stop),
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "name": one_line(trial.name),
        "text": one_line(trial.text),
        "shows": [one_line(identifier) for identifier in trial.shows],
        "attributes": {name: _attribute(value) for name, value in trial.attributes.items()},
        "operands": [
            {"name": name, "constant": name in trial.constants, **array_entry(array)}
            for name, array in trial.inputs.items()
        ],
    }


def _attribute(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_attribute(entry) for entry in value]
    # JSON has no infinity and no NaN.
    plain = isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value))
    return value if plain else one_line(str(value))
