"""The checker of built sites sees every kind of broken address, and only those."""

from pathlib import Path

import pytest
from docs.links import Wanted, check_site

GOOD = """<!doctype html><link rel="stylesheet" href="a.css"><h1 id="top">t</h1>
<a href="sub/b.html#there">b</a> <a href="#top">up</a> <a href="#">up</a> <a href="">self</a>
<a href="https://example.org/x">out</a> <a href="mailto:a@example.org">mail</a>
<img src="data:image/png;base64,">
<a href="sub/">folder</a> <a href="sub/b.html?q=1#th%65re">encoded</a>"""
OTHER = '<a href="../index.html#top">back</a> <p id="there"></p> <a href="/index.html">root</a>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "a.css").write_text("p { background: url(data:x) } @import 'b.css';")
    (tmp_path / "sub" / "b.html").write_text(OTHER)
    (tmp_path / "sub" / "index.html").write_text("<p>here</p>")
    return tmp_path


def test_a_site_in_order_has_no_problems(site: Path) -> None:
    assert check_site(site, [Wanted("sub/b.html", "there", "rule x.R1")]) == ()


@pytest.mark.parametrize(
    ("markup", "problem"),
    [
        ('<a href="none.html">x</a>', "index.html: broken link none.html"),
        ('<a href="sub/b.html#nowhere">x</a>', "no anchor #nowhere"),
        ('<a href="#nowhere">x</a>', "no anchor #nowhere"),
        ('<img src="figures/none.svg" alt="">', "broken link figures/none.svg"),
        ('<script src="none.js"></script>', "broken link none.js"),
        ('<a href="../secret.txt">x</a>', "broken link ../secret.txt"),
        ('<a href="//[">x</a>', "broken link //["),
        ('<p id="top"></p>', "the anchor #top occurs 2 times"),
        ('<script src="https://cdn.example.org/a.js"></script>', "loads https://cdn.example.org/a.js"),
        ('<link rel="stylesheet" href="//fonts.example.org/a.css">', "from elsewhere"),
        ('<img src="http://example.org/a.png" alt="">', "from elsewhere"),
    ],
)
def test_a_broken_address_is_named_with_its_page(site: Path, markup: str, problem: str) -> None:
    (site.parent / "secret.txt").write_text("outside of the site")
    (site / "index.html").write_text(GOOD + markup)
    found = check_site(site)
    assert len(found) == 1
    assert found[0].startswith("index.html: ")
    assert problem in found[0]


@pytest.mark.parametrize(
    ("style", "address"),
    [
        ("@import 'https://e.org/a.css';", "https://e.org/a.css"),
        ('@import url("http://e.org/a.css");', "http://e.org/a.css"),
        ("p { background: url(//e.org/a.png) }", "//e.org/a.png"),
    ],
)
def test_a_style_sheet_that_loads_from_elsewhere_is_named(site: Path, style: str, address: str) -> None:
    (site / "a.css").write_text(style)
    assert check_site(site) == (f"a.css: loads {address} from elsewhere",)


@pytest.mark.parametrize(
    "want", [Wanted("sub/b.html", "x-r1", "rule x.R1"), Wanted("c.html", "x", "rule x.R1")]
)
def test_an_anchor_that_must_exist_and_does_not_is_named(site: Path, want: Wanted) -> None:
    assert check_site(site, [want]) == (f"{want.page}: rule x.R1 has no anchor #{want.id}",)
