"""Reports as one page for a browser, which needs no network and trusts nothing that a runtime has said."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from sonnx.conformance.reporting.facts import one_line, runtime_name, verdict_words
from sonnx.conformance.reporting.reports_json import report_document
from sonnx.conformance.reporting.terminal_text import report_text
from sonnx.conformance.result import VERDICTS, Report

_HERE = files("sonnx.conformance.reporting")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def report_page(report: Report, *, date: str = "") -> str:
    """The whole page; the same report, with the same date, gives the same one."""
    style, script = _own("page.css"), _own("page.js")
    title = f"{runtime_name(report)} {verdict_words(report)}"
    return _filled(
        _own("page.html"),
        {
            "policy": _policy(style, script),
            "title": escape(f"{title}{f', {one_line(date, 80)}' if date else ''}"),
            "style": style,
            "script": script,
            "data": _data(packed(report_document(report, date=date))),
            # Whoever runs no scripts has the summary of the terminal.
            "summary": escape(report_text(report)),
        },
    )


def _own(name: str) -> str:
    return _HERE.joinpath(name).read_text(encoding="utf-8")


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Fill a template in; what is filled in is not looked at again."""
    return _PLACE.sub(lambda place: values[place[1]], text)


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded and nothing run but the page's own style and script."""
    allowed = {"style-src": style, "script-src": script}
    rules = [f"{name} '{_hash(text)}'" for name, text in allowed.items()]
    return "; ".join(["default-src 'none'", *rules, "img-src data:", "base-uri 'none'", "form-action 'none'"])


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _data(document: Mapping[str, Any]) -> str:
    """JSON in pure ASCII that ends no element and begins no comment."""
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def packed(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document whose lists of cases are short: names, which most types have in common, stand once.

    `texts` has all names and what was said. A list of cases is `runs` of names that follow one another there,
    each its first and its number; a digit for each verdict; and what was said `about` which of the cases.
    """
    texts: dict[str, int] = {}
    cells = [{**cell, "cases": _packed_cases(cell["cases"], texts)} for cell in document["cells"]]
    return {**document, "cells": cells, "texts": list(texts)}


def _packed_cases(rows: list[list[str]], texts: dict[str, int]) -> dict[str, Any]:
    runs: list[list[int]] = []
    about: list[tuple[int, int]] = []
    # Names before what was said, so that the names of a type follow one another.
    names = [texts.setdefault(row[0], len(texts)) for row in rows]
    for number, name in enumerate(names):
        if runs and sum(runs[-1]) == name:
            runs[-1][1] += 1
        else:
            runs.append([name, 1])
        about += [(number, texts.setdefault(said, len(texts))) for said in rows[number][2:]]
    digits: dict[str, str] = {verdict: str(digit) for digit, verdict in enumerate(VERDICTS)}
    return {"runs": runs, "verdicts": "".join(digits[row[1]] for row in rows), "about": about}
