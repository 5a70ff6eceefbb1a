"""The page of sources: documents, their clauses, what carries each of them and what deviates."""

from collections.abc import Iterable, Mapping, Sequence

from docs.folders import Folder
from docs.markup import DocsError, escape, prose, rulings_in, table
from docs.overview import rule_links
from docs.render import ruling_links
from sonnx.sources import Clause, Sources


def documents_table(sources: Sources) -> str:
    """List the documents: title, kind, date, digest."""
    rows = [
        (
            f"[{escape(one.title)}](#{one.key})",
            escape(one.kind),
            escape(f"{one.date}; {one.states}"),
            f"{one.bytes:,}",
            f"<code>{one.sha256[:32]}<br>{one.sha256[32:]}</code>",
        )
        for one in sources.documents
    ]
    return table(("document", "what it is", "date", "bytes", "SHA-256"), rows)


def clauses_tables(sources: Sources, folders: Sequence[Folder]) -> str:
    """Show every document clause by clause.

    Raises DocsError for a rule or ruling that has no place, and for a place of one that is not there.
    """
    complaints = misplaced(sources, folders)
    if complaints:
        raise DocsError("; ".join(complaints))
    links = rule_links(folders, "")
    parts = []
    for one in sources.documents:
        rows = [_clause(clause, links) for clause in one.clauses]
        heads = ("clause", "says", "rules", "rulings", "what deviates, and why")
        parts.append(f"### {escape(one.title)} {{ #{one.key} }}\n\n{table(heads, rows)}")
    return "\n\n".join(parts)


def _clause(clause: Clause, links: Mapping[str, str]) -> tuple[str, ...]:
    return (
        escape(clause.label),
        prose(clause.says),
        _rules(clause.rules, links),
        ruling_links(clause.rulings, ""),
        prose(clause.deviates),
    )


def own_table(sources: Sources, folders: Sequence[Folder]) -> str:
    """List what no document says, with the reason for it."""
    links = rule_links(folders, "")
    rows = [
        (escape(own.subject), prose(own.why), _rules(own.rules, links), ruling_links(own.rulings, ""))
        for own in sources.own
    ]
    return table(("subject", "why", "rules", "rulings"), rows)


def _rules(names: Iterable[str], links: Mapping[str, str]) -> str:
    return "<br>".join(f"[`{name}`]({links[name]})" for name in names)


def misplaced(sources: Sources, folders: Sequence[Folder]) -> list[str]:
    """What the sources do not place, and what they place that is not there."""
    rules = {rule.identifier for folder in folders for rule in folder.rules}
    rulings = {name for folder in folders for name in rulings_in(folder.page or "")}
    rulings |= {name for folder in folders for rule in folder.rules for name in rulings_in(rule.ruling)}
    rulings |= {name for folder in folders for case in folder.cases for name in case.rulings}
    complaints = {
        "no source is named for": (rules - sources.rules) | (rulings - sources.rulings),
        "a source is named, and there is no": (sources.rules - rules) | (sources.rulings - rulings),
    }
    return [f"{what} {', '.join(sorted(names))}" for what, names in complaints.items() if names]
