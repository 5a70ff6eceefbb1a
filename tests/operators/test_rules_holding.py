"""Rules on sizes of as many elements, divisors, choices, axes that come and go, versions of attributes."""

from dataclasses import replace
from typing import Any

import pytest
from tests.derive.moves_made_up import BLOCKS, DROP, DROP_ONE, EVERY, GATHERED, GROW, LEVEL, REFORM, REGROUP
from tests.loops import for_each

from sonnx.check.calls import check_call, check_node_call
from sonnx.model.location import Location
from sonnx.operators.rules.amending import amendments
from sonnx.vocabulary.call import ABSENT, Call, call
from sonnx.vocabulary.operator import Operator, WriteAttribute

pytestmark = pytest.mark.measured

RULES = [(op, rule) for op in EVERY.values() for rule in op.contract.rules]
HERE = Location("node", "n")


def broken(operator: Operator, given: Call) -> list[str]:
    return [finding.rule for finding in check_call(operator, given)]


@for_each(("operator", "rule"), RULES, ids=[rule.identifier for _, rule in RULES])
def test_the_failing_example_breaks_that_rule_alone_and_the_passing_one_none(
    operator: Operator, rule: Any
) -> None:
    assert broken(operator, rule.failing) == [rule.identifier]
    assert broken(operator, rule.passing) == []
    for example in (rule.failing, rule.passing):
        for name, held in example.constants.items():
            assert example.inputs[name].sizes == (len(held),)


def test_what_the_rules_say() -> None:
    said = {rule.identifier: rule.statement for op in EVERY.values() for rule in op.contract.rules}
    # Of integers in an operand nothing says that they are integers.
    assert {
        name: text for name, text in said.items() if ".moved." not in name and ".data.D1" not in name
    } == {
        "regroup.shape.D1": "`shape` must be an int64 tensor of rank 1.",
        "regroup.shape.D2": "The elements of `shape` must be constants.",
        "regroup.shape.D3": "The elements of `shape` must be integers from 0 up.",
        "regroup.shape.D4": "The product of the sizes in `shape` must be the number of elements of `data`.",
        "regroup.late.D9": "`late` must not be written in a version of the operator before 14.",
        "regroup.late.D1": "`late` must be an integer of 64 bits.",
        "reform.shape.D1": "`shape` must be a list of integers from 0 up.",
        "reform.shape.D2": "The product of the sizes in `shape` must be the number of elements of `data`.",
        "level.axis.D1": "`axis` must be an integer from -r up to r, the rank of `data`.",
        "drop.axes.D1": "`axes` must be an int64 tensor of rank 1.",
        "drop.axes.D2": "The elements of `axes` must be constants.",
        "drop.axes.D3": "`axes` must lie from 0 up to, but not including, the rank of `data`.",
        "drop.axes.D4": "`axes` must name no axis twice.",
        "drop.axes.D5": "`axes` must name axes of size 1.",
        "drop_one.axis.D1": "`axis` must be an integer from 0 up to, but not including, the rank of `data`.",
        "drop_one.axis.D2": "`axis` must name an axis of size 1.",
        "grow.axes.D1": "`axes` must be a list of integers.",
        "grow.axes.D2": "`axes` must lie from 0 up to, but not including, the rank of the result: that of "
        "`data`, and one more for each.",
        "grow.axes.D3": "`axes` must name no axis twice.",
        "blocks.data.D2": "`data` must have rank 4: batch, channel, line, column.",
        "blocks.blocksize.D1": "`blocksize` must be an integer from 1 up.",
        "blocks.blocksize.D2": "The square of `blocksize` must divide the size of axis 1 of `data`.",
        "blocks.order.D1": "`order` must be `far` or `near`.",
        "gathered.data.D2": "`data` must have rank 2: line, column.",
        "gathered.parts.D1": "`parts` must be an integer from 1 up.",
        "gathered.parts.D2": "`parts` must divide the sizes of axes 0 and 1 of `data`.",
        "gathered.kind.D1": "`kind` must be 0 or 1.",
    }


