"""A report as a folder: the page, JSON, JUnit XML, and every smallest example as files like the vectors'."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sonnx.conformance.reporting.junit import report_junit
from sonnx.conformance.reporting.page import report_page
from sonnx.conformance.reporting.reports_json import FORMAT, report_json
from sonnx.conformance.result import Report
from sonnx.conformance.vectors import case_files
from sonnx.operators.shared.trials import Trial

_JSON = "report.json"
# No report begins with more than that before it says what it is.
_HEAD = 4096


def require_replaceable(path: str | Path) -> Path:
    """The folder that a report may be written to: a new one, an empty one, or that of an earlier report.

    Raises FileExistsError where something else is there.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not (target.is_dir() and (not any(target.iterdir()) or _is_report(target))):
        raise FileExistsError(f"{path} is there already and is no report; name a new folder")
    return target


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
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        part.mkdir(parents=True)
        for name, content in _files(report, when):
            file = part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        if target.exists():
            before = target.with_name(f".{secrets.token_hex(8)}.before")
            os.rename(target, before)
            os.rename(part, target)
            shutil.rmtree(before, ignore_errors=True)
        else:
            os.rename(part, target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return target


def _files(report: Report, date: str) -> Iterator[tuple[str, bytes]]:
    yield "report.html", report_page(report, date=date).encode()
    yield _JSON, report_json(report, date=date).encode()
    yield "junit.xml", report_junit(report).encode()
    for cell in report.cells:
        examples: list[tuple[str, Trial]] = [(each.identifier, each.trial) for each in cell.departures]
        examples += [("crash", stop.trial) for stop in cell.stops if stop.verdict == "crashes"]
        for number, (identifier, trial) in enumerate(examples, 1):
            folder = f"examples/{cell.operator}/{cell.dtype}/{number}-{identifier}"
            for name, content in case_files(cell.operator, cell.dtype, trial).items():
                yield f"{folder}/{name}", content
