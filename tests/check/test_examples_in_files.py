"""Each rule's failing example, written to a file, breaks exactly that rule; its passing twin breaks none."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner
from tests.check.files import graph_of, through_a_file
from tests.check.support import broken
from tests.loops import for_each

from sonnx.cli import main
from sonnx.load.reader import load
from sonnx.load.writer import save, to_proto
from sonnx.model.graph import Graph
from sonnx.operators import operator, profile_rules
from sonnx.operators.graph.examples import BRANCH, EXTRA, GOOD, NO_DATA
from sonnx.operators.rulebook import rules
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.rule import AnyRule, Rule

# The rules that no file can break, and why.
UNWRITABLE: Mapping[str, str] = {
    "broadcast.C1": "Broadcast is no operator of ONNX",
    "broadcast.D1": "Broadcast is no operator of ONNX",
    "broadcast.D2": "Broadcast is no operator of ONNX",
    "broadcast.D3": "Broadcast is no operator of ONNX",
    "cast.domain.D1": "a mode of evaluation is no part of a model",
    "conv.accumulate.D1": "a mode of evaluation is no part of a model",
    "reciprocal.X.D8": "no file holds reals",
    "sqrt.X.D8": "no file holds reals",
}
# XLA operations are no operators of ONNX either, and have no files.
WRITABLE = [rule for rule in profile_rules() if rule.identifier not in UNWRITABLE]
NEWEST = onnx.defs.onnx_opset_version()


def model_of(example: Call | Graph, opset: int = 22) -> Graph:
    """The model of an example, in the operator set that it speaks of, or else in this one or a newer one.

    A newer one where this one does not have the operator, or not all the attributes that are written.
    """
    if isinstance(example, Graph):
        return example
    return graph_of(example, example.version or max(opset, first_set(example)))


def first_set(example: Call) -> int:
    """The oldest operator set of the profile that has the operator with all these attributes."""
    contract = operator(example.operator).contract
    known = [each for each in contract.attributes if each.name in example.attributes]
    return max([min(contract.versions), *(attribute.since for attribute in known)])


@for_each("rule", WRITABLE, ids=lambda rule: rule.identifier)
def test_a_failing_example_in_a_file_breaks_that_rule_alone(rule: AnyRule, tmp_path: Path) -> None:
    assert broken(through_a_file(model_of(rule.failing), tmp_path)) == {rule.identifier}


@for_each("rule", WRITABLE, ids=lambda rule: rule.identifier)
def test_a_passing_example_in_a_file_breaks_no_rule(rule: AnyRule, tmp_path: Path) -> None:
    assert broken(through_a_file(model_of(rule.passing), tmp_path)) == set()


@for_each("opset", [13, NEWEST])
@for_each(
    "rule",
    [rule for rule in WRITABLE if isinstance(rule, Rule) and rule.passing.version is None],
    ids=lambda rule: rule.identifier,
)
def test_so_it_is_from_the_oldest_operator_set_to_the_newest(
    rule: AnyRule, opset: int, tmp_path: Path
) -> None:
    assert isinstance(rule, Rule)
    asked = max(opset, first_set(rule.passing))
    assert broken(through_a_file(model_of(rule.failing, asked), tmp_path)) == {rule.identifier}
    assert broken(through_a_file(model_of(rule.passing, asked), tmp_path)) == set()


@for_each("rule", WRITABLE, ids=lambda rule: rule.identifier)
def test_the_command_reports_exactly_that_rule(rule: AnyRule, tmp_path: Path) -> None:
    path = tmp_path / "example.onnx"
    for example, expected, code in ((rule.failing, {rule.identifier}, 1), (rule.passing, set(), 0)):
        save(model_of(example), path, stubs=True)
        result = CliRunner().invoke(main, ["check", "--format", "json", str(path)])
        assert {finding["rule"] for finding in json.loads(result.stdout)["findings"]} == expected
        assert result.exit_code == code


def test_the_rules_that_no_file_can_break_are_these_and_no_others() -> None:
    by_hand = {rule.identifier for rule in rules() if rule.identifier.startswith("broadcast.")}
    modes = {"cast.domain.D1", "conv.accumulate.D1"}
    assert set(UNWRITABLE) == by_hand | modes | {"reciprocal.X.D8", "sqrt.X.D8"}
    assert len(WRITABLE) == len(profile_rules()) - 8
    left = {rule.identifier for rule in rules()} - {rule.identifier for rule in profile_rules()}
    assert left == {rule.identifier for rule in rules("xla")}


@pytest.mark.parametrize("identifier", [name for name in UNWRITABLE if name.startswith("broadcast.")])
def test_a_node_called_broadcast_is_an_unknown_operator(identifier: str, tmp_path: Path) -> None:
    assert "graph.D6" in broken(through_a_file(graph_of(example_of(identifier)), tmp_path))


@pytest.mark.parametrize(
    ("identifier", "values"),
    [("cast.domain.D1", ("ieee", "real")), ("conv.accumulate.D1", ("separate", "fused", "fast"))],
)
def test_a_mode_of_evaluation_in_a_file_is_an_unknown_attribute(
    identifier: str, values: tuple[str, ...], tmp_path: Path
) -> None:
    plain = model_of(example_of(identifier))
    (node,) = plain.nodes
    _, mode, _ = identifier.split(".")
    assert broken(through_a_file(plain, tmp_path)) == set()
    for value in values:
        written = replace(node, attributes={**node.attributes, mode: value})
        assert broken(through_a_file(replace(plain, nodes=(written,)), tmp_path)) == {"general.R5"}


def example_of(identifier: str) -> Call:
    (found,) = (rule.failing for rule in rules() if rule.identifier == identifier)
    assert isinstance(found, Call)
    return found


def test_an_example_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    for rule in WRITABLE:
        for example in (model_of(rule.failing), model_of(rule.passing)):
            read = through_a_file(example, tmp_path)
            for field in ("inputs", "outputs", "values", "opsets", "extras"):
                assert getattr(read, field) == getattr(example, field)
            unversioned = [replace(node, version=None) for node in example.nodes]
            assert [replace(node, version=None) for node in read.nodes] == unversioned
            for was, now in zip(example.constants, read.constants, strict=True):
                assert (was.name, was.type) == (now.name, now.type)
                assert (was.data is None) == (now.data is None)


# --- what the writer has no words for, as other tools write it --------------------------------------------


def saved(model: onnx.ModelProto, folder: Path) -> Graph:
    path = folder / "example.onnx"
    path.write_bytes(model.SerializeToString())
    return load(path)


def test_what_only_files_of_others_hold_cannot_be_written_without_leave() -> None:
    for rule in profile_rules():
        for example in (rule.failing, rule.passing):
            if isinstance(example, Graph) and example in (BRANCH, EXTRA, NO_DATA):
                with pytest.raises(ValueError, match="cannot be saved"):
                    to_proto(example)
            elif rule.identifier not in UNWRITABLE:
                to_proto(model_of(example))


def test_graph_d8_names_the_branches_of_an_if(tmp_path: Path) -> None:
    branch = onnx.helper.make_graph(
        [onnx.helper.make_node("Clip", ["x", "lo", "hi"], ["z"])],
        "branch",
        [],
        [onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [2, 3])],
    )
    model = to_proto(GOOD)
    model.graph.input.append(onnx.helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []))
    del model.graph.node[:]
    model.graph.node.append(onnx.helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch))
    onnx.checker.check_model(model, full_check=True)
    assert broken(saved(model, tmp_path)) == {"graph.D8"}


@pytest.mark.parametrize("content", [b"", b"\0\0\0", b"\0\0\0\0\0"])
def test_graph_d15_refuses_too_few_and_too_many_bytes(content: bytes, tmp_path: Path) -> None:
    model = to_proto(GOOD)
    model.graph.initializer[0].raw_data = content
    assert broken(saved(model, tmp_path)) == {"graph.D15"}


def test_graph_d20_names_each_part(tmp_path: Path) -> None:
    model = to_proto(GOOD)
    model.training_info.add().algorithm.name = "training"
    model.graph.quantization_annotation.add(tensor_name="x")
    model.configuration.add(name="two devices", num_devices=2)
    read = saved(model, tmp_path)
    assert broken(read) == {"graph.D20"}
    assert read.extras == ("training_info", "configuration", "quantization_annotation")


def test_graph_d19_counts_what_is_written_not_what_it_says(tmp_path: Path) -> None:
    (once,) = (rule.passing for rule in rules() if rule.identifier == "graph.D19")
    assert isinstance(once, Graph)
    model = to_proto(once)
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("group", 7))
    assert "graph.D19" in broken(saved(model, tmp_path))
