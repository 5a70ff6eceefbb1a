"""The error that ends a run outside an operator's domain, in words (D-ALL-11)."""

from sonnx.model.location import Location
from sonnx.report.text import finding_text
from sonnx.vocabulary.outside import Outside
from sonnx.vocabulary.rule import DomainError, Finding, rule_page


def statement(text: str) -> str:
    """What the rule on a domain says."""
    return f"At every element, {text}."


def domain_error(outside: Outside, location: Location | None) -> DomainError:
    """The error for people: rule, node, index and values, what to do; `location` is None for a plain call."""
    found = Finding(
        outside.identifier,
        statement(outside.domain.text),
        outside.operator,
        outside.values,
        f"the run stopped there and gives no output ({outside.domain.ruling}); give it other values, or put "
        "others in their place before this node, as Where does",
        rule_page(outside.identifier),
        location,
    )
    return DomainError((found,), finding_text(found))
