"""The page of sources: documents, their clauses, what carries each of them and what deviates."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from docs.folders import Folder
from docs.markup import DocsError, escape, prose, rulings_in, table
from docs.overview import rule_links
from docs.render import ruling_links
from sonnx.sources import Clause, Sources
from sonnx.vocabulary.rule import AnyRule, Rule


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
        rows = [_clause(clause, links, _stated(folders)) for clause in one.clauses]
        heads = ("clause", "says", "rules", "rulings", "what deviates, and why")
        parts.append(f"### {escape(one.title)} {{ #{one.key} }}\n\n{table(heads, rows)}")
    return "\n\n".join(parts)


def _stated(folders: Sequence[Folder]) -> set[str]:
    """The rulings that some page states; those on operators that are not there yet have no page."""
    return {name for folder in folders for name in rulings_in(folder.page or "")}


def _rulings(names: Iterable[str], stated: set[str]) -> str:
    return ", ".join(ruling_links([name], "") if name in stated else escape(name) for name in names)


def _clause(clause: Clause, links: Mapping[str, str], stated: set[str]) -> tuple[str, ...]:
    return (
        escape(clause.label),
        prose(clause.says),
        _rules(clause.rules, links),
        _rulings(clause.rulings, stated),
        prose(clause.deviates),
    )


def own_table(sources: Sources, folders: Sequence[Folder]) -> str:
    """List what no document says, with the reason for it."""
    links, stated = rule_links(folders, ""), _stated(folders)
    rows = [
        (escape(own.subject), prose(own.why), _rules(own.rules, links), _rulings(own.rulings, stated))
        for own in sources.own
    ]
    return table(("subject", "why", "rules", "rulings"), rows)


def _rules(names: Iterable[str], links: Mapping[str, str]) -> str:
    return "<br>".join(f"[`{name}`]({links[name]})" for name in names)


def _ruled_on_page(folder: Folder) -> set[str]:
    """The rulings on an operator that its own page states."""
    start = folder.contract.ruling if folder.contract is not None else ""
    named = rulings_in(folder.page or "")
    return {name for name in named if start and (name == start or name.startswith(f"{start}-"))}


def _identifiers(folder: Folder) -> set[str]:
    return {rule.identifier for rule in folder.rules}


def _follows(rule: AnyRule, sources: Sources, owned: AbstractSet[str]) -> bool:
    """Tell whether a rule of an operator that no clause names has its place where its ruling has one."""
    named = set(rulings_in(rule.ruling))
    if isinstance(rule, Rule) and rule.made_from:
        return named <= sources.rulings | owned
    return bool(named) and named <= sources.ahead | owned


def misplaced(sources: Sources, folders: Sequence[Folder]) -> list[str]:
    """What the sources do not place, and what they place that is not there."""
    rules = {name for folder in folders for name in _identifiers(folder)}
    rulings = {name for folder in folders for name in rulings_in(folder.page or "")}
    rulings |= {name for folder in folders for rule in folder.rules for name in rulings_in(rule.ruling)}
    rulings |= {name for folder in folders for case in folder.cases for name in case.rulings}
    fresh = [folder for folder in folders if sources.rules.isdisjoint(_identifiers(folder))]
    owned = {name for folder in fresh for name in _ruled_on_page(folder)}
    following = {
        rule.identifier for folder in fresh for rule in folder.rules if _follows(rule, sources, owned)
    }
    lost = rules - sources.rules - following
    complaints = {
        "no source is named for": lost | (rulings - sources.rulings - owned),
        "a source is named, and there is no": (sources.rules - rules)
        | (sources.rulings - rulings - sources.ahead),
    }
    return [f"{what} {', '.join(sorted(names))}" for what, names in complaints.items() if names]
