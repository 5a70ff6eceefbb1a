"""Proofs, kept between runs: the same theory under the same tools is proved once.

Only what came out well is kept, and nothing is believed that another user could have written.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any

from sonnx.prove.result import Attempt, Goal
from sonnx.storage import UnfitError, bound, kept_folder, opened_ours, sealed, write_whole

# The form of kept files and the way proofs are sought; a change makes every kept file a stranger.
FORMAT = 2
_MOST_FILES = 2048
_SUFFIX = ".json"


def key_of(identity: object, texts: Mapping[str, str]) -> str:
    """The name under which proofs on some texts are kept; `identity` is all else that they hang on."""
    return sha256(
        repr((FORMAT, identity, sorted(texts.items()))).encode("utf-8", "surrogatepass")
    ).hexdigest()


def kept(key: str) -> tuple[Goal, ...] | None:
    """The goals that were kept, marked as such, or None."""
    try:
        folder = kept_folder("proofs", "proofs")
        with opened_ours(folder, key + _SUFFIX) as (_, content):
            document = json.loads(content)
        if document["key"] != key:
            return None
        goals = tuple(_goal(values) for values in document["goals"])
    except (UnfitError, OSError, KeyError, TypeError, ValueError):
        return None
    return goals if goals and all(goal.good for goal in goals) else None


def keep(key: str, goals: Sequence[Goal]) -> None:
    """Keep goals that all came out well, where there is a place for them; others are not kept."""
    if not goals or not all(goal.good for goal in goals):
        return
    document = {"key": key, "goals": [asdict(goal) for goal in goals]}
    with suppress(UnfitError, OSError):  # without a safe place they are proved again
        folder = kept_folder("proofs", "proofs")
        write_whole(folder / (key + _SUFFIX), sealed(json.dumps(document).encode()))
        bound(folder, _SUFFIX, _MOST_FILES)


def _goal(values: dict[str, Any]) -> Goal:
    attempts = tuple(Attempt(**attempt) for attempt in values.pop("attempts"))
    return replace(Goal(**values), attempts=attempts, cached=True)
