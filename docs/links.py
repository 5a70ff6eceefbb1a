"""Looks through a built site: every local address leads to a file and an anchor that exist."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements whose address a browser loads by itself, as opposed to one that a person follows.
_LOADED = {"img", "script", "source", "iframe", "video", "audio", "embed", "object"}
_STYLE_ADDRESS = re.compile(r"""(?:@import\s*|url\(\s*)["']?\s*((?:https?:)?//[^"')\s]+)""")


@dataclass(frozen=True)
class Address:
    """An address that a page holds; `loaded` where the browser fetches it without being asked."""

    text: str
    loaded: bool


@dataclass(frozen=True)
class Html:
    """What matters of a page here: its anchors, as often as they occur, and its addresses."""

    ids: tuple[str, ...]
    addresses: tuple[Address, ...]


@dataclass(frozen=True)
class Wanted:
    """An anchor that the built site must have, and what it is for."""

    page: str
    id: str
    what: str


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[Address] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "id" in found:
            self.ids.append(found["id"])
        elif tag == "a" and "name" in found:
            self.ids.append(found["name"])
        loaded = tag in _LOADED or (tag == "link" and found.get("rel") != "canonical")
        self.addresses += [
            Address(found[name], loaded) for name in ("href", "src", "data", "poster") if name in found
        ]


def read(text: str) -> Html:
    """Read the anchors and addresses of one page."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return Html(tuple(reader.ids), tuple(reader.addresses))


def read_site(site: Path) -> Mapping[str, Html]:
    """Read every page of a built site, by its path inside it."""
    return {
        path.relative_to(site).as_posix(): read(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }


def check_site(site: Path, wanted: Iterable[Wanted] = ()) -> tuple[str, ...]:
    """List what is broken: links, anchors, images, repeated anchors, anything loaded from elsewhere.

    `wanted` are anchors that must exist whether or not a page links to them.
    """
    pages = read_site(site)
    problems = [problem for name, page in pages.items() for problem in _page(site, pages, name, page)]
    problems += [problem for path in sorted(site.rglob("*.css")) for problem in _style(site, path)]
    problems += [
        f"{want.page}: {want.what} has no anchor #{want.id}"
        for want in wanted
        if want.page not in pages or want.id not in pages[want.page].ids
    ]
    return tuple(problems)


def _page(site: Path, pages: Mapping[str, Html], name: str, page: Html) -> Iterable[str]:
    for identifier, times in Counter(page.ids).items():
        if times > 1:
            yield f"{name}: the anchor #{identifier} occurs {times} times"
    for address in dict.fromkeys(page.addresses):
        problem = _address(site, pages, name, address)
        if problem:
            yield f"{name}: {problem}"


def _address(site: Path, pages: Mapping[str, Html], name: str, address: Address) -> str | None:
    try:
        parts = urlsplit(address.text)
    except ValueError:  # brackets that are no IPv6 address
        return f"broken link {address.text}"
    if parts.scheme or parts.netloc:
        elsewhere = address.loaded and parts.scheme != "data"
        return f"loads {address.text} from elsewhere; the site must work offline" if elsewhere else None
    path, fragment = unquote(parts.path), unquote(parts.fragment)
    start = site if path.startswith("/") else (site / name).parent
    target = (start / path.lstrip("/")).resolve() if path else (site / name).resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site.resolve()) or not target.is_file():
        return f"broken link {address.text}"
    found = pages.get(target.relative_to(site.resolve()).as_posix())
    if fragment and found is not None and fragment not in found.ids:
        return f"broken link {address.text}: no anchor #{fragment} there"
    return None


def _style(site: Path, path: Path) -> Iterable[str]:
    for match in _STYLE_ADDRESS.finditer(path.read_text(encoding="utf-8")):
        yield f"{path.relative_to(site).as_posix()}: loads {match[1]} from elsewhere"
