"""Many findings or changes on one page: one line per rule."""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from sonnx.api import Graph
from sonnx.model.location import Location
from sonnx.normalize.changes import Change
from sonnx.normalize.passes import stopping
from sonnx.normalize.sizes import open_sizes, repeated_sizes
from sonnx.operators import GRAPH_RULES
from sonnx.operators.graph.structure import no_axes, shown_name
from sonnx.operators.rules.wording import count
from sonnx.report.grouped import OPERATOR_RULES
from sonnx.report.text import location_text, printable
from sonnx.vocabulary.operator import OLDEST_OPSET
from sonnx.vocabulary.rule import Finding

# Beyond these it is not told what normalizing would leave: that takes longer than the check itself.
_MOST_FINDINGS = 5000
_MOST_NODES = 3000
_WIDTH = 110
_MOST_SIZES = 8
_TYPES_AGREE, _VERSIONS, _OPEN = "graph.D11", "graph.D9", "general.R2"
# What exporters call the number of images; any other name says nothing of a number.
_BATCH = re.compile(r"n|b|bs|.*batch.*", re.IGNORECASE | re.DOTALL)


def findings_summary(findings: Sequence[Finding], after: Sequence[Finding] | None) -> str:
    """List how often each rule is broken, where first, and how often still after normalizing."""
    left = None if after is None else Counter(finding.rule for finding in after)
    number = Counter(finding.rule for finding in findings)
    first = {finding.rule: _place(finding.location) for finding in reversed(findings)}
    new = [rule for rule in left or () if rule not in number]
    head = ["rule", "findings", *(["left by normalize"] if left is not None else []), "first place"]
    rows = [
        [
            rule,
            str(number[rule]),
            *([str(left.get(rule, 0))] if left is not None else []),
            first.get(rule, ""),
        ]
        for rule in (*number, *new)
    ]
    return _table(head, rows)


def changes_summary(changes: Sequence[Change]) -> str:
    """List how many changes each rule asked for, and the first of them."""
    number = Counter(change.rule for change in changes)
    first = {change.rule: f"{_place(change.location)}: {change.what}" for change in reversed(changes)}
    return _table(
        ["rule", "changes", "first change"], [[rule, str(number[rule]), first[rule]] for rule in number]
    )


def trial_sizes(graph: Graph) -> dict[str, int]:
    """One for what is called a batch, where nothing else is open; nothing where a guess would mean more."""
    firsts = [value.type.shape[0] for value in graph.inputs if value.type.shape]
    batches = {size: 1 for size in firsts if isinstance(size, str) and _BATCH.fullmatch(size)}
    alone = batches.keys() == set(open_sizes(graph)) and not repeated_sizes(graph)
    return batches if alone else {}


def left_by_normalize(graph: Graph, findings: Sequence[Finding]) -> Sequence[Finding] | None:
    """What is still broken after normalizing; None where that takes long to find out."""
    nodes = len(graph.nodes) + sum(len(function.nodes) for function in graph.functions)
    if len(findings) > _MOST_FINDINGS or nodes > _MOST_NODES:
        return None
    return graph.normalize(trial_sizes(graph)).check()


def stopping_rules(graph: Graph, left: Container[str]) -> list[str]:
    """Name the rules for whose sake normalizing leaves a model alone; `left` is broken even after it."""
    rules = stopping(graph, graph.broken_graph_rules)
    # Types that contradict one another only inside of functions are no obstacle: then nothing is left.
    return [
        rule.identifier
        for rule in GRAPH_RULES
        if rule.identifier in rules or (rule.identifier == _TYPES_AGREE and _TYPES_AGREE in left)
    ]


def advice(
    path: Path, graph: Graph, findings: Sequence[Finding], after: Sequence[Finding] | None
) -> list[str]:
    """Say what `sonnx normalize` can do for a model with findings; the last line has the next command."""
    first = stopping_rules(graph, {finding.rule for finding in after or ()})
    if first:
        return [
            f"help: `sonnx normalize` changes nothing because of {', '.join(first)}: mend that first",
            *first_step(path, graph, first[0]),
        ]
    dims = trial_sizes(graph)
    options = _options(dims or dict.fromkeys(open_sizes(graph), "SIZE"))
    whole = len(options) == len(dims or open_sizes(graph))
    normalize = ["sonnx normalize", argument(path)]
    output = f"-o {argument(beside(path, 'conforming'))}"
    if after is None:
        outcome = "mends what it can; it writes the model where nothing is left, and else tells what is"
        line = f"help: `{' '.join([*normalize, *_options(dims), output])}` {outcome}"
        return [*([] if dims else open_sizes_advice(graph)), printable(line)]
    command = " ".join([*normalize, *options, output])
    if not after and whole:
        guess = "; the size 1 is a guess" if dims else ""
        return [printable(f"help: `{command}` mends all of this{guess}")]
    if whole and _only_sizes_left(graph, after):
        single = _one_by_one(graph)
        return [printable(f"help: `{command}` fixes what is open, with a number for each SIZE{single}")]
    if not after or _only_sizes_left(graph, after):
        return open_sizes_advice(graph)
    sizes = [] if dims else open_sizes_advice(graph)
    if len(after) >= len(findings):
        outside = any(finding.rule in OPERATOR_RULES for finding in after)
        return [*sizes, *([explanation("mends none of this", after)] if outside or not sizes else [])]
    return [*sizes, explanation(f"leaves {count(len(after), 'finding')}, so that it writes nothing", after)]


