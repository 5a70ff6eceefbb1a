"""The page of a report in a real browser: it needs nothing else, opens what is asked for, obeys nobody."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from tests.conformance.report_samples import (
    HOSTILE,
    cases,
    hostile,
    lost_sign,
    lost_value,
    many,
    nan_max,
    nan_min,
    report,
    sample,
    stop,
)

from sonnx.conformance.reporting.page import report_page
from sonnx.conformance.reporting.terminal_text import report_text
from sonnx.conformance.result import Cell, Report
from sonnx.model.dtype import DType

pytestmark = pytest.mark.browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Locator, Page

browsers = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

Scheme = Literal["light", "dark"]
CELL = ".cells button[data-cell='{}']"
ENOUGH = 4.5
# Every text that is shown, its colour and the first ground below it that is no glass.
COLOURS = """() => [...document.querySelectorAll("body *")].filter((element) =>
    !element.disabled && element.checkVisibility() && !element.closest("svg")
    && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
  ).map((element) => {
    let ground = element;
    while (/, 0\\)$/.test(getComputedStyle(ground).backgroundColor)) ground = ground.parentElement;
    return [element.textContent.slice(0, 40), element.className, getComputedStyle(element).color,
      getComputedStyle(ground).backgroundColor];
  })"""


ADD_SCRIPT = """() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = 1";
    document.body.append(script);
  }"""
OPEN_ALL = "() => document.querySelectorAll('details').forEach((each) => { each.open = true; })"


@dataclass
class Opened:
    """A page in the browser, and what it has done that nobody asked for."""

    page: "Page"
    address: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def refuse(self, dialog: "Dialog") -> None:
        """Note that somebody was to be asked something."""
        self.complaints.append(dialog.message)
        dialog.dismiss()

    @property
    def quiet(self) -> bool:
        """Tell whether it has loaded itself alone, and nothing was said."""
        asked = {request.partition("#")[0] for request in self.requests if not request.startswith("data:")}
        return asked <= {self.address} and not self.complaints


Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium")
    with browsers.sync_playwright() as tools:
        started = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def opened(browser: "Browser", tmp_path: Path) -> Iterator[Open]:
    contexts = []

    def open_page(
        shown: Report, fragment: str = "", scheme: Scheme = "light", width: int = 1280, scripts: bool = True
    ) -> Opened:
        path = tmp_path / "report.html"
        path.write_text(report_page(shown), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=scripts,
            offline=True,
            reduced_motion="reduce",
        )
        contexts.append(context)
        found = Opened(context.new_page(), path.as_uri())
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.on("console", lambda message: found.complaints.append(message.text))
        found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.page.on("dialog", found.refuse)
        found.page.set_default_timeout(10_000)
        found.page.goto(f"{found.address}{fragment}")
        return found

    yield open_page
    for context in contexts:
        context.close()


def focus(page: "Page", element: str) -> None:
    """Wait until an element has the focus: what a key does comes after it."""
    page.locator(f"{element}:focus").wait_for()


def shows(found: "Locator", text: str) -> None:
    """Wait until an element shows that text and no other."""
    browsers.expect(found).to_have_text(text, use_inner_text=True, timeout=10_000)


def opens(page: "Page", cell: str) -> "Locator":
    """Click on a cell; the panel that shows it, as soon as it does."""
    page.locator(CELL.format(cell)).click()
    page.locator(f"{CELL.format(cell)}[aria-expanded=true]").wait_for()
    return page.locator("#panel")


def closed(page: "Page") -> None:
    page.locator("#panel").wait_for(state="hidden")


def test_the_page_loads_nothing_and_has_a_button_for_every_cell(opened: Open) -> None:
    shown = sample()
    found = opened(shown)
    assert found.page.title() == "onnxruntime 1.31.1 crashes, and departs from the specification"
    cells = found.page.locator(".cells button").evaluate_all("all => all.map(one => one.dataset.cell)")
    assert sorted(cells) == sorted(f"{cell.operator}/{cell.dtype}" for cell in shown.cells)
    assert found.page.locator(CELL.format("clip/float")).get_attribute("aria-label") == (
        "Clip on float: departs from the specification; 8 vectors, 3 depart"
    )
    signs = {
        "clip/float": "≠ 1",
        "clip/int8": "✓",
        "expand/string": "! 1",
        "where/int8": "(✓)",
        "where/bfloat16": "\u2013",
    }
    for cell, sign in signs.items():
        assert found.page.locator(CELL.format(cell)).inner_text() == sign
    assert found.quiet, found


def test_the_page_says_how_was_asked_and_on_what(opened: Open) -> None:
    settings = {"examples": 100, "seconds": None, "timeout": 20.0, "memory": 4 * 2**30}
    found = opened(replace(sample(), settings=settings, environment={"system": "Linux", "python": "3.12.1"}))
    facts = found.page.locator("#head .facts li").all_inner_texts()
    assert facts[-5:] == ["examples 100", "timeout 20 s", "memory 4 GiB", "Linux", "python 3.12.1"]


def test_a_click_opens_the_example_with_both_results(opened: Open) -> None:
    found = opened(sample())
    assert not found.page.locator("#panel").is_visible()
    panel = opens(found.page, "clip/float")
    text = panel.inner_text()
    for words in (
        "Clip on float",
        "A NaN min does not bound.",
        "sonnx explain D-CLIP-1",
        "operators/clip.html#d-clip-1",
    ):
        assert words in text
    operands = panel.locator(".tensors").first.locator("figure").all_inner_texts()
    assert [re.findall(r"0x[0-9a-f]{8}", each) for each in operands] == [
        ["0x80000000"],
        ["0x7fc00000"],
        ["0x3f800000"],
    ]
    row = panel.locator(".tensors").last.locator("tr.wrong")
    assert re.findall(r"0x[0-9a-f]{8}", row.inner_text()) == ["0x80000000", "0x7fc00000"]
    assert "≠" in row.inner_text()
    rules = panel.locator("section", has_text="Rules and rulings").locator("tbody tr").all_inner_texts()
    assert [re.split(r"\s+", each) for each in rules] == [
        ["D-CLIP-1", "≠", "departs", "2", "3", "0", "0"],
        ["D-CLIP-2", "✓", "conforms", "5", "0", "0", "0"],
    ]
    shows(opens(found.page, "expand/string").locator(".said"), "crashed: signal 11 (SIGSEGV)")
    assert found.quiet, found


def test_a_crash_hides_no_departure_and_a_hang_is_the_smallest_where_it_was_made_small(opened: Open) -> None:
    crash = stop("where", DType.FLOAT, "crashes", "crashed: signal 11 (SIGSEGV)", 0)
    late = replace(crash, said="late: no answer within 20 seconds")
    small = replace(late, trial=replace(late.trial, name="one-reduced"))
    found = opened(report(Cell("where", DType.FLOAT, cases(), (), (lost_sign(),), (crash, late, small))))
    assert found.page.locator(CELL.format("where/float")).inner_text() == "! 3 \u2260 1"
    assert "found by the search alone: 3 crashes" in found.page.locator("#summary").inner_text()
    heads = opens(found.page, "where/float").locator("article.crashes h4").all_inner_texts()
    assert [head.lower() for head in heads] == ["smallest example", "first example", "smallest example"]


def test_what_may_be_the_same_fault_is_there_for_whoever_opens_it(opened: Open) -> None:
    plain = lost_value()
    shown = report(
        Cell("where", DType.FLOAT, cases(), (), (replace(lost_sign(), cause=plain.key), plain)),
        Cell("where", DType.DOUBLE, cases(), (), (lost_sign(DType.DOUBLE),)),
        Cell(
            *("clip", DType.FLOAT, cases(), ()),
            (nan_min(DType.FLOAT), replace(nan_max(DType.FLOAT), cause=nan_min(DType.FLOAT).key)),
        ),
    )
    found = opened(shown, "#clip/float")
    assert found.page.locator(CELL.format("clip/float")).inner_text() == "≠ 1+"
    # On another type the lost sign stands alone, so in the list of all it does too.
    rows = found.page.locator("#departures tbody tr")
    assert [("behind" in (each.get_attribute("class") or "")) for each in rows.all()] == [
        False,
        False,
        False,
        True,
    ]
    assert "perhaps the same fault" in rows.last.inner_text()
    panel = found.page.locator("#panel")
    others = panel.locator("details.others")
    assert "1 more clause broken, perhaps by the same fault" in others.locator("> summary").inner_text()
    hidden = others.locator("article")
    assert not hidden.is_visible()
    others.locator("> summary").click()
    hidden.wait_for()
    assert "A NaN max does not bound." in hidden.inner_text()
    assert panel.locator("article").count() == 2
    assert found.quiet, found


def test_the_snippet_is_copied(opened: Open) -> None:
    found = opened(sample(), "#where/float")
    found.page.locator("details.snippet summary").click()
    script = found.page.locator(".python code").inner_text()
    assert "np.array([0x80000000], np.uint32)" in script
    found.page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; }")
    found.page.get_by_role("button", name="Copy").click()
    found.page.get_by_role("button", name="Copied").wait_for()
    assert found.page.evaluate("window.copied").strip() == script.strip()


def test_the_matrix_is_used_without_a_mouse(opened: Open) -> None:
    found = opened(sample())
    for _ in range(3):  # the link to the matrix, the filter, the first cell
        found.page.keyboard.press("Tab")
    focus(found.page, CELL.format("clip/float16"))
    for key, cell in (
        ("ArrowRight", "clip/float"),
        ("ArrowDown", "conv/float"),
        ("ArrowDown", "where/float"),
        ("ArrowRight", "where/int8"),
        ("Home", "where/float"),
        ("End", "where/bfloat16"),
        ("ArrowRight", "where/bfloat16"),
        ("ArrowLeft", "where/int8"),
    ):
        found.page.keyboard.press(key)
        focus(found.page, CELL.format(cell))
    found.page.keyboard.press("Enter")
    focus(found.page, "#panel-title")
    assert found.page.locator("#panel-title").inner_text().startswith("Where on int8")
    found.page.keyboard.press("Escape")
    closed(found.page)
    focus(found.page, CELL.format("where/int8"))


def test_an_address_opens_its_cell(opened: Open) -> None:
    found = opened(sample(), "#conv/float")
    assert found.page.locator("#panel-title").inner_text().startswith("Conv on float")
    assert "AGAINST THE SAME OPERANDS AS INPUTS" in found.page.locator("#panel").inner_text()
    opens(found.page, "clip/int8")
    assert found.page.url.endswith("#clip/int8")
    found.page.go_back()
    found.page.locator("#panel-title", has_text="Conv on float").wait_for()
    found.page.locator("#departures a.chip", has_text="double").click()
    found.page.locator("#panel-title", has_text="Clip on double").wait_for()
    found.page.get_by_role("button", name="Close").click()
    closed(found.page)
    assert found.quiet, found


@pytest.mark.parametrize(
    "fragment", ["#clip/complex64", "#%E0%A4%A", "#<img src=x onerror=alert(1)>", "#__proto__"]
)
def test_an_address_of_nothing_opens_nothing(opened: Open, fragment: str) -> None:
    found = opened(sample(), fragment)
    assert not found.page.locator("#panel").is_visible()
    assert found.page.locator(".cells button").count() == len(sample().cells)
    assert found.quiet, found


def test_only_departures_are_left_where_that_is_asked_for(opened: Open) -> None:
    found = opened(sample())
    found.page.get_by_label("Only departures").check()
    found.page.locator(CELL.format("where/int8")).wait_for(state="detached")
    cells = found.page.locator(".cells button").evaluate_all("all => all.map(one => one.dataset.cell)")
    bad = [
        f"{cell.operator}/{cell.dtype}" for cell in sample().cells if cell.verdict in ("departs", "crashes")
    ]
    assert sorted(cells) == sorted(bad)
    found.page.get_by_label("Only departures").uncheck()
    browsers.expect(found.page.locator(".cells button")).to_have_count(len(sample().cells))


def test_hostile_texts_are_shown_and_do_nothing(opened: Open) -> None:
    found = opened(hostile(), "#where/string")
    found.page.evaluate(OPEN_ALL)
    text = found.page.locator("body").inner_text()
    assert (
        "</script><img src=x onerror=alert(1)>\\x1b[31m\\u202egnp.exe\\u2066\\x00\\ud800 --> ]]> {{data}}"
        in text
    )
    assert not set(HOSTILE) & set("\x1b\u202e\u2066\x00\ud800") & set(text)
    assert found.page.locator("img").count() == 0
    assert found.page.locator("script").count() == 2
    assert found.quiet, found


def test_a_script_that_somebody_adds_is_not_run(opened: Open) -> None:
    found = opened(sample())
    with found.page.expect_console_message() as said:
        found.page.evaluate(ADD_SCRIPT)
    assert found.page.evaluate("window.ran") is None
    assert "Content Security Policy" in said.value.text


def test_a_hundred_thousand_cases_are_found_one_by_one(opened: Open) -> None:
    found = opened(many(100_000))
    opens(found.page, "clip/float")
    status, rows = found.page.locator(".pages .found"), found.page.locator(".vectors tbody tr")
    shows(status, "1 to 25 of 33,334")
    found.page.get_by_label("Search the vectors").fill("NEEDLE")
    shows(status, "1 to 1 of 1")
    assert re.split(r"\s+", rows.inner_text()) == ["≠", "departs", "the-needle", "D-CLIP-1"]
    found.page.get_by_label("Search the vectors").fill("")
    shows(status, "1 to 25 of 33,334")
    found.page.get_by_role("button", name="Next").click()
    shows(status, "26 to 50 of 33,334")
    found.page.locator("[data-verdict=departs]").click()
    shows(status, "1 to 1 of 1")
    found.page.get_by_label("Search the vectors").fill("no such case")
    shows(status, "None")
    # What a browser has to draw does not grow with the cases.
    assert found.page.evaluate("document.querySelectorAll('*').length") < 1000
    assert found.quiet, found


def luminance(colour: str) -> float:
    """Of a colour of sRGB, as those who write rules for readable pages define it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(opened: Open, scheme: Scheme) -> None:
    found = opened(sample(), scheme=scheme)
    seen = set()
    grounds = set()
    for cell in ("clip/float", "expand/string", "where/bfloat16", "where/int8", "clip/int8"):
        opens(found.page, cell)
        found.page.evaluate(OPEN_ALL)
        for text, kind, colour, ground in found.page.evaluate(COLOURS):
            dark, light = sorted((luminance(colour), luminance(ground)))
            assert (light + 0.05) / (dark + 0.05) >= ENOUGH, (text, kind, colour, ground)
            seen.add(kind)
            grounds.add(ground)
    assert {
        f"sign {standing}" for standing in ("conforms", "departs", "crashes", "partly", "unsupported")
    } <= seen
    page = "rgb(247, 248, 250)" if scheme == "light" else "rgb(18, 24, 31)"
    assert page in grounds


