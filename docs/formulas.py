"""LaTeX in page sources → MathML, which browsers show without any script."""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert as latex_to_mathml

from docs.markup import DocsError, entities

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
# How many parts these elements have; the converter leaves a missing one out without a word.
_PARTS = {
    "mfrac": 2,
    "mroot": 2,
    "msub": 2,
    "msup": 2,
    "mover": 2,
    "munder": 2,
    "msubsup": 3,
    "munderover": 3,
}
# The converter takes these for names of variables, which would slant and space them wrongly.
_OPERATORS = {
    "\u2308": "prefix",  # left ceiling
    "\u2309": "postfix",
    "\u230a": "prefix",  # left floor
    "\u230b": "postfix",
}
# Pairs that the style sheet draws around what they enclose: few fonts for text have brackets that grow.
_GROWING = {"\u2308\u2309": "ceiling", "\u230a\u230b": "floor", "()": "round"}
# Higher than a line; round brackets around anything lower are those of the font.
_TALL = frozenset({"mfrac", "mtable", "munder", "mover", "munderover"})


def formula(latex: str, *, display: bool = False) -> str:
    """Turn LaTeX into a span with MathML that Markdown passes on unchanged.

    Raises DocsError where the formula has an unknown command, a brace or an argument too few.
    """
    source = " ".join(latex.split())
    root = _checked(source, "block" if display else "inline")
    for node in root.iter():
        _improve(node)
        _own_brace(node)
        _own_brackets(node)
    root.set("alttext", source)
    kind = "formula display" if display else "formula"
    return f'<span class="{kind}">{_markup(root)}</span>'


def _checked(source: str, display: str) -> Element:
    bare = re.sub(r"\\.", "", source)
    if not source or bare.count("{") != bare.count("}"):
        raise DocsError(f"formula {source!r} is empty or has a brace without its partner")
    try:
        root = ElementTree.fromstring(latex_to_mathml(source, display=display))
    except Exception as error:  # every release of the converter has errors of its own, of no common class
        reason = str(error) or type(error).__name__
        raise DocsError(f"formula {source!r} cannot be converted: {reason}") from error
    for node in root.iter():
        node.tag = node.tag.removeprefix(f"{{{_NAMESPACE}}}")
        _check_node(node, source)
    return root


def _check_node(node: Element, source: str) -> None:
    if (node.text or "").startswith("\\"):
        raise DocsError(f"formula {source!r} has the command {node.text}, which cannot be converted")
    if len(node) != _PARTS.get(node.tag, len(node)):
        raise DocsError(f"formula {source!r} has a fraction, root or index that lacks a part")
    if node.get("linebreak"):
        raise DocsError(f"formula {source!r} breaks a line outside of cases, a matrix or an array")


def _improve(node: Element) -> None:
    form = _OPERATORS.get(node.text or "") if node.tag == "mi" else None
    if form is not None:
        node.tag = "mo"
        node.attrib.update({"form": form, "stretchy": "false"})
    if node.tag == "mover" and node.get("accent") == "true":
        node[1].set("stretchy", "false")
    if node.tag == "mtd" and node.get("columnalign") == "left":
        # `columnalign` is not in MathML Core; the style sheet aligns by this class.
        del node.attrib["columnalign"]
        node.set("class", "left")


def _own_brace(node: Element) -> None:
    """Leave the brace of `cases` to the style sheet: there it grows with the cases in every font."""
    if (
        len(node) == 2
        and node[0].text == "{"
        and node[0].get("stretchy") == "true"
        and node[1].tag == "mtable"
    ):
        node[1].set("class", "cases")
        node.remove(node[0])


def _own_brackets(node: Element) -> None:
    """Leave brackets that should grow to the style sheet, for the same reason; they stay as text."""
    ends = (node[0], node[-1]) if len(node) > 2 else ()
    if not ends or any(end.get("stretchy") != "true" for end in ends):
        return
    kind = _GROWING.get("".join(end.text or "" for end in ends))
    if kind is None or (kind == "round" and not any(inner.tag in _TALL for inner in node.iter())):
        return
    node.set("class", kind)
    for end in ends:
        end.attrib.update({"class": "drawn", "stretchy": "false"})


def _markup(node: Element) -> str:
    attributes = "".join(f' {name}="{entities(value)}"' for name, value in node.attrib.items())
    inside = entities(node.text or "") + "".join(map(_markup, node))
    return f"<{node.tag}{attributes}>{inside}</{node.tag}>"
