"""Rules at the boundary: what every operator shares, the text of messages, and that nothing is computed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.loops import for_each
from tests.operators.support import broken, message, plain

import sonnx
from sonnx.check.calls import check_call
from sonnx.evaluate.apply import apply
from sonnx.model.dtype import DType
from sonnx.model.location import Location
from sonnx.model.tensor_type import TensorType
from sonnx.operators import GENERAL_RULES, ONNX_OPERATORS, OPERATORS, call_rules, operator
from sonnx.operators.onnx.broadcast import OPERATOR as BROADCAST
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.operators.onnx.where import OPERATOR as WHERE
from sonnx.operators.rulebook import rules
from sonnx.report.text import finding_text
from sonnx.vocabulary.call import ABSENT, Call, call
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.rule import Rule

pytestmark = pytest.mark.measured

ONE = np.float32(1)
IMAGE = np.ones((1, 3, 8, 8), np.float32)
KERNEL = np.ones((4, 3, 3, 3), np.float32)


class Sparse:
    """Looks like a sparse matrix of SciPy."""

    dtype = np.dtype(np.float32)
    shape = (2, 3)
    nnz = 1

    def toarray(self) -> None:
        raise AssertionError("a sparse tensor is refused, not converted")


def test_general_r1_names_every_attribute_that_is_not_written() -> None:
    assert broken(sonnx.conv, IMAGE, KERNEL) == ["general.R1"]
    text = message(sonnx.conv, IMAGE, KERNEL, strides=(1, 1), dilations=(1, 1), group=1)
    assert text == (
        "error[general.R1]: Every attribute of an operator must be written; none is left to its default\n"
        "  --> call of Conv\n"
        "   pads         = absent\n"
        "   kernel_shape = absent\n"
        "  help: write `pads`, `kernel_shape` explicitly\n"
        "  more: sonnx explain general.R1"
    )


@pytest.mark.parametrize("missing", ["strides", "pads", "dilations", "group", "kernel_shape"])
def test_general_r1_holds_for_each_attribute_of_conv(missing: str) -> None:
    given = {name: value for name, value in plain((3, 3)).items() if name != missing}
    assert broken(sonnx.conv, IMAGE, KERNEL, **given) == ["general.R1"]


def test_general_r1_holds_for_a_call_that_does_not_mention_the_attribute() -> None:
    written = {**plain((3, 3)), "auto_pad": "NOTSET"}
    found = check_call(CONV, call("Conv", {"X": "float[1,3,8,8]", "W": "float[4,3,3,3]"}, written))
    assert [(f.rule, [v.name for v in f.values]) for f in found] == [("general.R1", ["accumulate"])]


@pytest.mark.parametrize("vague", [[1.0, 2.0], None, (1.0,), {}, Ellipsis, b"x", range(3)], ids=repr)
def test_general_r2_refuses_what_is_no_array(vague: Any) -> None:
    assert broken(sonnx.clip, vague, ONE, ONE) == ["general.R2"]
    assert broken(sonnx.where, vague, vague, vague) == ["general.R2"]
    assert broken(sonnx.broadcast, vague) == ["general.R2"]
    assert broken(sonnx.expand, vague, [1]) == ["general.R2"]
    assert broken(sonnx.conv, vague, KERNEL, **plain((3, 3))) == ["general.R2"]
    assert broken(sonnx.conv, IMAGE, vague, **plain((3, 3))) == ["general.R2"]


def test_general_r2_shows_the_kind_of_thing_given_and_how_to_make_an_array_of_it() -> None:
    assert message(sonnx.clip, [1.0], ONE, ONE) == (
        "error[general.R2]: Every tensor must have an explicit element type and a static shape\n"
        "  --> call of Clip\n"
        "   input = Python list\n"
        "  help: give an array with an explicit dtype, or sonnx.real([...]) for exact numbers\n"
        "  more: sonnx explain general.R2"
    )


@pytest.mark.parametrize(
    "vague",
    [
        TensorType(DType.FLOAT, None),
        TensorType(DType.FLOAT, ("batch", 3)),
        TensorType(DType.FLOAT, (None, 3)),
        TensorType(DType.FLOAT, (-1, 3)),
        TensorType(None, (2, 3)),
    ],
    ids=str,
)
def test_general_r2_refuses_a_type_or_shape_that_is_not_written(vague: TensorType) -> None:
    scalar = TensorType(DType.FLOAT, ())
    found = check_call(CLIP, Call("Clip", {"input": vague, "min": scalar, "max": scalar}))
    assert [finding.rule for finding in found] == ["general.R2"]
    known = {"input": TensorType(DType.FLOAT, (2, 3)), "min": scalar, "max": scalar}
    declared = Call("Clip", known, outputs={"output": vague})
    assert [finding.rule for finding in check_call(CLIP, declared)] == ["general.R2"]


@pytest.mark.parametrize(
    ("found_by", "missing"),
    [(CLIP, ["input"]), (CONV, ["X", "W"]), (WHERE, ["condition", "X", "Y"]), (EXPAND, ["input", "shape"])],
    ids=lambda value: value.name if isinstance(value, Operator) else "",
)
def test_general_r2_names_the_operands_that_a_call_leaves_out(found_by: Operator, missing: list[str]) -> None:
    found = [f for f in check_call(found_by, Call(found_by.name, {})) if f.rule == "general.R2"]
    assert [value.name for finding in found for value in finding.values] == missing
    assert {value.value for finding in found for value in finding.values} == {"absent"}


FOREIGN: Mapping[str, Any] = {
    "longdouble": np.ones((1, 3, 8, 8), np.longdouble),
    "dates": np.zeros((1, 3, 8, 8), "M8[s]"),
    "records": np.zeros((1, 3, 8, 8), [("a", "i4")]),
    "bytes": np.zeros((1, 3, 8, 8), "S1"),
    "mixed objects": np.array([1, "a"], object).repeat(96).reshape(1, 3, 8, 8),
    "masked array": np.ma.masked_array(IMAGE, IMAGE > 0),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_general_r3_refuses_arrays_of_other_types(kind: str) -> None:
    array = FOREIGN[kind]
    assert broken(sonnx.clip, array, ONE, ONE) == ["general.R3"]
    assert broken(sonnx.where, array, array, array) == ["general.R3"]
    assert broken(sonnx.broadcast, array, array) == ["general.R3"]
    assert broken(sonnx.expand, array, [1]) == ["general.R3"]
    assert broken(sonnx.conv, array, KERNEL, **plain((3, 3))) == ["general.R3"]
    assert broken(sonnx.conv, IMAGE, KERNEL, array, **plain((3, 3))) == ["general.R3"]


def test_general_r3_shows_the_foreign_type() -> None:
    text = message(sonnx.clip, FOREIGN["masked array"], ONE, ONE)
    assert "   input : masked array[1,3,8,8]\n" in text
    assert "  help: convert it yourself to one of the profile's types" in text
    text = message(sonnx.clip, 2**63, ONE, ONE)
    assert text.startswith("error[general.R3]: ")
    assert "   input : Python int[]\n" in text


def test_general_r4_refuses_sparse_tensors() -> None:
    assert broken(sonnx.clip, Sparse(), ONE, ONE) == ["general.R4"]
    assert broken(sonnx.broadcast, Sparse(), ONE) == ["general.R4"]
    assert broken(sonnx.expand, Sparse(), [2, 3]) == ["general.R4"]
    assert broken(sonnx.conv, Sparse(), KERNEL, **plain((3, 3))) == ["general.R4"]
    assert message(sonnx.clip, Sparse(), ONE, ONE) == (
        "error[general.R4]: No tensor may be sparse\n"
        "  --> call of Clip\n"
        "   input : sparse float[2,3]\n"
        "  help: make the tensor dense\n"
        "  more: sonnx explain general.R4"
    )


def test_all_findings_are_collected_in_one_error_with_a_blank_line_between() -> None:
    text = message(sonnx.conv, IMAGE, KERNEL, pads=(1, 1), strides=(0, 1), dilations=(1, 1), group=7)
    heads = [line.partition("]")[0] for line in text.splitlines() if line.startswith("error[")]
    assert heads == [
        "error[general.R1",
        "error[conv.strides.D1",
        "error[conv.pads.C2",
        "error[conv.group.C1",
    ]
    assert text.count("\n\n") == len(heads) - 1


def test_an_error_carries_its_findings_as_data() -> None:
    with pytest.raises(sonnx.RuleError) as caught:
        sonnx.clip(np.ones(3, np.float32), np.ones(1, np.float32), ONE)
    (finding,) = caught.value.findings
    assert isinstance(finding, sonnx.Finding)
    assert (finding.rule, finding.operator, finding.location) == ("clip.min.D2", "Clip", None)
    assert [(value.name, value.value) for value in finding.values] == [("min", "float[1]")]
    assert finding.help == "give `min` the empty shape: a single value, not a list of one"
    assert finding.page == "operators/clip.md#clip-min-d2"
    assert isinstance(caught.value, ValueError)


ARGUMENTS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "Clip": ({"input": ONE, "min": ONE, "max": ONE}, {}),
    "Conv": ({"X": IMAGE, "W": KERNEL}, {**plain((3, 3)), "auto_pad": "NOTSET", "accumulate": "separate"}),
    "Where": ({"condition": np.True_, "X": ONE, "Y": ONE}, {}),
    "Broadcast": ({"X0": ONE}, {}),
    "Expand": ({"input": ONE, "shape": np.array([2])}, {}),
}


class ComputedError(Exception):
    """Somebody asked for a meaning."""


@pytest.mark.parametrize("name", ARGUMENTS)
def test_nothing_is_computed_where_a_rule_is_broken(name: str) -> None:
    def explode(*_: Any) -> Any:
        raise ComputedError

    guarded = replace(operator(name), meaning=explode)
    operands, attributes = ARGUMENTS[name]
    with pytest.raises(ComputedError):
        apply(guarded, operands, attributes)
    for spoilt in operands:
        with pytest.raises(sonnx.RuleError):
            apply(guarded, {**operands, spoilt: [1]}, attributes)


def every_rule() -> list[tuple[Operator, Rule]]:
    """Each rule with an operator it is asked of: for a general one, that of its failing example."""
    general = [(operator(rule.failing.operator), rule) for rule in GENERAL_RULES]
    return general + [(found, rule) for found in OPERATORS for rule in found.contract.rules]


@for_each(("found_by", "rule"), every_rule(), ids=[rule.identifier for _, rule in every_rule()])
def test_the_failing_example_of_a_rule_breaks_that_rule_alone_and_the_passing_one_none(
    found_by: Operator, rule: Rule
) -> None:
    assert [finding.rule for finding in check_call(found_by, rule.failing)] == [rule.identifier]
    assert check_call(operator(rule.passing.operator), rule.passing) == ()


@for_each(("found_by", "rule"), every_rule(), ids=[rule.identifier for _, rule in every_rule()])
def test_the_text_of_a_finding_has_rule_place_values_help_and_where_to_read_on(
    found_by: Operator, rule: Rule
) -> None:
    (finding,) = check_call(found_by, rule.failing)
    placed = replace(finding, location=Location("node", "n", 3, "Any", "net.onnx"))
    first, place, *values, advice, more = finding_text(placed).splitlines()
    assert first == f"error[{rule.identifier}]: {rule.statement.removesuffix('.')}"
    assert place == "  --> net.onnx: node 3 `n` (Any)"
    assert values
    assert all(line.startswith("   ") and (" = " in line or " : " in line) for line in values)
    assert advice.startswith("  help: ")
    assert len(advice) > len("  help: ")
    assert more == f"  more: sonnx explain {rule.identifier}"


def test_rules_lists_those_on_graphs_and_the_general_ones_first_and_then_operator_by_operator() -> None:
    names = [rule.identifier.split(".")[0] for rule in sonnx.rules()]
    owners = [op.identifier.split(".")[0] for op in OPERATORS]
    assert list(dict.fromkeys(names)) == list(dict.fromkeys(["graph", "general", *owners]))
    assert call_rules() == tuple(rule for rule in rules() if not rule.identifier.startswith("graph."))
    assert rules("Clip") == CLIP.contract.rules
    assert {rule.identifier for rule in rules("Broadcast")} == {
        "broadcast.C1",
        "broadcast.D1",
        "broadcast.D2",
        "broadcast.D3",
    }
    with pytest.raises(ValueError, match="no operator 'clap'; there are Clip, Conv, "):
        rules("clap")
    assert operator("Broadcast") is BROADCAST


def test_rules_are_found_by_the_lower_case_names_their_identifiers_begin_with() -> None:
    for name in ("general", "graph", *(op.identifier for op in ONNX_OPERATORS)):
        assert {rule.identifier.split(".")[0] for rule in rules(name)} == {name}


def test_absent_prints_as_absent() -> None:
    assert repr(ABSENT) == "absent"


def test_general_r5_refuses_what_the_operator_does_not_have() -> None:
    good = {"input": "float[3]", "min": "float[]", "max": "float[]"}
    for inputs, attributes, outputs in (
        ({**good, "low": "float[]"}, {}, {}),
        ({**good, "min0": "float[]"}, {}, {}),
        (good, {"axis": 1}, {}),
        (good, {}, {"output": "float[3]", "mask": "bool[3]"}),
    ):
        found = check_call(CLIP, call("Clip", inputs, attributes, outputs))
        assert [finding.rule for finding in found] == ["general.R5"]
        assert found[0].help == "leave it out, or correct its name for Clip"
    assert check_call(CLIP, call("Clip", good, {}, {"output": "float[3]"})) == ()


def test_general_r5_counts_the_tensors_of_broadcast_without_a_gap() -> None:
    for names in (("A", "B"), ("X0", "X01"), ("X",), ("X0", "X")):
        found = check_call(BROADCAST, call("Broadcast", dict.fromkeys(names, "float[3]")))
        assert [finding.rule for finding in found] == ["general.R5"]
    for names, gap in ((("X0", "X2"), "X1"), (("X1",), "X0")):
        (told,) = check_call(BROADCAST, call("Broadcast", dict.fromkeys(names, "float[3]")))
        assert (told.rule, told.values[0].name) == ("general.R2", gap)
        assert gap in told.help
    assert check_call(BROADCAST, call("Broadcast", {"X0": "float[3]", "X1": "bool[1]"})) == ()


def test_general_r4_and_where_r1_look_at_declared_outputs_too() -> None:
    inputs = {"condition": "bool[2]", "X": "float[2]", "Y": "float[2]"}
    found = check_call(WHERE, call("Where", inputs, outputs={"output": "sparse float[2]"}))
    assert [finding.rule for finding in found] == ["where.R1"]
    inputs = {"input": "float[2]", "min": "float[]", "max": "float[]"}
    found = check_call(CLIP, call("Clip", inputs, outputs={"output": "sparse float[2]"}))
    assert [finding.rule for finding in found] == ["general.R4"]


# Which rules take something away from ONNX, by hand from its operator documentation.
RESTRICTING = {
    *("graph.D4", "graph.D6", "graph.D7", "graph.D8", "graph.D9", "graph.D10"),
    *("graph.D13", "graph.D14", "graph.D16", "graph.D18", "graph.D20"),
    *("general.R1", "general.R2", "general.R3", "general.R4"),
    *("clip.input.D1", "clip.min.D1", "clip.max.D1"),
    *("conv.X.C1", "conv.X.D1", "conv.W.D1", "conv.Y.D2"),
    *("conv.auto_pad.C1", "conv.group.C1", "conv.group.D1"),
    *("where.R1", "where.R2", "where.R4"),
    *("broadcast.C1", "broadcast.D2", "broadcast.D3"),
    *("expand.shape.C1", "expand.shape.D3", "expand.shape.D4"),
}


def test_the_rules_that_restrict_onnx_are_marked_and_no_others() -> None:
    # Of rules made from data it is known: ONNX has more types, broadcasts, and lets operands be absent.
    made = {rule.identifier for rule in call_rules() if rule.made_from}
    marked = {rule.identifier for rule in rules() if rule.restricts_onnx}
    assert marked - made == RESTRICTING - made
    assert marked >= RESTRICTING