@pytest.mark.parametrize("fragment", ["", "#conv/float", "#expand/string"])
def test_a_narrow_window_is_enough(opened: Open, fragment: str) -> None:
    found = opened(sample(), fragment, width=400)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("width", [400, 1280])
def test_no_button_covers_the_code(opened: Open, width: int) -> None:
    found = opened(sample(), "#where/float", width=width)
    found.page.locator("details.snippet summary").click()
    button = found.page.get_by_role("button", name="Copy").bounding_box()
    code = found.page.locator(".python pre").bounding_box()
    assert button is not None
    assert code is not None
    assert button["y"] + button["height"] <= code["y"]
    assert 0 <= button["x"] <= width - button["width"]


def test_a_matrix_that_goes_on_to_the_right_shows_it(opened: Open) -> None:
    found = opened(sample(), width=400)
    edges, hint = found.page.locator("#matrix .edges"), found.page.locator("#matrix .hint")
    found.page.locator(".edges.more").wait_for()
    assert hint.inner_text() == "Scroll sideways for more types."
    fade = "element => getComputedStyle(element, '::after').opacity"
    assert edges.evaluate(fade) == "1"
    found.page.locator(".wide").evaluate("element => { element.scrollLeft = 9999; }")
    found.page.locator(".edges:not(.more)").wait_for()
    assert (edges.evaluate(fade), hint.is_visible()) == ("0", True)
    found.page.set_viewport_size({"width": 1280, "height": 900})
    found.page.locator(".edges:not(.scrolls)").wait_for()
    assert not hint.is_visible()
    assert found.quiet, found


def test_a_report_of_nothing_is_a_page_too(opened: Open) -> None:
    found = opened(report())
    assert "Nothing was asked." in found.page.locator("#matrix").inner_text()
    assert found.quiet, found


def test_whoever_runs_no_scripts_reads_the_summary(opened: Open) -> None:
    found = opened(sample(), scripts=False)
    assert found.page.locator("noscript").inner_text().strip() == report_text(sample()).strip()