# The operator, the operand's type, what is written, and the rules that this breaks.
BREAKS: list[tuple[Operator, str, dict[str, Any], list[str]]] = [
    *((REFORM, "float[2,6]", {"shape": each}, []) for each in ((12,), (3, 4), (1, 12, 1), [2, 6])),
    *((REFORM, "float[2,6]", {"shape": each}, ["reform.shape.D2"]) for each in ((), (11,), (0, 12))),
    *((REFORM, "float[2,6]", {"shape": each}, ["reform.shape.D1"]) for each in ((-1, -12), 12, (1.5, 8))),
    (REFORM, "float[0,6]", {"shape": (3, 0)}, []),
    (REFORM, "float[n,6]", {"shape": (5,)}, ["general.R2"]),
    *((LEVEL, "float[2,3]", {"axis": each}, []) for each in (0, 1, 2, -1, -2)),
    *((LEVEL, "float[2,3]", {"axis": each}, ["level.axis.D1"]) for each in (3, -3, 0.5)),
    *((LEVEL, "float[]", {"axis": each}, []) for each in (0,)),
    *((GROW, "float[2,3]", {"axes": each}, []) for each in ((), (2,), (3, 0), (0, 1, 2))),
    *((GROW, "float[2,3]", {"axes": each}, ["grow.axes.D2"]) for each in ((3,), (-1,), (0, 4))),
    (GROW, "float[2,3]", {"axes": (1, 1)}, ["grow.axes.D3"]),
    (GROW, "float[]", {"axes": (0,)}, []),
    *((DROP_ONE, "float[2,1,3]", {"axis": each}, ["drop_one.axis.D2"]) for each in (0, 2)),
    (DROP_ONE, "float[?,1]", {"axis": 0}, ["general.R2"]),
    (DROP_ONE, "float[2]", {"axis": 1}, ["drop_one.axis.D1"]),
    *((BLOCKS, "float[1,4,1,1]", {"blocksize": each, "order": "near"}, []) for each in (1, 2)),
    (BLOCKS, "float[1,0,1,1]", {"blocksize": 5, "order": "near"}, []),
    (BLOCKS, "float[1,8,1,1]", {"blocksize": 4, "order": "near"}, ["blocks.blocksize.D2"]),
    (BLOCKS, "float[1,n,1,1]", {"blocksize": 4, "order": "near"}, ["general.R2"]),
    (BLOCKS, "float[8,1,1]", {"blocksize": 2, "order": "near"}, ["blocks.data.D2"]),
    *(
        (BLOCKS, "float[1,8,1,1]", {"blocksize": each, "order": "far"}, ["blocks.blocksize.D1"])
        for each in (0, -1, 1.0, "2")
    ),
    *(
        (BLOCKS, "float[1,4,1,1]", {"blocksize": 1, "order": each}, ["blocks.order.D1"])
        for each in (0, "x", ())
    ),
    (BLOCKS, "float[1,4,1,1]", {"blocksize": 1}, ["general.R1"]),
    (BLOCKS, "float[1,4,1,1]", {"order": "far"}, ["general.R1"]),
    (GATHERED, "float[4,6]", {"parts": 4, "kind": 1}, ["gathered.parts.D2"]),
    (GATHERED, "float[4,6]", {"parts": 1, "kind": 2}, ["gathered.kind.D1"]),
    (GATHERED, "float[4,6]", {"parts": 1, "kind": True}, ["gathered.kind.D1"]),
]


@for_each(("operator", "data", "written", "expected"), BREAKS)
def test_what_is_written_obeys_or_breaks_one_rule(
    operator: Operator, data: str, written: dict[str, Any], expected: list[str]
) -> None:
    assert broken(operator, call(operator.name, {"data": data}, written)) == expected


def test_findings_say_what_would_be_right() -> None:
    def help_of(operator: Operator, data: str, **written: Any) -> str:
        (found,) = check_call(operator, call(operator.name, {"data": data}, written))
        return found.help

    assert help_of(REFORM, "float[2,6]", shape=(11,)) == "write sizes whose product is 12"
    assert help_of(LEVEL, "float[2,6]", axis=5) == "name an axis from -2 to 2"
    assert help_of(GROW, "float[2]", axes=(5,)) == "name axes from 0 to 1"
    assert help_of(DROP_ONE, "float[2,3]", axis=1) == "name axes of size 1 alone"
    assert help_of(BLOCKS, "float[1,6,1,1]", blocksize=2, order="far") == (
        "give axis 1 of `data` a size that 4 divides"
    )
    assert help_of(GATHERED, "float[4,5]", parts=3, kind=0) == (
        "give axes 0 and 1 of `data` sizes that 3 divides"
    )
    assert help_of(BLOCKS, "float[1,4,1,1]", blocksize=2, order="x") == "write `far` or `near`"


def _regrouped(version: int | None, **written: Any) -> Call:
    good = call("Regroup", {"data": "float[2,3]", "shape": "int64[1]"}, written, constants={"shape": (6,)})
    return replace(good, version=version)


def test_an_attribute_is_not_there_before_its_version() -> None:
    def findings(given: Call) -> list[tuple[str, str]]:
        return [(found.rule, found.help) for found in check_node_call(REGROUP, given, HERE)]

    assert findings(_regrouped(13)) == findings(_regrouped(14, late=0)) == []
    assert [rule for rule, _ in findings(_regrouped(14))] == ["general.R1"]
    assert [rule for rule, _ in findings(_regrouped(None))] == ["general.R1"]
    assert findings(_regrouped(13, late=0)) == [
        (
            "regroup.late.D9",
            "convert the model to operator set 14 or later (onnx.version_converter), or leave it out, which "
            "means 0",
        )
    ]


def test_normalizing_writes_an_attribute_from_its_version_on() -> None:
    wrote = WriteAttribute("late", 0, "ONNX's default for an absent `late`", "general.R1")
    assert amendments(REGROUP, _regrouped(13)) == ()
    assert amendments(REGROUP, _regrouped(14)) == (wrote,)
    assert amendments(REGROUP, _regrouped(14, late=ABSENT)) == (wrote,)


def test_a_shape_follows_where_an_attribute_is_not_there_yet() -> None:
    (kind,) = REGROUP.contract.output_types(_regrouped(13)).values()
    assert kind.sizes == (6,)
    assert REGROUP.contract.whole({"shape": 1}) == {"late": 0, "shape": 1}
    assert REGROUP.contract.whole({"late": 1}) == {"late": 1}
    assert DROP.contract.whole({"a": 1}) == {"a": 1}
