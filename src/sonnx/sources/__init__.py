"""Where the specification comes from: the source documents, their clauses, and what carries them here."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

# The page of the documentation that shows all of this.
PAGE = "sources.html"


@dataclass(frozen=True)
class Clause:
    """One demand of a document under its own label, and what carries it.

    `deviates` says what is different here, and why; it is empty where nothing is.
    """

    label: str
    says: str
    rules: tuple[str, ...] = ()
    rulings: tuple[str, ...] = ()
    deviates: str = ""


@dataclass(frozen=True)
class Document:
    """A source document as its text was taken: `sha256` is the digest of its bytes.

    `date` is the one that the text bears, and `states` what else in it tells its age.
    """

    key: str
    title: str
    kind: str
    date: str
    states: str
    bytes: int
    sha256: str
    clauses: tuple[Clause, ...]
    # A document that rules on more operators than are there: whoever adds one finds its ruling in place.
    ahead: bool = False


@dataclass(frozen=True)
class Own:
    """Rules and rulings that no document has, and why they are there."""

    subject: str
    why: str
    rules: tuple[str, ...]
    rulings: tuple[str, ...]


@dataclass(frozen=True)
class Sources:
    """All documents, and what is our own."""

    documents: tuple[Document, ...]
    own: tuple[Own, ...]

    @property
    def rules(self) -> frozenset[str]:
        """Every rule that has a place."""
        return frozenset(name for part in self._parts() for name in part.rules)

    @property
    def rulings(self) -> frozenset[str]:
        """Every ruling that has a place."""
        return frozenset(name for part in self._parts() for name in part.rulings)

    @property
    def ahead(self) -> frozenset[str]:
        """The rulings on operators that need not be there yet."""
        documents = (document for document in self.documents if document.ahead)
        return frozenset(name for one in documents for clause in one.clauses for name in clause.rulings)

    def _parts(self) -> tuple[Clause | Own, ...]:
        return (*(clause for document in self.documents for clause in document.clauses), *self.own)


@cache
def sources() -> Sources:
    """Read the data of the package."""
    return read_sources(files("sonnx.sources").joinpath("sources.toml").read_text(encoding="utf-8"))


def read_sources(text: str) -> Sources:
    """Read data in TOML; raises TypeError or KeyError where something is missing or has another name."""
    read = tomllib.loads(text)
    return Sources(tuple(map(_document, read["document"])), tuple(Own(**_frozen(own)) for own in read["own"]))


def _document(table: Mapping[str, Any]) -> Document:
    clauses = tuple(Clause(**_frozen(clause)) for clause in table["clause"])
    return Document(**{key: value for key, value in table.items() if key != "clause"}, clauses=clauses)


def _frozen(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def reference() -> dict[str, Any]:
    """What reports say of the sources: the page that tells more, and each document by title and digest."""
    return {
        "page": PAGE,
        "documents": [{"title": one.title, "sha256": one.sha256} for one in sources().documents],
    }
