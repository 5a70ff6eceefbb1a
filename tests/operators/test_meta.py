"""The house itself: no operator without its facets, no rule without its fields, no ruling without a test.

Each check is a function that lists complaints, and each has been shown a broken stand-in to complain about.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from examples.kernels import calls
from tests.emit.support import example_of
from tests.loops import for_each
from tests.native.support import planned
from tests.native.test_native_conv import SHAPES

import sonnx.operators
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph
from sonnx.operators import GENERAL_RULES, GRAPH_RULES, NODE_OPERATORS, ONNX_OPERATORS, OPERATORS
from sonnx.operators import operator as named
from sonnx.operators.rulebook import rules
from sonnx.plan.sources import kernel_source
from sonnx.sources import sources
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.kernel import KernelCall, Variant
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.rule import RULING, AnyRule, Rule

pytestmark = pytest.mark.measured

PACKAGE = Path(sonnx.operators.__file__).parent
TESTS = Path(__file__).resolve().parents[1]
FACETS = ("__init__.py", "contract.py", "cases.toml", "page.md")
# Where it is said what an operator means: by terms, by nodes, or by hand.
MEANINGS = ("definition.py", "body.py", "meaning.py")
IDENTIFIER = re.compile(r"(?P<operator>(xla\.)?[a-z_]+)(\.(?P<operand>[A-Za-z_]+))?\.[A-Z][1-9][0-9]*")
RULINGS = [
    *(f"D-ALL-{n}" for n in range(1, 5)),
    *(f"D-CLIP-{n}" for n in range(1, 6)),
    *(f"D-CONV-{n}" for n in range(1, 10)),
    *(f"D-WHERE-{n}" for n in range(1, 3)),
    *(f"D-BCAST-{n}" for n in range(1, 4)),
    *(f"D-GRAPH-{n}" for n in range(1, 5)),
    *(f"D-XLA-{n}" for n in range(1, 7)),
]


def complaints_about_folder(folder: Path, listed: Iterable[str]) -> list[str]:
    """What an operator's folder lacks."""
    missing = [f"{folder.name} lacks {facet}" for facet in FACETS if not (folder / facet).is_file()]
    if not any((folder / meaning).is_file() for meaning in MEANINGS):
        missing.append(f"{folder.name} lacks a definition")
    missing += [f"{folder.name}/{path.name} is empty" for path in folder.glob("*") if not path.stat().st_size]
    # Folders of both domains may have one name.
    if folder.name not in {name.removeprefix("xla.") for name in listed}:
        missing.append(f"{folder.name} is not in OPERATORS")
    if (folder / "__init__.py").is_file() and "OPERATOR" not in names_assigned(folder / "__init__.py"):
        missing.append(f"{folder.name} has no OPERATOR")
    return missing


