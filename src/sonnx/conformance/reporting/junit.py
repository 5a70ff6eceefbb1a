"""Reports as JUnit XML, for build servers: a suite for every operator and type, a case for every vector."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sonnx.conformance.reporting.arrays import array_text
from sonnx.conformance.reporting.facts import one_line, operator_name, runtime_name
from sonnx.conformance.result import CaseVerdict, Cell, Departure, Report, Verdict
from sonnx.report.text import cut, printable
from sonnx.report.xml import xml_attribute, xml_text

# What a build server tells apart; "" is a case that has passed.
_Kind = Literal["", "failure", "error", "skipped"]
_KINDS: dict[Verdict, _Kind] = {
    **{"conforms": "", "departs": "failure", "crashes": "error", "unsupported": "skipped"},
}
_OUTSIDE = "outside the profile, which does not specify it"


@dataclass(frozen=True)
class _Case:
    """One test case; `text` has all there is to say, `message` one line of it."""

    name: str
    kind: _Kind = ""
    message: str = ""
    text: str = ""


def report_junit(report: Report) -> str:
    """Write the vectors, and beside them what the search has found and what was not asked.

    Outside the profile nothing fails. Where nothing was asked at all, that is a failure.
    """
    told = _properties(report)
    suites = [
        _suite(f"{operator_name(c.operator)} on {c.dtype}", _owner(c), _cases(c), told) for c in report.cells
    ]
    if report.partial:
        left = _Case("everything was asked", "skipped", report.partial)
        suites.append(_suite("sonnx conformance", "sonnx", [left], told))
    if not any(cell.cases for cell in report.cells):
        nothing = _Case("there is something to ask", "failure", "there is nothing")
        suites.append(_suite("sonnx conformance", "sonnx", [nothing], told))
    name = xml_attribute(f"sonnx conformance of {runtime_name(report)}")
    body = "\n".join(suites)
    head = f'<testsuites name={name} time="{report.seconds:.3f}">'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}\n{body}\n</testsuites>\n'


def _properties(report: Report) -> str:
    """How the runtime was asked, on what and with what; the format has it in every suite."""
    told = {
        "runtime": report.runtime,
        "version": report.version,
        "asked": report.asked,
        **{f"option.{name}": value for name, value in report.options.items()},
        "sums": report.sums,
        "seed": report.seed,
        "sonnx": report.sonnx,
        **{name: value for name, value in report.settings.items() if value is not None},
        **report.environment,
    }
    lines = [
        f"      <property name={xml_attribute(one_line(name))} value={xml_attribute(one_line(str(value)))}/>"
        for name, value in told.items()
    ]
    return "\n".join(["    <properties>", *lines, "    </properties>"])


def _owner(cell: Cell) -> str:
    return f"{cell.operator}.{cell.dtype}"


def _cases(cell: Cell) -> list[_Case]:
    """The vectors in their order, then the search, then what was left out."""
    examples = [(each, _example(each)) for each in cell.departures]
    cases = [_case(examples, case) for case in cell.cases]
    cases += [
        _Case(f"search: {each.identifier}", "failure", _message(each), text)
        for each, text in examples
        if not each.cases
    ]
    crashed = [stop for stop in cell.stops if stop.verdict == "crashes" and not stop.cases]
    cases += [_Case("search", "error", stop.said, stop.said) for stop in crashed]
    if cell.searched and not crashed and all(each.cases for each in cell.departures):
        cases.append(_Case(f"search: {cell.searched} cases"))
    if cell.unasked:
        cases.append(_Case(f"unasked: {cell.unasked} vectors", "skipped", "so many before crashed"))
    if not cell.outside_profile:
        return cases
    # A crash is one wherever it happens.
    return [
        case if case.kind == "error" else _Case(case.name, "skipped" if case.kind else "", _OUTSIDE)
        for case in cases
    ]


def _case(examples: Sequence[tuple[Departure, str]], case: CaseVerdict) -> _Case:
    if case.verdict != "departs":
        return _Case(case.name, _KINDS[case.verdict], case.about, case.about)
    shown = [(each, text) for each, text in examples if each.key in case.broken]
    message = _message(shown[0][0]) if len(shown) == 1 else case.about
    return _Case(case.name, "failure", message, "\n\n".join(text for _, text in shown))


def _message(departure: Departure) -> str:
    return f"{departure.identifier}: {departure.clause}"


def _example(departure: Departure) -> str:
    """A departure with its smallest example, which need not be the vector itself."""
    difference, trial = departure.difference, departure.trial
    lines = [_message(departure), f"smallest example, of {departure.cases or 'no'} vectors that show it:"]
    lines += [f"  {name} = {array_text(array)}" for name, array in trial.inputs.items()]
    lines += [f"  {name} = {value}" for name, value in trial.attributes.items()]
    held = [name for name in trial.inputs if name in trial.constants]
    lines += [f"  constants: {', '.join(held)}"] if held else []
    lines += [f"  {'as inputs' if departure.against else 'specified'}: {difference.expected}"]
    lines += [f"  found: {difference.found}"]
    if departure.cause is not None:
        lines += [f"  perhaps the same fault as {departure.cause[0]}: {departure.cause[1]}"]
    return "\n".join(lines)


def _suite(name: str, owner: str, cases: Iterable[_Case], properties: str) -> str:
    listed = list(cases)
    counts = " ".join(
        f'{noun}="{sum(case.kind == kind for case in listed)}"'
        for noun, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    )
    body = "\n".join([properties, *(_element(owner, case) for case in listed)])
    return f'  <testsuite name={xml_attribute(name)} tests="{len(listed)}" {counts}>\n{body}\n  </testsuite>'


def _element(owner: str, case: _Case) -> str:
    head = f"    <testcase classname={xml_attribute(owner)} name={xml_attribute(one_line(case.name))}"
    if not case.kind:
        return f"{head}/>"
    message = xml_attribute(one_line(case.message))
    if case.kind == "skipped" or not case.text:
        return f"{head}>\n      <{case.kind} message={message}/>\n    </testcase>"
    text = xml_text("\n".join(printable(cut(line)) for line in case.text.split("\n")))
    return f"{head}>\n      <{case.kind} message={message}>{text}</{case.kind}>\n    </testcase>"
