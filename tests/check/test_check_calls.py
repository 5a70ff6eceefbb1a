"""One call against all rules that concern it."""

from dataclasses import replace

from sonnx.check.calls import check_call, check_node_call
from sonnx.model.location import Location
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.vocabulary.call import call
from sonnx.vocabulary.rule import Broken, Shown

HERE = Location("node", "limit", 0, "Clip", "net.onnx")
CLEAN = call("Clip", {"input": "float[2]", "min": "float[]", "max": "float[]"})


def test_a_clean_call_has_no_findings() -> None:
    assert check_call(CLIP, CLEAN) == ()


def test_a_finding_holds_rule_values_help_page_and_place() -> None:
    wrong = call("Clip", {"input": "float[2]", "min": "float[1]", "max": "float[]"})
    (finding,) = check_node_call(CLIP, wrong, HERE)
    assert finding.rule == "clip.min.D2"
    assert finding.statement == "`min` must have the empty shape."
    assert finding.operator == "Clip"
    assert finding.values == (Shown("min", "float[1]"),)
    assert finding.help == "give `min` the empty shape: a single value, not a list of one"
    assert finding.page == "operators/clip.md#clip-min-d2"
    assert finding.location == HERE
    (same,) = check_call(CLIP, wrong)
    assert same == replace(finding, location=None)


def test_general_rules_come_first_and_each_rule_is_asked_once() -> None:
    wrong = call("Clip", {"input": "longdouble[n]", "min": "sparse float[]", "max": "double[1]"})
    assert [finding.rule for finding in check_call(CLIP, wrong)] == [
        "general.R2",
        "general.R4",
        "clip.max.D2",
    ]


def test_every_rule_of_the_operator_is_asked() -> None:
    def always(_: object) -> Broken:
        return Broken((Shown("x", "1"),), "nothing helps")

    rules = tuple(replace(rule, predicate=always) for rule in CLIP.contract.rules)
    strict = replace(CLIP, contract=replace(CLIP.contract, rules=rules))
    assert [finding.rule for finding in check_call(strict, CLEAN)] == [rule.identifier for rule in rules]


def test_what_a_call_leaves_out_is_absent() -> None:
    found = check_call(CONV, call("Conv", {}))
    assert [finding.rule for finding in found] == ["general.R1", "general.R2"]
    assert [value.name for value in found[0].values] == [
        "strides",
        "pads",
        "dilations",
        "group",
        "kernel_shape",
        "auto_pad",
        "accumulate",
    ]
    assert [(value.name, value.value) for value in found[1].values] == [("X", "absent"), ("W", "absent")]


EXPLICIT = {
    "strides": (1, 1),
    "pads": (0, 0, 0, 0),
    "dilations": (1, 1),
    "group": 1,
    "kernel_shape": (3, 3),
    "auto_pad": "NOTSET",
}
IMAGE = {"X": "float[1,1,4,4]", "W": "float[1,1,3,3]"}


def test_a_node_need_not_write_a_mode_of_evaluation_and_a_call_must() -> None:
    assert check_node_call(CONV, call("Conv", IMAGE, EXPLICIT), HERE) == ()
    (finding,) = check_call(CONV, call("Conv", IMAGE, EXPLICIT))
    assert [(value.name, value.value) for value in finding.values] == [("accumulate", "absent")]


def test_a_node_cannot_write_a_mode_of_evaluation() -> None:
    for mode in ("separate", "fused", "fast"):
        (finding,) = check_node_call(CONV, call("Conv", IMAGE, {**EXPLICIT, "accumulate": mode}), HERE)
        assert finding.rule == "general.R5"
        assert finding.values == (Shown("accumulate", "not known"),)
        assert finding.location == HERE


def test_what_a_node_leaves_out_is_absent() -> None:
    attributes, operands = check_node_call(CONV, call("Conv", {}), HERE)
    assert (attributes.rule, operands.rule) == ("general.R1", "general.R2")
    assert [value.name for value in attributes.values] == list(EXPLICIT)
    assert [(value.name, value.value) for value in operands.values] == [("X", "absent"), ("W", "absent")]


def test_a_node_leaves_the_general_rules_on_tensors_to_the_check_of_tensors() -> None:
    vague = {"input": "longdouble[2]", "min": "float", "max": "sparse float[]"}
    outputs = {"output": "sparse float[2]"}
    assert check_node_call(CLIP, call("Clip", vague, outputs=outputs), HERE) == ()
    assert {finding.rule for finding in check_call(CLIP, call("Clip", vague, outputs=outputs))} == {
        "general.R2",
        "general.R3",
        "general.R4",
    }


def test_general_rules_come_first_at_a_node_too() -> None:
    wrong = call("Conv", {**IMAGE, "B": "float[2]"}, {**EXPLICIT, "group": 3, "axis": 1})
    assert [finding.rule for finding in check_node_call(CONV, wrong, HERE)] == [
        "general.R5",
        "conv.B.C1",
        "conv.group.C1",
    ]