def names_assigned(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def complaints_about_rule(rule: Any, operator: str, operands: set[str]) -> list[str]:
    """What a rule of an operator lacks; `operator` is the name of its folder, `general` or `graph`."""
    found = [f"no {name}" for name in ("statement", "reason") if not str(getattr(rule, name)).endswith(".")]
    anchor = rule.identifier.replace(".", "-").lower()
    if rule.page != f"operators/{operator.replace('.', '-')}.md#{anchor}":
        found.append(f"page {rule.page}")
    if not isinstance(rule.restricts_onnx, bool) or not callable(rule.predicate):
        found.append("no flag or no predicate")
    for name in ("failing", "passing"):
        if not is_example(getattr(rule, name), operator):
            found.append(f"no {name} example")
    if any(not RULING.fullmatch(ruling) for ruling in rule.ruling.split(", ") if ruling):
        found.append(f"ruling {rule.ruling}")
    for identifier in (rule.identifier, *rule.also):
        found += complaints_about_identifier(identifier, operator, operands)
    return [f"{rule.identifier}: {complaint}" for complaint in found]


def is_example(example: object, operator: str) -> bool:
    """Rules on graphs have graphs as examples, other rules calls of their operator."""
    if operator == "graph":
        return isinstance(example, Graph) and bool(example.nodes)
    return isinstance(example, Call) and operator in ("general", named(example.operator).identifier)


def complaints_about_identifier(identifier: str, operator: str, operands: set[str]) -> list[str]:
    match = IDENTIFIER.fullmatch(identifier)
    if match is None:
        return [f"identifier {identifier} is not <operator>[.<operand>].<letter><number>"]
    found = [] if match["operator"] == operator else [f"identifier {identifier} of another operator"]
    if match["operand"] is not None and match["operand"] not in operands:
        found.append(f"identifier {identifier} names no operand or attribute")
    return found


def duplicates(identifiers: Iterable[str]) -> list[str]:
    seen = list(identifiers)
    return sorted({identifier for identifier in seen if seen.count(identifier) > 1})


def unnamed(wanted: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Which of the identifiers occur in none of the texts; `conv.X.C1` does not occur in `conv.X.C10`."""
    everything = "\n".join(texts)
    return [name for name in wanted if not re.search(rf"{re.escape(name)}(?![0-9])", everything)]


def other_tests() -> list[str]:
    """The text of every test file but this one."""
    paths = [path for path in TESTS.rglob("*.py") if path.resolve() != Path(__file__).resolve()]
    return [path.read_text(encoding="utf-8") for path in paths]


def operator_folders() -> list[Path]:
    homes = (PACKAGE / "onnx", PACKAGE / "xla")
    return [path for home in homes for path in home.iterdir() if (path / "__init__.py").is_file()]


@pytest.mark.parametrize("folder", operator_folders(), ids=lambda folder: folder.name)
def test_every_operator_folder_has_every_facet_and_is_listed(folder: Path) -> None:
    listed = [op.identifier for op in OPERATORS if op.package.split(".")[2] == folder.parent.name]
    assert complaints_about_folder(folder, listed) == []


def test_every_listed_operator_has_its_folder() -> None:
    listed = {tuple(op.package.split(".")[2:]) for op in OPERATORS}
    assert listed == {(folder.parent.name, folder.name) for folder in operator_folders()}


def test_only_kernels_by_hand_do_at_once_what_follows() -> None:
    assert all(op.kernels for op in OPERATORS if op.is_followed)
    assert "conv" in {op.identifier for op in OPERATORS if op.is_followed}


def test_every_operator_that_a_model_holds_says_what_it_means() -> None:
    for op in ONNX_OPERATORS:
        assert (op.definition is not None) + (op.body is not None) + (op.meaning is not None) == 1, op.name


def kernel_calls() -> list[KernelCall]:
    """Calls of every kernel: of those of Conv by shapes for each, of others by what contracts allow."""
    graphs = [case.model("float")[0] for _, case in SHAPES.values()]
    others = [op for op in NODE_OPERATORS.values() if next(calls(op, DType.FLOAT), None)]
    graphs += [example_of(op.name, "float") for op in others]
    programs = [planned(graph, width=32) for graph in graphs]
    return [step for each in programs for step in (*each.once, *each.steps) if isinstance(step, KernelCall)]


def complaints_about_kernels(package: Path, calls: Iterable[KernelCall]) -> list[str]:
    """What is wrong with the C sources of fast kernels, below a package or derived, as calls name them."""
    named = {call.source: call for call in calls}
    # Other C is templates for the plain C of nodes.
    there = {
        str(path.relative_to(package)): text
        for path in package.glob("**/*.c")
        if "KERNEL(" in (text := path.read_text(encoding="utf-8"))
    }
    there |= {source: kernel_source(call) for source, call in named.items() if call.text is not None}
    found = [f"{source} is not there" for source in named if source not in there]
    found += [f"{source} is never called" for source in sorted(there.keys() - named.keys())]
    for source in sorted(there.keys() & named.keys()):
        text = there[source]
        begins = call_begins(named[source], text)
        if "shared/kernel.h" not in first_includes(package, begins):
            found.append(f"{source} does not begin with shared/kernel.h")
        fields = [name for name, _ in named[source].parameters]
        declared = fields_of(spelled_out(package, text))
        if declared and declared[-1].endswith("[]"):  # a table may have any length
            declared, fields = declared[:-1], fields[: len(declared) - 1]
        if declared != fields:
            found.append(f"{source} has other parameters")
        if f"KERNEL({named[source].function})" not in text:
            found.append(f"{source} has no {named[source].function}")
    return found


def call_begins(call: KernelCall, text: str) -> str:
    """A source as it is written, headers not yet in their places."""
    return text if call.text is None else "\n".join([*call.shared, call.text])


INCLUDE = re.compile(r'^#include ["<](.*)[">]$', re.MULTILINE)


def first_includes(package: Path, text: str) -> list[str]:
    """The header that a source includes first, the one which that header includes first, and so on."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).strip().splitlines()
    match = INCLUDE.fullmatch(code[0]) if code else None
    if match is None or not (package / match[1]).is_file():
        return []
    return [match[1], *first_includes(package, (package / match[1]).read_text(encoding="utf-8"))]


def spelled_out(package: Path, text: str) -> str:
    """A source with the headers of the package in it."""

    def written(match: re.Match[str]) -> str:
        path = package / match[1]
        return spelled_out(package, path.read_text(encoding="utf-8")) if path.is_file() else match[0]

    return INCLUDE.sub(written, text)


def fields_of(text: str) -> list[str]:
    """The fields of `struct parameters`, all int64_t, in their order."""
    body = re.search(r"struct parameters \{(.*?)\};", text, re.DOTALL)
    declared = re.findall(r"int64_t ([^;]*);", body[1]) if body else []
    return [name.strip() for names in declared for name in names.split(",")]


def test_every_fast_kernel_is_in_order_and_called() -> None:
    calls = kernel_calls()
    assert complaints_about_kernels(PACKAGE, calls) == []
    texts = [
        (PACKAGE / call.source).read_text(encoding="utf-8") if call.text is None else call.text
        for call in calls
    ]
    written = {name for text in texts for name in re.findall(r"^void KERNEL\((\w+)\)", text, re.MULTILINE)}
    assert written == {call.function for call in calls}


def owners() -> list[tuple[AnyRule, str, set[str]]]:
    """Every rule with the folder it belongs to and the names its identifier may speak of."""
    found: list[tuple[AnyRule, str, set[str]]] = [(rule, "graph", set()) for rule in GRAPH_RULES]
    found += [(rule, "general", set()) for rule in GENERAL_RULES]
    for op in OPERATORS:
        contract = op.contract
        names = {operand.name for operand in (*contract.inputs, *contract.outputs)}
        names |= {attribute.name for attribute in contract.attributes}
        found += [(rule, op.identifier, names) for rule in contract.rules]
    return found


@for_each(("rule", "operator", "operands"), owners(), ids=[rule.identifier for rule, _, _ in owners()])
def test_every_rule_has_every_field(rule: AnyRule, operator: str, operands: set[str]) -> None:
    assert complaints_about_rule(rule, operator, operands) == []


def test_every_rule_is_judged() -> None:
    assert [rule for rule, _, _ in owners()] == list(rules())


def test_the_rules_on_graphs_are_numbered_without_a_gap() -> None:
    assert [rule.identifier for rule in GRAPH_RULES] == [f"graph.D{n}" for n in range(1, 21)]
    assert GRAPH_RULES[0].page == "operators/graph.md#graph-d1"


def test_no_identifier_is_used_twice() -> None:
    assert duplicates(rule.identifier for rule in rules()) == []


def test_every_rule_that_somebody_wrote_is_named_by_a_test() -> None:
    # What is made from a contract's data is tested where it is made, for all operators at once.
    written = (rule for rule in rules() if not (isinstance(rule, Rule) and rule.made_from))
    assert unnamed((rule.identifier for rule in written), other_tests()) == []


def test_every_ruling_is_named_by_a_test() -> None:
    assert unnamed(RULINGS, other_tests()) == []


def test_every_ruling_that_a_rule_names_exists() -> None:
    named = {ruling for rule in rules() for ruling in rule.ruling.split(", ") if ruling}
    own = {name for op in OPERATORS for name in rulings_on_page(op)}
    assert named <= sources().rulings | own


def rulings_on_page(op: Operator) -> set[str]:
    """The rulings on an operator that its own page states."""
    page = PACKAGE.joinpath(*op.package.split(".")[2:]) / "page.md"
    return {name for name in RULING.findall(page.read_text("utf-8")) if name.startswith(op.contract.ruling)}


# --- the checks can fail -----------------------------------------------------------------------------------


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A folder that has every facet."""
    folder = tmp_path / "relu"
    folder.mkdir()
    for facet in (*FACETS, MEANINGS[0]):
        (folder / facet).write_text("OPERATOR = None\n", encoding="utf-8")
    return folder


def test_a_whole_folder_gives_no_complaint(whole: Path) -> None:
    assert complaints_about_folder(whole, ["relu"]) == []


@pytest.mark.parametrize("facet", FACETS)
def test_a_missing_or_empty_facet_is_refused(whole: Path, facet: str) -> None:
    (whole / facet).write_text("", encoding="utf-8")
    assert f"relu/{facet} is empty" in complaints_about_folder(whole, ["relu"])
    (whole / facet).unlink()
    assert complaints_about_folder(whole, ["relu"]) == [f"relu lacks {facet}"]


def test_a_folder_that_says_nowhere_what_the_operator_means_is_refused(whole: Path) -> None:
    (whole / MEANINGS[0]).unlink()
    assert complaints_about_folder(whole, ["relu"]) == ["relu lacks a definition"]


def test_an_unlisted_folder_and_one_without_operator_are_refused(whole: Path) -> None:
    assert complaints_about_folder(whole, ["clip"]) == ["relu is not in OPERATORS"]
    (whole / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    assert complaints_about_folder(whole, ["relu"]) == ["relu has no OPERATOR"]


SOURCE = """/* One. */
#include "onnx/relu/own.h"

void KERNEL(relu)(const struct parameters *p) {}
"""
HEADER = """/* Two. */
#include "shared/kernel.h"
struct parameters {
    int64_t elements, more; /* so many */
    int64_t last;
};
"""
CALL = KernelCall(
    "onnx/relu/fast.c", "relu", Variant("float", ()), (("elements", 1), ("more", 2), ("last", 3)), (), (), 1
)


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A package with one fast kernel in order, and a header of its own."""
    for name, text in {
        "onnx/relu/fast.c": SOURCE,
        "onnx/relu/own.h": HEADER,
        "shared/kernel.h": "#include <stdint.h>\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_kernel_in_order_gives_no_complaint(kernels: Path) -> None:
    assert complaints_about_kernels(kernels, [CALL]) == []


@pytest.mark.parametrize(
    ("file", "before", "after", "complaint"),
    [
        ("onnx/relu/fast.c", "#include", "int first;\n#include", "does not begin with shared/kernel.h"),
        ("onnx/relu/own.h", '"shared/kernel.h"', "<stdint.h>", "does not begin with shared/kernel.h"),
        ("onnx/relu/own.h", "elements, more", "more, elements", "has other parameters"),
        ("onnx/relu/own.h", "int64_t last;", "", "has other parameters"),
        ("onnx/relu/own.h", "last;", "last, least;", "has other parameters"),
        ("onnx/relu/own.h", "struct parameters", "struct others", "has other parameters"),
        ("onnx/relu/fast.c", "KERNEL(relu)", "KERNEL(elu)", "has no relu"),
    ],
)
def test_a_kernel_out_of_order_is_refused(
    kernels: Path, file: str, before: str, after: str, complaint: str
) -> None:
    path = kernels / file
    path.write_text(path.read_text(encoding="utf-8").replace(before, after, 1), encoding="utf-8")
    assert f"onnx/relu/fast.c {complaint}" in complaints_about_kernels(kernels, [CALL])


def test_a_kernel_that_is_missing_or_that_nobody_calls_is_noticed(kernels: Path) -> None:
    (kernels / "onnx/relu/fast.c").rename(kernels / "onnx/relu/faster.c")
    assert complaints_about_kernels(kernels, [CALL]) == [
        "onnx/relu/fast.c is not there",
        "onnx/relu/faster.c is never called",
    ]


GOOD = next(rule for rule in rules() if rule.identifier == "clip.min.D2")
SPOILT: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "statement": ({"statement": ""}, "clip.min.D2: no statement"),
    "reason": ({"reason": "because"}, "clip.min.D2: no reason"),
    "page": ({"page": "operators/clip.md"}, "clip.min.D2: page operators/clip.md"),
    "flag": ({"restricts_onnx": None}, "clip.min.D2: no flag or no predicate"),
    "predicate": ({"predicate": None}, "clip.min.D2: no flag or no predicate"),
    "failing": ({"failing": None}, "clip.min.D2: no failing example"),
    "passing": ({"passing": Call("Conv", {})}, "clip.min.D2: no passing example"),
    "ruling": ({"ruling": "D-clip"}, "clip.min.D2: ruling D-clip"),
    "alias": (
        {"also": ("clip.low.C1",)},
        "clip.min.D2: identifier clip.low.C1 names no operand or attribute",
    ),
    "alias of another": ({"also": ("conv.C1",)}, "clip.min.D2: identifier conv.C1 of another operator"),
    "alias form": (
        {"also": ("clip.C",)},
        "clip.min.D2: identifier clip.C is not <operator>[.<operand>].<letter><number>",
    ),
}


@pytest.mark.parametrize("part", SPOILT)
def test_a_rule_that_lacks_a_field_is_refused(part: str) -> None:
    changes, complaint = SPOILT[part]
    assert complaints_about_rule(GOOD, "clip", {"input", "min", "max", "output"}) == []
    stand_in = SimpleNamespace(**{**vars(GOOD), "page": GOOD.page, **changes})
    assert complaints_about_rule(stand_in, "clip", {"input", "min", "max", "output"}) == [complaint]


GRAPH_RULE = GRAPH_RULES[0]
SPOILT_GRAPH: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "statement": ({"statement": "No"}, "graph.D1: no statement"),
    "page": ({"page": "operators/clip.md#graph-d1"}, "graph.D1: page operators/clip.md#graph-d1"),
    "predicate": ({"predicate": "acyclic"}, "graph.D1: no flag or no predicate"),
    "failing": ({"failing": GOOD.failing}, "graph.D1: no failing example"),
    "passing": ({"passing": Graph("", (), (), ())}, "graph.D1: no passing example"),
    "ruling": ({"ruling": "D-GRAPH-0"}, "graph.D1: ruling D-GRAPH-0"),
}


@pytest.mark.parametrize("part", SPOILT_GRAPH)
def test_a_rule_on_graphs_that_lacks_a_field_is_refused(part: str) -> None:
    changes, complaint = SPOILT_GRAPH[part]
    assert complaints_about_rule(GRAPH_RULE, "graph", set()) == []
    stand_in = SimpleNamespace(**{**vars(GRAPH_RULE), "page": GRAPH_RULE.page, **changes})
    assert complaints_about_rule(stand_in, "graph", set()) == [complaint]


@pytest.mark.parametrize(
    "identifier",
    ["clip", "clip.min", "clip.min.d2", "Clip.min.D2", "clip.min.D", "clip.min.D0", "clip.a.b.D2"],
)
def test_a_malformed_identifier_is_refused(identifier: str) -> None:
    page = f"operators/clip.md#{identifier.replace('.', '-').lower()}"
    stand_in = SimpleNamespace(**{**vars(GOOD), "identifier": identifier, "page": page})
    (complaint,) = complaints_about_rule(stand_in, "clip", {"min"})
    assert "is not <operator>[.<operand>].<letter><number>" in complaint


def test_a_duplicate_and_an_untested_identifier_are_noticed() -> None:
    assert duplicates(["clip.C1", "clip.C2", "clip.C1"]) == ["clip.C1"]
    assert unnamed(["clip.C1", "D-CONV-1"], ["clip.C10", "clipxC1 D-CONV-12"]) == ["clip.C1", "D-CONV-1"]
    assert unnamed(["clip.C1", "D-CONV-1"], ['["clip.C1"]', "# D-CONV-1."]) == []


def test_c_sources_are_plain_ascii() -> None:
    # They become part of emitted projects, which are read by whatever a target's tools are.
    package = Path(sonnx.__file__).parent
    sources = [path for ending in ("*.c", "*.h") for path in package.rglob(ending)]
    assert sources
    assert [path.name for path in sources if not path.read_bytes().isascii()] == []


def test_an_operator_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"no operator 'Conv3'; there are Clip, Conv, .*xla\.Clamp"):
        named("Conv3")
    assert named("clamp") is named("xla.Clamp")