def _only_sizes_left(graph: Graph, after: Sequence[Finding]) -> bool:
    """Tell whether numbers for the open sizes of inputs are all that normalizing lacks."""
    ranked = all(value.type.shape is not None and value.type.dtype is not None for value in graph.inputs)
    kinds = {finding.location.kind if finding.location else "" for finding in after if not finding.follows}
    rules = {finding.follows or finding.rule for finding in after}
    return bool(open_sizes(graph)) and ranked and rules == {_OPEN} and kinds == {"input"}


def beside(path: Path, what: str) -> Path:
    """A file for what is made of a model: next to it and called like it, so that no two are one."""
    return path.with_name(f"{path.name.removesuffix('.onnx')}-{what}.onnx")


def first_step(path: Path, graph: Graph, rule: str) -> list[str]:
    """The command that does something about a rule for whose sake nothing is changed."""
    old = [version for domain, version in graph.opsets if domain == ""]
    if rule != _VERSIONS or len(old) != 1 or old[0] >= OLDEST_OPSET or not _is_known(graph):
        return [f"help: `sonnx explain {rule}` says why"]
    # JSON writes text as Python reads it, in quotes that a shell leaves alone.
    program = (
        "import onnx, onnx.version_converter as c; "
        f"onnx.save(c.convert_version(onnx.load({json.dumps(str(path))}), {OLDEST_OPSET}), "
        f"{json.dumps(str(beside(path, f'opset{OLDEST_OPSET}')))})"
    )
    return [printable(f"help: `python -c {quote(program)}` writes it with operator set {OLDEST_OPSET}")]


def _is_known(graph: Graph) -> bool:
    """Whether ONNX has every operator of the model: its converter ends at one that it does not have."""
    return all(node.domain or node.version is not None for node in graph.nodes)


def explanation(outcome: str, findings: Sequence[Finding]) -> str:
    """Where to read on about the rule that is broken most often."""
    own = [finding.rule for finding in findings if not finding.follows]
    ((rule, _),) = Counter(own or [finding.follows for finding in findings]).most_common(1)
    return f"help: `sonnx normalize` {outcome}; `sonnx explain {rule}` says why it is asked for"


def argument(path: Path) -> str:
    """A file's name as a shell, and then the command, takes it for one."""
    return quote(f"./{path}" if str(path).startswith("-") else str(path))


def _options(dims: Mapping[str, int | str]) -> list[str]:
    """The sizes as options; people paste them into a shell, and the names are those of a stranger's model."""
    return [f"--dim {quote(f'{name}={size}')}" for name, size in dims.items() if len(name) <= _WIDTH][
        :_MOST_SIZES
    ]


def open_sizes_advice(graph: Graph, first: str = "") -> list[str]:
    """Say how open sizes are fixed, if there are any; `first` is an option that it takes as well."""
    sizes = open_sizes(graph)
    options = _options(dict.fromkeys(sizes, "SIZE"))
    more = "" if len(options) == len(sizes) else f" and {len(sizes) - len(options)} more"
    text = f"help: open sizes of the inputs can be fixed with {first}{' '.join(options)}{more}"
    unranked = [shown_name(value.name) for value in graph.inputs if value.type.shape is None]
    return [
        *([printable(text + _one_by_one(graph))] if sizes else []),
        *(printable(f"help: {no_axes(name)}") for name in unranked[:1]),
    ]


def _one_by_one(graph: Graph) -> str:
    """How axes are told apart to which the model gives one name."""
    single = _options(dict.fromkeys(repeated_sizes(graph)[:2], "SIZE"))
    return f", and axes of one name one by one: {' '.join(single)}" if single else ""


def _place(location: Location | None) -> str:
    """A place without its file, which is the same for all."""
    return "" if location is None else location_text(replace(location, file=""))


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Columns side by side: names, numbers, and a last one that takes the room that is left."""
    lines = [head, *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head) - 1)]
    room = max(_WIDTH - sum(widths) - 2 * len(widths), 40)
    return "\n".join(_row(line, widths, room) for line in lines)


def _row(cells: list[str], widths: list[int], room: int) -> str:
    name, *numbers, last = cells
    shown = last if len(last) <= room else f"{last[: room - 3]}..."
    right = [f"{number:>{width}}" for number, width in zip(numbers, widths[1:], strict=True)]
    return "  ".join([f"{name:<{widths[0]}}", *right, shown]).rstrip()
