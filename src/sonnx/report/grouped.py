"""Many findings on a page or two: operators outside the profile, then each rule with its first places."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from sonnx.report.text import LONGEST_NAME, cut, finding_text, location_text, printable
from sonnx.vocabulary.rule import Finding

# The rules that refuse a node for its operator.
OPERATOR_RULES = ("graph.D6", "graph.D7", "graph.D8")
_MOST_OPERATORS = 30
_MOST_PLACES = 3
# Findings of this rule ask for different things: some for sizes of inputs, some for what can be inferred.
_BY_HELP = "general.R2"
_LONGEST_OPERATOR = 40
_NARROWEST, _SHORTEST = 24, 12

Key = tuple[str, str]


@dataclass(frozen=True)
class _Group:
    """Findings that are told together, what follows from them, and how many of both normalizing leaves."""

    findings: tuple[Finding, ...]
    following: tuple[Finding, ...]
    left: int | None
    # Whether normalizing leaves anything, so that it writes nothing.
    unwritten: bool


def grouped_text(
    findings: Sequence[Finding], after: Sequence[Finding] | None, *, nodes: int, width: int
) -> str:
    """Tell findings by what they have in common; `after` are those that normalizing leaves, if that is known.

    Every finding is counted once, at its rule or at the one that it follows from.
    """
    roots, following = _sorted_out(findings)
    parts = []
    refused = [finding for finding in roots if finding.rule in OPERATOR_RULES]
    if refused:
        left = None if after is None else [each for each in after if each.rule in OPERATOR_RULES]
        more = [each for rule in OPERATOR_RULES for each in following.get(rule, ())]
        parts.append("\n".join(_operators(refused, left, more, nodes, width)))
    for group in _groups([each for each in roots if each.rule not in OPERATOR_RULES], following, after):
        parts.append("\n".join(_rule(group, width)))
    return "\n\n".join(parts)


def _sorted_out(findings: Sequence[Finding]) -> tuple[list[Finding], dict[str, list[Finding]]]:
    """Findings of their own, and those that follow from another, by its rule."""
    own = {finding.rule for finding in findings if not finding.follows}
    following: dict[str, list[Finding]] = {}
    roots = []
    for finding in findings:
        # What it follows from may be cut off, where there are very many.
        if finding.follows in own:
            following.setdefault(finding.follows, []).append(finding)
        else:
            roots.append(finding)
    return roots, following


def _groups(
    roots: Sequence[Finding], following: Mapping[str, Sequence[Finding]], after: Sequence[Finding] | None
) -> Iterator[_Group]:
    def key(finding: Finding) -> Key:
        return finding.rule, finding.help if finding.rule == _BY_HELP else ""

    groups: dict[Key, list[Finding]] = {}
    for finding in roots:
        groups.setdefault(key(finding), []).append(finding)
    left = None if after is None else Counter(map(key, _sorted_out(after)[0]))
    told: set[str] = set()
    for which, members in groups.items():
        rule = which[0]
        more = () if rule in told else tuple(following.get(rule, ()))
        told.add(rule)
        yield _Group(tuple(members), more, None if left is None else left[which], bool(after))


def _rule(group: _Group, width: int) -> Iterator[str]:
    """The first finding in full, then the first places of the others and what follows."""
    head, *rest, more = finding_text(group.findings[0]).split("\n")
    yield head
    number = len(group.findings)
    if number > 1 or group.left is not None:
        yield f"  {_count(number, 'finding')}{_left(group)}"
    yield from rest
    for finding in group.findings[1:_MOST_PLACES]:
        yield f"  --> {_place(finding, width - 6)}"
    if number > _MOST_PLACES:
        yield f"  ... and {number - _MOST_PLACES} more"
    yield from _folded(group.following, width)
    yield more


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _left(group: _Group) -> str:
    if group.left is None:
        return ""
    if group.left == 0:
        return f", mended by `sonnx normalize`{' once nothing else is left' if group.unwritten else ''}"
    return f", {'' if group.left == len(group.findings) else f'{group.left} '}left by `sonnx normalize`"


def _folded(following: Sequence[Finding], width: int) -> Iterator[str]:
    """What follows from a group: how often which rule, and the first place."""
    for rule, number in Counter(finding.rule for finding in following).items():
        first = next(finding for finding in following if finding.rule == rule)
        start = f"  {number} more {'follows' if number == 1 else 'follow'} from this: {rule} at "
        end = ", ..." if number > 1 else ""
        yield start + _place(first, width - len(start) - len(end)) + end


def _place(finding: Finding, room: int) -> str:
    """A place without its file, which is the same for all, as far as there is room."""
    if finding.location is None:
        return f"call of {finding.operator}"
    text = printable(location_text(replace(finding.location, file="")))
    room = max(room, _SHORTEST)
    return text if len(text) <= room else f"{text[: room - 3]}..."


def _operator(finding: Finding) -> str:
    """What a node's operator is called, with its domain where that is not ONNX's."""
    return next((value.value for value in finding.values if value.name == "operator"), finding.operator)


def _operators(
    refused: Sequence[Finding],
    left: Sequence[Finding] | None,
    following: Sequence[Finding],
    nodes: int,
    width: int,
) -> Iterator[str]:
    """The table of operators outside the profile, the most frequent first."""
    number = Counter(map(_operator, refused))
    remain = Counter(map(_operator, left or ()))
    helps = {_operator(finding): finding.help for finding in reversed(refused)}
    rules = dict.fromkeys(finding.rule for finding in refused)
    # What is said of most operators is said once, below.
    usual, times = Counter(helps.values()).most_common(1)[0]
    usual = usual if times > 1 else ""
    shown = number.most_common(_MOST_OPERATORS)
    total = f"{len(refused)} of {_count(nodes, 'node')}"
    yield f"error[{', '.join(rules)}]: {total} {'is' if len(refused) == 1 else 'are'} outside the profile"
    head = ["operator", "nodes", *(["left by normalize"] if left is not None else []), "what to do"]
    rows = [
        [
            printable(cut(name, LONGEST_NAME)[:_LONGEST_OPERATOR]),
            str(times),
            *([str(remain[name])] if left is not None else []),
            "" if helps[name] == usual else printable(helps[name]),
        ]
        for name, times in shown
    ]
    yield from _columns([head, *rows], width)
    if len(number) > len(shown):
        others = sum(number.values()) - sum(times for _, times in shown)
        yield f"  ... and {_count(others, 'node')} of {_count(len(number) - len(shown), 'other operator')}"
    yield from _folded(following, width)
    if usual:
        whose = "" if times == len(helps) else " with the others"
        yield from wrap(printable(usual), width, initial_indent=f"  help{whose}: ", subsequent_indent=" " * 8)
    yield f"  more: {', '.join(f'sonnx explain {rule}' for rule in rules)}"


def _columns(lines: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Names, numbers, and a last column that goes on in the next line where there is no room."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]) - 1)]
    start = 2 + sum(widths) + 2 * len(widths)
    for name, *numbers, last in lines:
        right = [f"{number:>{room}}" for number, room in zip(numbers, widths[1:], strict=True)]
        first, *others = wrap(last, max(width - start, _NARROWEST)) or [""]
        yield "  ".join(["", f"{name:<{widths[0]}}", *right, first]).rstrip()
        yield from (" " * start + other for other in others)
