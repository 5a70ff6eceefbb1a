"""The file proofs.lock: what was proved of which texts, by which tools, since when; and who is proved again.

An entry stands for a module of a theory, a function in C, or a whole program. It says only what came out
well, so that nothing else can be read from it or written to it.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from hashlib import sha256
from typing import Any

from sonnx.prove.result import Goal

FORMAT = 1
# One of so many entries that stand is proved again in every run.
SHARE = 20
_DIGEST = re.compile(r"[0-9a-f]{64}")
# A commit, with a plus where files differed from it; nothing where there was no repository.
_COMMIT = re.compile(r"(?:[0-9a-f]{12}\+?)?")
_WORD = re.compile(r"[\w .()/:+-]{1,100}")


class LockError(ValueError):
    """The lock is not one that this program has written; the text says where."""


@dataclass(frozen=True)
class Unit:
    """What can have an entry: its name, the digest of its texts, and that of the tools.

    It has at least so many goals, and searches for contradictions. Units that are `together` are drawn so.
    """

    name: str
    text: str
    tools: str
    goals: int = 1
    searches: int = 0
    together: str = ""

    @property
    def drawn_as(self) -> str:
        """The name under which it is drawn."""
        return self.together or self.name


@dataclass(frozen=True)
class Entry:
    """What was proved: all goals, and no contradiction in so many searches.

    `text` is the digest of all texts and limits that it hangs on, `tools` that of the tools; `seconds` is the
    provers' time. `commit` and `date` say when it was proved.
    """

    text: str
    tools: str
    verdict: str
    goals: int
    searches: int
    provers: tuple[str, ...]
    seconds: float
    commit: str
    date: str


@dataclass(frozen=True)
class Lock:
    """Entries by the name of their unit; `tools` has names and versions by the digest that entries give."""

    tools: Mapping[str, tuple[str, ...]]
    entries: Mapping[str, Entry]


EMPTY = Lock({}, {})


@dataclass(frozen=True)
class Choice:
    """What is to be proved now: the `missing`, the `changed`, those by `other_tools`, and the `drawn`.

    The `standing` are not proved now; the `gone` have an entry, but do not exist.
    """

    missing: tuple[str, ...]
    changed: tuple[str, ...]
    other_tools: tuple[str, ...]
    drawn: tuple[str, ...]
    standing: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def now(self) -> frozenset[str]:
        """All that is to be proved now."""
        return frozenset({*self.missing, *self.changed, *self.other_tools, *self.drawn})

    @property
    def outdated(self) -> bool:
        """Whether the lock should be written anew."""
        return bool(self.missing or self.changed or self.other_tools or self.gone)


def read_lock(text: str) -> Lock:
    """The lock that a text holds; raises LockError, naming the entry that is not as it must be."""
    try:
        document = json.loads(text, object_pairs_hook=_once)
        if repr(document["format"]) != repr(FORMAT) or set(document) != {"format", "tools", "entries"}:
            raise LockError(f"it is not of the format {FORMAT}")
        tools = {digest: tuple(names) for digest, names in document["tools"].items()}
        entries = {name: _entry(name, values) for name, values in document["entries"].items()}
    except LockError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LockError(f"it cannot be read: {type(error).__name__}") from None
    for digest, names in tools.items():
        if not _DIGEST.fullmatch(digest) or not names or not all(map(_is_word, names)):
            raise LockError("its list of tools is not one that `make prove` writes")
    for name, entry in entries.items():
        if entry.tools not in tools:
            raise LockError(f"{name}: its tools are not listed")
    return Lock(tools, entries)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise LockError("it says something twice")
    return found


def _entry(name: str, values: Mapping[str, Any]) -> Entry:
    if set(values) != {field.name for field in fields(Entry)}:
        raise LockError(f"{name}: it does not say what an entry says")
    if not isinstance(values["provers"], list):
        raise LockError(f"{name}: it does not say who proved it")
    entry = Entry(**{**values, "provers": tuple(values["provers"])})
    problem = _unfit(entry)
    if problem:
        raise LockError(f"{name}: {problem}")
    return entry


def _unfit(entry: Entry) -> str:
    """Why nobody can have written such an entry who has proved something; nothing where one can."""
    counts = (entry.goals, entry.searches)
    if entry.verdict != "proved":
        return f"the verdict is {entry.verdict!r}, but only what is proved has an entry"
    if not all(type(count) is int for count in counts) or min(counts) < 0 or max(counts) < 1:
        return "its numbers of goals and searches are none"
    if type(entry.seconds) not in {int, float} or not 0 <= entry.seconds < 1e6:
        return "its seconds are none"
    if not all(_DIGEST.fullmatch(str(digest)) for digest in (entry.text, entry.tools)):
        return "its digests are none"
    if bool(entry.provers) != (entry.goals > 0) or not all(map(_is_word, entry.provers)):
        return "it does not say who proved it"
    try:
        written = date.fromisoformat(entry.date).isoformat()
    except (TypeError, ValueError):
        written = ""
    if (
        not written or written != entry.date
    ):  # there are other ways to write a day, and one that this project uses
        return "its date is none"
    return "" if _COMMIT.fullmatch(entry.commit) else "its commit is none"


def _is_word(text: object) -> bool:
    return isinstance(text, str) and _WORD.fullmatch(text) is not None


def lock_text(lock: Lock) -> str:
    """A lock as a text, one line for each entry, so that two people can change two of them."""
    for name, entry in lock.entries.items():
        problem = _unfit(entry)
        if problem:
            raise LockError(f"{name}: {problem}")
    used = {entry.tools for entry in lock.entries.values()}
    tools = {digest: names for digest, names in lock.tools.items() if digest in used}
    parts = [f'"format": {FORMAT}', _block("tools", tools)]
    parts.append(_block("entries", {name: asdict(entry) for name, entry in lock.entries.items()}))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _block(name: str, values: Mapping[str, object]) -> str:
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(values[key])}" for key in sorted(values))
    return f'"{name}": {{\n{lines}\n}}'


def choose(units: Sequence[Unit], lock: Lock, tree: str, *, everything: bool = False) -> Choice:
    """Who is proved now, and who stands by the lock."""
    by_name = {unit.name: unit for unit in units}
    there = [unit for unit in units if unit.name in lock.entries]
    missing = [unit.name for unit in units if unit.name not in lock.entries]
    changed = [unit.name for unit in there if lock.entries[unit.name].text != unit.text]
    others = [
        unit.name
        for unit in there
        if lock.entries[unit.name].text == unit.text and lock.entries[unit.name].tools != unit.tools
    ]
    rest = [unit for unit in there if unit.name not in {*changed, *others}]
    named = {unit.drawn_as for unit in rest}
    drawn = frozenset(named) if everything else draw(named, tree)
    return Choice(
        tuple(missing),
        tuple(changed),
        tuple(others),
        tuple(unit.name for unit in rest if unit.drawn_as in drawn),
        tuple(unit.name for unit in rest if unit.drawn_as not in drawn),
        tuple(sorted(lock.entries.keys() - by_name.keys())),
    )


def draw(names: Collection[str], tree: str) -> frozenset[str]:
    """A twentieth of some names, rounded up: those whose digest together with the tree's comes first."""
    ranked = sorted(names, key=lambda name: sha256(f"{tree} {name}".encode()).digest())
    return frozenset(ranked[: -(-len(ranked) // SHARE)])


def entry_of(unit: Unit, goals: Iterable[Goal], commit: str, day: str) -> Entry | None:
    """The entry for what was proved now; None where not all came out well, or there was too little."""
    found = list(goals)
    proofs = [goal for goal in found if goal.kind == "proof"]
    searches = len(found) - len(proofs)
    if not found or not all(goal.good and not goal.cached for goal in found):
        return None
    if len(proofs) < unit.goals or searches < unit.searches:
        return None
    provers = tuple(sorted({goal.prover for goal in proofs if goal.prover}))
    seconds = round(sum(goal.seconds for goal in found), 1)
    return Entry(unit.text, unit.tools, "proved", len(proofs), searches, provers, seconds, commit, day)


def contradicted(unit: Unit, entry: Entry, found: Entry | None) -> str:
    """How an entry differs from what was proved now of the same texts, by the same tools; or nothing."""
    if found is None:
        return f"{unit.name}: the lock says that it is proved; it is not"
    for what, said, now in (
        ("goals", entry.goals, found.goals),
        ("searches for contradictions", entry.searches, found.searches),
    ):
        if said != now:
            return f"{unit.name}: the lock speaks of {said} {what}; there are {now}"
    return ""


def impossible(units: Sequence[Unit], lock: Lock) -> list[str]:
    """What the lock says of the texts that are here and cannot be, whoever is proved now."""
    return [
        f"{unit.name}: the lock speaks of {entry.goals} goals and {entry.searches} searches for "
        f"contradictions; there must be at least {unit.goals} and {unit.searches}"
        for unit in units
        if (entry := lock.entries.get(unit.name))
        and entry.text == unit.text
        and (entry.goals < unit.goals or entry.searches < unit.searches)
    ]


def refreshed(lock: Lock, units: Sequence[Unit], found: Mapping[str, Entry], tools: Lock) -> Lock:
    """The lock with what was proved now in place of what did not fit, and without what is not there.

    An entry that holds stays as it is, with its date.
    """
    by_name = {unit.name: unit for unit in units}
    stays = {
        name: entry
        for name, entry in lock.entries.items()
        if (unit := by_name.get(name)) and (entry.text, entry.tools) == (unit.text, unit.tools)
    }
    return Lock({**lock.tools, **tools.tools}, {**found, **stays})
