"""A report as a folder: the page, JSON, JUnit XML, and every smallest example as files like the vectors'."""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sonnx.conformance.folders import is_free, require_elsewhere, whole_folder
from sonnx.conformance.reporting.junit import report_junit
from sonnx.conformance.reporting.page import report_page
from sonnx.conformance.reporting.reports_json import FORMAT, report_json
from sonnx.conformance.result import Report
from sonnx.conformance.vectors import case_files
from sonnx.report.text import cut
from sonnx.vocabulary.trial import Trial

_PAGE, _JSON, _JUNIT, _EXAMPLES = "report.html", "report.json", "junit.xml", "examples"
_NAMES = (_PAGE, _JSON, _JUNIT, _EXAMPLES)
_LONGEST = 60
# No report begins with more than that before it says what it is.
_HEAD = 4096


def require_replaceable(path: str | Path) -> Path:
    """The folder that a report may be written to: a new one, an empty one, or that of an earlier report.

    Raises FileExistsError where something else is there, if only beside an earlier report.
    """
    target = Path(os.path.realpath(path))
    require_elsewhere(target)
    if is_free(target):
        return target
    if not (target.is_dir() and _is_report(target)):
        raise FileExistsError(f"{path} is there already and is no report; name a new folder")
    strange = next((str(each.relative_to(target)) for each in _others(target)), "")
    if strange:
        what = cut(strange, _LONGEST)
        raise FileExistsError(f"{path} also holds {what}, which is no part of a report; name a new folder")
    return target


def _others(folder: Path) -> Iterator[Path]:
    """Files that no report has, and everything else that is neither file nor folder."""
    for each in sorted(folder.rglob("*")):
        inside = each.relative_to(folder).parts
        known = inside[0] in _NAMES if len(inside) == 1 else inside[0] == _EXAMPLES
        files = each.suffix in (".pb", ".npy") or each.name in ("model.onnx", "model.mlir", "case.json")
        if each.is_symlink() or not known or (len(inside) > 1 and not each.is_dir() and not files):
            yield each


def _is_report(folder: Path) -> bool:
    try:
        with (folder / _JSON).open(encoding="utf-8", errors="replace") as file:
            return f'"format": {json.dumps(FORMAT)}' in file.read(_HEAD)
    except OSError:
        return False


def write_report(path: str | Path, report: Report, *, date: str | None = None) -> Path:
    """Write the folder, whole or not at all; an earlier report is replaced.

    The date, without one that of now, is on the page and in the JSON. Raises OSError.
    """
    target = require_replaceable(path)
    when = datetime.now(UTC).isoformat(timespec="seconds") if date is None else date
    with whole_folder(target) as folder:
        for name, content in _files(report, when):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    return target


def _files(report: Report, date: str) -> Iterator[tuple[str, bytes]]:
    yield _PAGE, report_page(report, date=date).encode()
    yield _JSON, report_json(report, date=date).encode()
    yield _JUNIT, report_junit(report).encode()
    for cell in report.cells:
        examples: list[tuple[str, Trial]] = [(each.identifier, each.trial) for each in cell.departures]
        examples += [("crash", stop.trial) for stop in cell.stops if stop.verdict == "crashes"]
        for number, (identifier, trial) in enumerate(examples, 1):
            folder = f"{_EXAMPLES}/{cell.operator}/{cell.dtype}/{number}-{identifier}"
            for name, content in case_files(cell.operator, cell.dtype, trial).items():
                yield f"{folder}/{name}", content
