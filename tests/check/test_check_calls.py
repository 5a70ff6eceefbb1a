"""One call against all rules that concern it."""

from dataclasses import replace

from sonnx.check.calls import check_call
from sonnx.model.call import call
from sonnx.model.rule import Broken, Shown
from sonnx.operators import CLIP, CONV

CLEAN = call("Clip", {"input": "float[2]", "min": "float[]", "max": "float[]"})


def test_a_clean_call_has_no_findings() -> None:
    assert check_call(CLIP, CLEAN) == ()


def test_a_finding_holds_rule_values_help_page_and_place() -> None:
    wrong = call("Clip", {"input": "float[2]", "min": "float[1]", "max": "float[]"})
    (finding,) = check_call(CLIP, wrong, "net.onnx: node 0")
    assert finding.rule == "clip.min.D2"
    assert finding.statement == "`min` must have the empty shape."
    assert finding.operator == "Clip"
    assert finding.values == (Shown("min", "float[1]"),)
    assert finding.help == "give `min` the empty shape: a single value, not a list of one"
    assert finding.page == "operators/clip.md#clip-min-d2"
    assert finding.location == "net.onnx: node 0"


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
