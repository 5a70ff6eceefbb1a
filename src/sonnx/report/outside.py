"""The error that ends a run at an element, in words: outside a domain, or undecided (D-ALL-11, D-ALL-8)."""

from sonnx.model.location import Location
from sonnx.report.text import finding_text
from sonnx.vocabulary.outside import Outside, Undecided
from sonnx.vocabulary.rule import DomainError, Finding, rule_page


def domain_error(outside: Outside | Undecided, location: Location | None) -> DomainError:
    """The error for people: rule, node, index and values, what to do; `location` is None for a plain call."""
    if isinstance(outside, Undecided):
        return _undecided(outside, location)
    found = Finding(
        outside.identifier,
        outside.domain.statement,
        outside.operator,
        outside.values,
        f"the run stopped there and gives no output ({outside.domain.ruling}); give it other values, or put "
        "others in their place before this node, as Where does",
        rule_page(outside.identifier),
        location,
    )
    return DomainError((found,), finding_text(found))


def _undecided(outside: Undecided, location: Location | None) -> DomainError:
    found = Finding(
        "D-ALL-8",
        f"Real numbers are enclosed as narrowly as a decision needs, by at most {outside.most_bits} bits.",
        outside.operator,
        outside.values,
        f"{outside.text}, so the run stopped there and gives no output; most likely {outside.likely}: "
        'give it fractions there, or run it in the domain "ieee"',
        f"operators/{outside.operator.lower()}.md",
        location,
    )
    return DomainError((found,), finding_text(found))
