"""Files in which a node of any operator of the catalogue is wrong: what the commands say, and what is mended.

Nothing here names an operator but what the catalogue lists; each rule's own example is a file elsewhere
(`test_examples_in_files.py`).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import onnx
from click.testing import CliRunner, Result
from tests.check.files import graph_of
from tests.loops import for_each

from sonnx.cli import main
from sonnx.load.reader import load
from sonnx.load.writer import save
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph
from sonnx.model.tensor_type import TensorType
from sonnx.operators import NODE_OPERATORS
from sonnx.operators.rules.shapes import element_names
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator, goes_by

ALL = tuple(NODE_OPERATORS.values())
NEWEST = onnx.defs.onnx_opset_version()


@dataclass(frozen=True)
class Bad:
    """A file: what is wrong in it, the rules that find it (any, if none is named), whether that is mended.

    Where nobody says whether it is mended, the command does by its exit code.
    """

    name: str
    model: Graph
    rules: frozenset[str] = frozenset()
    mended: bool | None = False


def good(operator: Operator) -> Call:
    contract = operator.contract
    return contract.good or contract.shown or _passing(operator)


def _passing(operator: Operator) -> Call:
    first = operator.contract.rules[0].passing
    assert isinstance(first, Call)
    return first


def made_from(operator: Operator, what: str) -> str:
    """The identifier of the rule that was made from something, such as "one shape"."""
    (found,) = (rule.identifier for rule in operator.contract.rules if rule.made_from == what)
    return found


def model_of(asked: Call) -> Graph:
    return graph_of(asked, NEWEST)


def with_type(asked: Call, name: str, kind: TensorType) -> Graph:
    """A model in which one input has another type, and its outputs are as they were."""
    model = model_of(asked)
    given = tuple(replace(each, type=kind) if each.name == name else each for each in model.inputs)
    return replace(model, inputs=given)


def mixed_types(operator: Operator) -> Iterator[Bad]:
    """Every operand that shares its type with one before it, given another type that the operator has."""
    asked = good(operator)
    seen: set[str] = set()
    for name, kind in asked.inputs.items():
        operand = next(each for each in operator.contract.inputs if goes_by(each, name))
        others = [each for each in operand.types if each not in (kind.dtype, DType.REAL)]
        if operand.variable in seen and others:
            for other in (others[0], others[-1]):
                rule = frozenset({made_from(operator, f"type of {operand.name}")})
                model = with_type(asked, name, replace(kind, dtype=other))
                yield Bad(f"{name} is {other}", model, rule)
        seen |= {operand.variable} - {""}


def combined(operator: Operator, asked: Call) -> Sequence[str]:
    """The operands that have one shape."""
    found = element_names(operator.contract.inputs)(asked)
    return found if all(each.form for each in operator.contract.inputs) and len(found) > 1 else ()


def unequal_shapes(operator: Operator) -> Iterator[Bad]:
    """The last of several operands of one shape has another: one that fits none, one that ONNX broadcasts."""
    asked = good(operator)
    for name in combined(operator, asked)[-1:]:
        kind = asked.inputs[name]
        sizes = kind.sizes or ()
        far = replace(kind, shape=(*sizes[:-1], sizes[-1] + 1))
        one_shape = frozenset({made_from(operator, "one shape")})
        yield Bad(f"{name} is {far}", with_type(asked, name, far), one_shape)
        near = replace(kind, shape=sizes[1:])
        broadcast = frozenset({made_from(operator, "no broadcasting")})
        yield Bad(f"{name} is {near}", with_type(asked, name, near), broadcast, mended=True)


def broken_nodes(operator: Operator) -> Iterator[Bad]:
    """Attributes that are absent, unknown or of another kind; an operand too few, and one too many."""
    model = model_of(good(operator))
    (node,) = model.nodes

    def with_node(**changes: Any) -> Graph:
        return replace(model, nodes=(replace(node, **changes),))

    yield Bad("an attribute nobody knows", with_node(attributes={**node.attributes, "nonsense": 1}))
    extra = with_node(inputs=(*node.inputs, *[node.inputs[0]] * 9))
    if not any(operand.variadic for operand in operator.contract.inputs):
        yield Bad("too many operands", extra)
    if not all(operand.variadic or operand.optional for operand in operator.contract.inputs):
        yield Bad("no operand", with_node(inputs=()))
    for name in node.attributes:
        attribute = operator.contract.named[name]
        rest = {key: value for key, value in node.attributes.items() if key != name}
        # Without it the model means what ONNX's default says; where that is another thing, shapes may differ.
        same = node.attributes[name] == attribute.default_in_onnx
        needed = onnx.defs.get_schema(operator.contract.name, NEWEST, "").attributes[name].required
        yield Bad(
            f"no {name}", with_node(attributes=rest), mended=True if same else False if needed else None
        )
        wrong = 1 if attribute.kind == "string" else "text"
        yield Bad(f"{name} of another kind", with_node(attributes={**rest, name: wrong}))


def run(*words: str) -> Result:
    """A command, which ends by itself: no exception goes through it."""
    result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


def check(path: Path) -> tuple[int, list[dict[str, Any]]]:
    result = run("check", "--format", "json", str(path))
    return result.exit_code, json.loads(result.stdout)["findings"]


def see(bad: Bad, operator: Operator, folder: Path) -> None:
    """The check says what and where; normalizing mends it, or says what is left and writes nothing."""
    path, out = folder / "bad.onnx", folder / "mended.onnx"
    save(bad.model, path, stubs=True)
    out.unlink(missing_ok=True)
    code, findings = check(path)
    rules = {finding["rule"] for finding in findings}
    assert code == 1, bad.name
    assert rules == bad.rules or (rules and not bad.rules), (bad.name, rules)
    for finding in findings:
        assert finding["values"], (bad.name, finding["rule"])
        assert finding["help"], (bad.name, finding["rule"])
    assert any(operator.contract.name in finding["location"]["text"] for finding in findings), bad.name
    done = run("normalize", str(path), "-o", str(out))
    mended = done.exit_code == 0
    assert bad.mended in (None, mended), (bad.name, done.output)
    assert (done.exit_code, out.exists()) == ((0, True) if mended else (1, False)), (bad.name, done.output)
    if mended:
        assert check(out) == (0, []), bad.name
        assert load(path).nodes != load(out).nodes, bad.name


@for_each("operator", ALL, ids=[operator.name for operator in ALL])
def test_operands_of_unlike_types_are_found_and_never_converted(operator: Operator, tmp_path: Path) -> None:
    for bad in mixed_types(operator):
        see(bad, operator, tmp_path)


@for_each("operator", ALL, ids=[operator.name for operator in ALL])
def test_operands_of_unlike_shapes_are_found_and_expanded_where_onnx_would(
    operator: Operator, tmp_path: Path
) -> None:
    for bad in unequal_shapes(operator):
        see(bad, operator, tmp_path)


@for_each("operator", ALL, ids=[operator.name for operator in ALL])
def test_a_node_that_is_written_wrongly_is_found_and_completed_where_onnx_has_a_default(
    operator: Operator, tmp_path: Path
) -> None:
    for bad in broken_nodes(operator):
        see(bad, operator, tmp_path)


def test_every_operator_of_several_operands_is_asked() -> None:
    several = [each for each in ALL if len(combined(each, good(each))) > 1]
    assert len(several) > len(ALL) // 4
    assert all(len(list(unequal_shapes(each))) == 2 for each in several)
