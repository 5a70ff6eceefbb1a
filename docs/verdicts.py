"""A runtime judged while the site is built: its report is a page, seen through a window in another."""

from collections.abc import Callable, MutableMapping

from docs.markup import DocsError
from sonnx.conformance import run
from sonnx.conformance.reporting.page import report_page
from sonnx.conformance.result import Report
from sonnx.conformance.runtimes.runtime import UnavailableError

# A few types, so that the site is built in seconds; a search as short.
_TYPES = ("float16", "float", "int8", "bool")
_EXAMPLES = 20

# A runtime and operators → what became of it.
Judge = Callable[[str, list[str]], Report]


def judged(runtime: str, operators: list[str]) -> Report:
    """Judge some operators on a few types."""
    return run(runtime, operators=operators, types=_TYPES, plan={"examples": _EXAMPLES})


def verdicts(argument: str, pages: MutableMapping[str, str], judge: Judge = judged) -> str:
    """A window on the report about a runtime, which is put among the pages.

    The argument names the runtime, and the operators on which it is judged.
    """
    runtime, *operators = argument.split() or [""]
    if not operators:
        raise DocsError("takes a runtime and at least one operator")
    try:
        report = judge(runtime, operators)
    except (UnavailableError, ValueError) as error:
        raise DocsError(str(error)) from None
    path = f"reports/{runtime}.html"
    pages[path] = report_page(report)
    window = f'<iframe class="report" src="{path}" title="Report on {runtime}" loading="lazy"></iframe>'
    return f"{window}\n\n[The report on a page of its own]({path})"
