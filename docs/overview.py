"""Pages about all operators together: the rules, the rulings, the changes."""

import re
from collections.abc import Iterable, Mapping, Sequence

from docs.folders import Folder
from docs.markup import DocsError, anchor, code, escape, prose, rulings_in, table
from docs.render import case_anchor, restricts_badge
from sonnx.operators import NODE_OPERATORS, REWRITINGS
from sonnx.vocabulary.operator import OLDEST_OPSET

# The page is one table: the room of the table of contents is its own.
_WIDE = "---\nhide: [toc]\n---\n\n"
_RELATIVE_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\((?!https?://)[^)\n]*\)")


def operators_table(folders: Iterable[Folder]) -> str:
    """List the operators with what they do in one sentence."""
    rows = [
        (f"[{escape(folder.title)}]({folder.path})", prose(folder.contract.summary), str(len(folder.rules)))
        for folder in folders
        if folder.contract is not None
    ]
    return table(("operator", "what it does", "rules"), rows)


def rewritings_table() -> str:
    """List what normalizing writes in place of operators that the profile does not have."""
    rows = [
        (escape(each.name), escape(each.when), code(each.written), f"{prose(each.why)} ({each.ruling})")
        for each in REWRITINGS.values()
    ]
    return table(("operator", "where", "what is written", "why that is the same"), rows)


def older_table() -> str:
    """List the operators of old operator sets that normalizing takes, by the first such set."""
    there = [op for op in NODE_OPERATORS.values() if min(op.contract.versions) <= OLDEST_OPSET]
    oldest = {op.name: op.contract.oldest for op in there}
    oldest |= {each.name: each.oldest for each in REWRITINGS.values()}
    rows = [
        (
            f"{first} to {OLDEST_OPSET - 1}",
            ", ".join(name for name, since in oldest.items() if since == first),
        )
        for first in sorted({*oldest.values()} - {OLDEST_OPSET})
    ]
    return table(("operator sets", "operators that mean the same there"), rows)


def rules_table(folders: Iterable[Folder]) -> str:
    """Count and list the rules, each with a link to where it is printed."""
    listed = [(folder, rule) for folder in folders for rule in folder.rules]
    rows = [
        (
            f"[`{rule.identifier}`]({folder.path}#{anchor(rule.identifier)})",
            prose(rule.statement),
            restricts_badge() if rule.restricts_onnx else "",
        )
        for folder, rule in listed
    ]
    restricting = sum(rule.restricts_onnx for _, rule in listed)
    return (
        f"There are {len(listed)} rules; {restricting} of them forbid something that ONNX allows.\n\n"
        f"{table(('rule', 'statement', ''), rows)}"
    )


def rulings_page(folders: Sequence[Folder]) -> str:
    """Write the page that says where each ruling is explained, enforced and shown.

    Raises DocsError for a ruling that a rule or a case carries and no page explains.
    """
    pages: dict[str, list[str]] = {}
    carriers: dict[str, list[str]] = {}
    shown: dict[str, list[str]] = {}
    for folder in folders:
        for name in rulings_in(folder.page or ""):
            pages.setdefault(name, []).append(f"[{escape(folder.title)}]({folder.path}#{name.lower()})")
        for rule in folder.rules:
            for name in rulings_in(rule.ruling):
                link = f"[`{rule.identifier}`]({folder.path}#{anchor(rule.identifier)})"
                carriers.setdefault(name, []).append(link)
        for case in folder.cases:
            for name in case.rulings:
                link = f"[{escape(f'{folder.title}: {case.name}')}]({folder.cases_path}#{case_anchor(case)})"
                shown.setdefault(name, []).append(link)
    orphans = sorted({*carriers, *shown} - set(pages))
    if orphans:
        raise DocsError(f"no page explains {', '.join(orphans)}, which rules or cases carry")
    rows = [
        (
            f'<span class="ruling" id="{name.lower()}">{name}</span>',
            ", ".join(pages[name]),
            ", ".join(carriers.get(name, ())),
            "<br>".join(shown.get(name, ())),
        )
        for name in sorted(pages, key=_ruling_order)
    ]
    return (
        f"{_WIDE}# Rulings\n\n"
        "Where the source documents leave a question open, contradict themselves or are wrong, a ruling "
        "decides. Its text stands on the pages named here; rules enforce it and cases show it.\n\n"
        f"{table(('ruling', 'explained on', 'rules', 'cases'), rows)}\n"
    )


def _ruling_order(name: str) -> tuple[bool, str, int]:
    """Rulings on all operators first, then by name; one on a single question has no number."""
    letter, subject, *number = name.split("-")
    return subject != "ALL", f"{letter}-{subject}", int(number[0]) if number else 0


def changelog_page(text: str) -> str:
    """Copy the change log; a link to a file that is not on the site stays as its words."""
    return _RELATIVE_LINK.sub(r"\1", text)


def rule_links(folders: Iterable[Folder], root: str) -> Mapping[str, str]:
    """Address every rule, and every other label of a rule, from a page that lies under `root`."""
    links: dict[str, str] = {}
    for folder in folders:
        for rule in folder.rules:
            address = f"{root}{folder.path}#{anchor(rule.identifier)}"
            links.update({label: address for label in rule.also if label not in links})
            links[rule.identifier] = address
    return links
