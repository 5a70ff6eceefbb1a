"""Rules made from a contract's data: their texts, examples and predicates, for operators made up here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.loops import for_each

from sonnx.check.calls import check_call
from sonnx.model.dtype import ALL, IEEE, INTEGERS, SIGNED, UNSIGNED, DType
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.operators.onnx.add.contract import CONTRACT as ADD
from sonnx.operators.onnx.hard_sigmoid.contract import CONTRACT as HARD_SIGMOID
from sonnx.operators.onnx.hard_swish.contract import CONTRACT as HARD_SWISH
from sonnx.operators.onnx.max.contract import CONTRACT as MAX
from sonnx.operators.onnx.relu.contract import CONTRACT as RELU
from sonnx.operators.rules.amending import amendments
from sonnx.operators.rules.contracts import elementwise, moving
from sonnx.operators.rules.element_types import in_words
from sonnx.operators.rules.made_outputs import made_shapes
from sonnx.operators.rules.operands import Extents, sizes
from sonnx.operators.rules.values import as_float, held_by_float
from sonnx.terms.term import DefinitionError
from sonnx.vocabulary.call import ABSENT, Call, call
from sonnx.vocabulary.integers import Axes, Integers, Order, Sizes
from sonnx.vocabulary.operator import (
    Attribute,
    Contract,
    ExpandOperand,
    FillOperand,
    Operand,
    Operator,
    WriteAttribute,
)
from sonnx.vocabulary.rule import Rule

pytestmark = pytest.mark.measured

# Names that ONNX will never have.
BLEND = elementwise(
    "Blend",
    versions=(13,),
    summary="Made up.",
    inputs=[
        Operand("choice", "C", "which", (DType.BOOL,)),
        Operand("X", "X", "one"),
        Operand("Y", "Y", "other"),
        Operand("share", "s", "how much", form="scalar", optional_in_onnx=True, default_in_onnx=1),
    ],
    output=Operand("Z", "Z", "the blend"),
    types=(DType.REAL, *IEEE),
    ruling="D-BLEND",
    attributes=[
        Attribute("gain", "float", "a factor", default_in_onnx=0.1),
        Attribute("steps", "integer", "a number"),
        Attribute("mode", "text", "a word", default="soft"),
    ],
    dense=True,
    words={"one shape": {"identifier": "blend.R1"}},
)
BELOW = elementwise(
    "IsBelow",
    versions=(13,),
    summary="Made up.",
    inputs=[Operand("A", "A", "one"), Operand("B", "B", "other")],
    output=Operand("C", "C", "where one is below the other", (DType.BOOL,)),
    types=(DType.INT8,),
    ruling="D-BELOW",
)


def _turned(data: Extents, turns: tuple[int, ...]) -> Extents:
    return tuple(data[axis] for axis in turns)


TURN = moving(
    "Turn",
    versions=(13,),
    summary="Made up.",
    inputs=[
        Operand("data", "X", "elements"),
        Operand("turns", "t", "axes", (DType.INT64,), constant=True, holds=Axes("data", "every")),
    ],
    output=Operand("turned", "Y", "the same elements"),
    shape=_turned,
    good=call("Turn", {"data": "float[2,3]", "turns": "int64[2]"}, constants={"turns": (1, 0)}),
    ruling="D-TURN",
    types=(*IEEE, *INTEGERS),
)
MADE = {each.name: each for each in (BLEND, BELOW, TURN, RELU, ADD, MAX, HARD_SIGMOID, HARD_SWISH)}
RULES = [(contract, rule) for contract in MADE.values() for rule in contract.rules]


def rule_of(contract: Contract, made_from: str) -> Rule:
    (found,) = (rule for rule in contract.rules if rule.made_from == made_from)
    return found


def broken(contract: Contract, given: Call) -> list[str]:
    return [finding.rule for finding in check_call(Operator(contract), given)]


@pytest.mark.parametrize(("contract", "rule"), RULES, ids=[rule.identifier for _, rule in RULES])
def test_the_failing_example_breaks_that_rule_alone_and_the_passing_one_none(
    contract: Contract, rule: Rule
) -> None:
    assert broken(contract, rule.failing) == [rule.identifier]
    assert broken(contract, rule.passing) == []
    assert rule.statement.endswith(".")
    assert rule.reason.endswith(".")
    assert rule.made_from


@pytest.mark.parametrize("contract", MADE.values(), ids=list(MADE))
def test_no_identifier_is_used_twice(contract: Contract) -> None:
    identifiers = [rule.identifier for rule in contract.rules]
    assert len(set(identifiers)) == len(identifiers)


def test_the_rules_of_an_operator_of_one_operand() -> None:
    assert {rule.identifier: rule.statement for rule in RELU.rules} == {
        "relu.X.D1": "`X` must be real, a signed integer of 8 to 64 bits, float16, float or double.",
        "relu.X.D9": "`X` must have a type of the version that the model uses: int8, int16, int32, int64 "
        "from version 14 on.",
        "relu.Y.D1": "`Y` must have the shape of `X`.",
        "relu.Y.D2": "`Y` must have the element type of `X`.",
    }
    assert RELU.rules[0].ruling == "D-RELU"
    assert RELU.rules[0].reason == "D-RELU says what Relu does with these types, and no ruling with others."


def test_the_rules_of_an_operator_of_two_operands() -> None:
    assert {rule.identifier: (rule.statement, rule.ruling) for rule in ADD.rules} == {
        "add.A.D1": (
            "`A` must be real, a signed or unsigned integer of 8 to 64 bits, float16, float or double.",
            "D-ADD",
        ),
        "add.B.D1": ("`B` must have the element type of `A`.", "D-ALL-3"),
        "add.D1": ("`A` and `B` must have one shape.", "D-ALL-5"),
        "add.D2": ("Shapes must be equal even where they could be broadcast to one another.", "D-ALL-5"),
        "add.A.D9": (
            "`A` must have a type of the version that the model uses: int8, int16, uint8, uint16 from "
            "version 14 on.",
            "D-ALL-3",
        ),
        "add.C.D1": ("`C` must have the shape of the inputs.", "D-ALL-3"),
        "add.C.D2": ("`C` must have the element type of `A`.", "D-ALL-3"),
    }


def test_the_rules_of_an_operator_of_any_number_of_operands() -> None:
    assert [rule.identifier for rule in MAX.rules] == [
        *(
            "max.data_.D1",
            "max.data_.D2",
            "max.data_.D3",
            "max.D1",
            "max.D2",
            "max.D3",
            "max.max.D1",
            "max.max.D2",
        )
    ]
    three = {"data_0": "float[2]", "data_1": "double[2]", "data_2": "float[2]"}
    assert broken(MAX, call("Max", three)) == ["max.data_.D2"]
    assert broken(MAX, call("Max", {"data_0": "int8[2,3]"})) == []
    assert broken(MAX, call("Max", {"data_0": "bool[2]", "data_1": "bool[2]"})) == ["max.data_.D1"]
    assert broken(MAX, call("Max", {"data_0": "int8[2]", "data_1": "int8[3]", "data_2": "int8[2]"})) == [
        "max.D1"
    ]
    assert MAX.output_types(call("Max", {"data_0": "int8[2,3]"})) == {"max": tensor_type("int8[2,3]")}
    assert MAX.output_types(call("Max", {})) == {"max": TensorType(None, None)}
    unlike = call("Max", {"data_0": "int8[2]", "data_1": "float[3]"})
    assert MAX.output_types(unlike) == {"max": TensorType(None, None)}
    # A gap is a matter of the general rules; nothing is read beyond it.
    assert MAX.output_types(call("Max", {"data_0": "int8[2]", "data_2": "int8[3]"})) == {
        "max": tensor_type("int8[2]")
    }


def test_findings_say_what_to_do() -> None:
    advice = {
        made_from: found.help
        for made_from in ("types of choice", "type of Y", "share given", "shape of share", "value of gain")
        if (found := rule_of(BLEND, made_from).predicate(rule_of(BLEND, made_from).failing))
    }
    assert advice == {
        "types of choice": "give a bool tensor, for example the result of a comparison",
        "type of Y": "give `Y` the type float; no operand is converted",
        "share given": "write `share`, if need be 1",
        "shape of share": "give `share` the empty shape: a single value, not a list of one",
        "value of gain": "write a finite number",
    }
    shapes = [
        found.help
        for sizes in ("[2,3]", "[1,3]", "[4,3]")
        if (found := rule_of(BLEND, "one shape").predicate(_blend(Y=f"float{sizes}")))
        or (found := rule_of(BLEND, "no broadcasting").predicate(_blend(Y=f"float{sizes}")))
    ]
    assert shapes == ["expand every input to [2, 3] first, with Expand", "give all three inputs one shape"]
    number = rule_of(BLEND, "value of gain").predicate(_blend({"gain": 0.1}))
    assert number is not None
    assert number.help == "write the float nearest to it, 0.10000000149011612"
    number = rule_of(BLEND, "value of steps").predicate(_blend({"steps": 0.5}))
    assert number is not None
    assert number.help == "write an integer of 64 bits"
    declared = rule_of(BELOW, "type of C")
    assert declared.statement == "`C` must be of type bool."
    wrong = declared.predicate(call("IsBelow", {"A": "int8[2]", "B": "int8[2]"}, outputs={"C": "int8[2]"}))
    assert wrong is not None
    assert wrong.help == "declare `C` with type bool"
    for contract, names in ((ADD, "A B"), (MAX, "data_0 data_1 data_2 data_3")):
        unlike = call(contract.name, {name: f"float[{n + 2}]" for n, name in enumerate(names.split())})
        said = rule_of(contract, "one shape").predicate(unlike)
        assert said is not None
        assert said.help == f"give {'both' if contract is ADD else 'all'} inputs one shape"


def _blend(attributes: dict[str, object] | None = None, **inputs: str) -> Call:
    given = {"choice": "bool[2,3]", "X": "float[2,3]", "Y": "float[2,3]", "share": "float[]", **inputs}
    written = {"gain": 0.5, "steps": 1, "mode": "soft", **(attributes or {})}
    return call("Blend", given, written)


def test_a_shape_that_is_not_known_is_no_target() -> None:
    found = rule_of(BLEND, "no broadcasting").predicate(_blend(choice="bool[n,3]", X="float[1,3]"))
    assert found is not None
    assert found.help == "expand every input to one shape first, with Expand"


def test_the_output_has_the_one_type_and_the_one_shape_as_far_as_they_are_known() -> None:
    assert BLEND.output_types(_blend()) == {"Z": tensor_type("float[2,3]")}
    named = _blend(choice="bool[n,3]", X="float[n,3]", Y="float[n,3]")
    assert BLEND.output_types(named) == {"Z": tensor_type("float[n,3]")}
    vague = _blend(choice="bool[?,3]", X="float[?,3]", Y="float[?,3]")
    assert BLEND.output_types(vague) == {"Z": TensorType(DType.FLOAT, None)}
    assert BLEND.output_types(_blend(Y="double[4,3]")) == {"Z": TensorType(None, None)}
    assert BELOW.output_types(call("IsBelow", {"A": "int8[2]", "B": "int8[2]"})) == {
        "C": tensor_type("bool[2]")
    }
    assert RELU.output_types(call("Relu", {"X": "float[?,3]"})) == {"Y": tensor_type("float[?,3]")}


def test_a_declared_output_of_an_open_shape_contradicts_nothing() -> None:
    given = replace(_blend(), outputs={"Z": tensor_type("float[n,3]")})
    assert rule_of(BLEND, "shape of Z").predicate(given) is None


def test_an_operator_may_say_a_rule_in_its_own_words_and_speaks_of_it_first() -> None:
    assert BLEND.rules[0].identifier == "blend.R1"
    assert BLEND.rules[1].made_from == "dense"
    with pytest.raises(ValueError, match="no rule is made from two shapes"):
        elementwise(
            "Blend",
            versions=(),
            summary="",
            inputs=[Operand("X", "X", "")],
            output=Operand("Y", "Y", ""),
            types=ALL,
            ruling="",
            words={"two shapes": {}},
        )


def test_a_sparse_tensor_is_refused_once_by_the_rule_that_says_it_better() -> None:
    assert broken(BLEND, _blend(X="sparse float[2,3]")) == ["blend.D3"]
    assert broken(ADD, call("Add", {"A": "sparse float[2]", "B": "float[2]"})) == ["general.R4"]


def test_all_types_need_no_rule() -> None:
    same = elementwise(
        "Same",
        versions=(),
        summary="",
        inputs=[Operand("X", "X", "")],
        output=Operand("Y", "Y", ""),
        types=ALL,
        ruling="D-SAME",
    )
    assert [rule.made_from for rule in same.rules] == ["shape of Y", "type of Y"]


def test_types_in_words() -> None:
    assert in_words((DType.BOOL,)) == "of type bool"
    assert in_words(UNSIGNED) == "an unsigned integer of 8 to 64 bits"
    assert in_words((DType.FLOAT, *UNSIGNED)) == "an unsigned integer of 8 to 64 bits or float"
    assert in_words((*SIGNED, DType.UINT8)) == "a signed integer of 8 to 64 bits or uint8"
    assert in_words((DType.REAL, *INTEGERS)) == "real or a signed or unsigned integer of 8 to 64 bits"


def test_a_move_has_constant_operands_and_keeps_bits() -> None:
    assert [rule.identifier for rule in TURN.rules] == [
        *(
            "turn.data.D1",
            "turn.turns.D1",
            "turn.turns.D2",
            "turn.turns.D3",
            "turn.turns.D4",
        ),
        *("turn.turned.D1", "turn.turned.D2"),
    ]
    assert rule_of(TURN, "turns constant").ruling == "D-ALL-13"
    assert rule_of(TURN, "type of turned").reason == "Elements are copied bit for bit."
    good = rule_of(TURN, "turns constant").passing
    assert TURN.output_types(good) == {"turned": tensor_type("float[3,2]")}
    assert broken(TURN, replace(good, inputs={**good.inputs, "turns": tensor_type("int64[1,2]")})) == [
        "turn.turns.D1"
    ]
    assert TURN.output_types(replace(good, constants={}))["turned"].shape is None
    assert list(made_shapes(lambda call: {"Y": (3, 2)})(good)) == [(3, 2)]
    assert list(made_shapes(lambda call: None)(good)) == []
    assert list(made_shapes(lambda call: {"Y": (None,)})(good)) == []


def _axes(order: Order, value: Any, *, least: int = 0, from_the_end: bool = False) -> Contract:
    """A move with one attribute `axes` of data[2,3,4]."""
    holds = Axes("data", order, least, from_the_end)
    return moving(
        "Move",
        versions=(13,),
        summary="Made up.",
        inputs=[Operand("data", "X", "elements")],
        output=Operand("moved", "Y", "the same elements"),
        attributes=[Attribute("axes", "integers", "axes", holds=holds)],
        shape=lambda data, axes: data,
        good=call("Move", {"data": "float[2,3,4]"}, {"axes": value}),
        ruling="D-MOVE",
    )


@pytest.mark.parametrize(
    "holds", [Sizes(), Sizes("data"), Axes("data", added=True)], ids=["sizes", "as many elements", "added"]
)
def test_a_move_whose_result_may_grow_says_how_it_is_too_large(holds: Integers) -> None:
    with pytest.raises(
        DefinitionError, match=r"^results of Grow .* as `held` says; write too_large=call\(...\)"
    ):
        moving(
            "Grow",
            versions=(13,),
            summary="Made up.",
            inputs=[Operand("data", "X", "elements")],
            output=Operand("moved", "Y", "the same elements"),
            attributes=[Attribute("held", "integers", "axes or sizes", holds=holds)],
            shape=lambda data, held: data,
            good=call("Grow", {"data": "float[1]"}, {"held": ()}),
            ruling="D-GROW",
        )


AXES = {
    "one": _axes("one", 1),
    "one from either end": _axes("one", -1, from_the_end=True),
    "some": _axes("apart", (0, 2)),
    "some from either end": _axes("apart", (-1, 0), least=1, from_the_end=True),
    "neighbours": _axes("neighbours", (0, 1), least=1),
    "every": _axes("every", (0, 2, 1)),
}
SAID = {
    "one": ["`axes` must be an integer from 0 up to, but not including, the rank of `data`."],
    "one from either end": [
        "`axes` must be an integer from -r up to, but not including, r, the rank of `data`."
    ],
    "some": [
        "`axes` must be a list of integers.",
        "`axes` must lie from 0 up to, but not including, the rank of `data`.",
        "`axes` must name no axis twice.",
    ],
    "some from either end": [
        "`axes` must be a list of integers, at least one.",
        "`axes` must lie from -r up to, but not including, r, the rank of `data`.",
        "`axes` must name no axis twice.",
    ],
    "neighbours": [
        "`axes` must be a list of integers, at least one.",
        "`axes` must lie from 0 up to, but not including, the rank of `data`.",
        "`axes` must be neighbours in rising order: each is the one before it plus 1.",
    ],
    "every": [
        "`axes` must be a list of integers.",
        "`axes` must lie from 0 up to, but not including, the rank of `data`.",
        "`axes` must name every axis of `data` once.",
    ],
}
# What is written, and by their numbers the rules that it breaks.
BREAKS = [
    *(("one", each, []) for each in (0, 2, np.int64(1))),
    *(("one", each, [1]) for each in (3, -1, 1.0, True, (1,), "1", None, 2**70)),
    *(("one from either end", each, []) for each in (-3, 2)),
    *(("one from either end", each, [1]) for each in (-4, 3)),
    *(("some", each, []) for each in ((), (2,), (2, 0), [1, 0], np.array([1]))),
    *(("some", each, [1]) for each in (1, (1.5,), (True,), "01", None)),
    *(("some", each, [2]) for each in ((3,), (-1,), (3, 3))),
    ("some", (1, 1), [3]),
    *(("some from either end", each, []) for each in ((-1, 1), (2, -2))),
    ("some from either end", (), [1]),
    ("some from either end", (-4,), [2]),
    ("some from either end", (2, -1), [3]),
    *(("neighbours", each, []) for each in ((1,), (1, 2), (0, 1, 2))),
    *(("neighbours", each, [3]) for each in ((1, 0), (0, 2), (1, 1))),
    ("neighbours", (2, 3), [2]),
    ("neighbours", (4, 3), [2, 3]),
    *(("every", each, []) for each in ((0, 1, 2), (2, 0, 1))),
    *(("every", each, [3]) for each in ((), (0, 1), (0, 1, 1), (0, 1, 2, 0))),
    ("every", (1, 2, 3), [2]),
]


@for_each(("which", "written", "numbers"), BREAKS)
def test_axes_are_there_and_stand_in_the_order_that_the_data_say(
    which: str, written: Any, numbers: list[int]
) -> None:
    asked = call("Move", {"data": "float[2,3,4]"}, {"axes": written})
    assert broken(AXES[which], asked) == [f"move.axes.D{number}" for number in numbers]


@pytest.mark.parametrize("which", AXES)
def test_rules_on_axes_say_what_they_ask_for_and_have_examples(which: str) -> None:
    made = [rule for rule in AXES[which].rules if rule.identifier.startswith("move.axes.")]
    assert [rule.statement for rule in made] == SAID[which]
    for rule in made:
        assert broken(AXES[which], rule.failing) == [rule.identifier]
        assert broken(AXES[which], rule.passing) == []


def test_axes_are_shown_with_the_tensor_that_has_them() -> None:
    def help_of(which: str, data: str, written: Any) -> str:
        (finding,) = check_call(Operator(AXES[which]), call("Move", {"data": data}, {"axes": written}))
        return finding.help

    assert help_of("one", "float[2,3]", 5) == "name an axis from 0 to 1"
    assert help_of("one from either end", "float[2,3]", 5) == "name an axis from -2 to 1"
    assert help_of("some", "float[2]", (5,)) == "name axes from 0 to 0"
    assert help_of("some", "float[]", (0,)) == "a scalar has no axis; leave it as it is"
    assert help_of("every", "float[2,3]", (0, 0)) == "write the number of each axis once"
    # Of a shape that is not known nothing is asked, and what is not written has a rule of its own.
    assert broken(AXES["every"], call("Move", {"data": "float"}, {"axes": (5, 5)})) == ["general.R2"]
    assert broken(AXES["every"], call("Move", {"data": "float[2]"})) == ["general.R1"]


@pytest.mark.parametrize("value", [0.5, -2.0, np.float32(0.1), 2.0**-149, 2.0**127])
def test_a_number_that_a_float_holds_is_taken(value: object) -> None:
    assert held_by_float(value)
    assert broken(HARD_SIGMOID, _sigmoid(alpha=value)) == []


@pytest.mark.parametrize(
    "value",
    [0.1, 1, np.int8(3), "0.5", True, None, float("nan"), float("inf"), 1e39, 10**400, 2**24 + 1, (1.0,)],
)
def test_anything_else_is_refused(value: object) -> None:
    assert not held_by_float(value)
    assert broken(HARD_SIGMOID, _sigmoid(alpha=value)) == ["hard_sigmoid.alpha.D1"]


def _sigmoid(**attributes: object) -> Call:
    return call("HardSigmoid", {"X": "float[2]"}, {"alpha": 0.5, "beta": 0.5, **attributes})


def test_a_file_keeps_the_nearest_float() -> None:
    assert as_float(0.1) == float(np.float32(0.1))
    assert as_float(1e39) == float("inf")
    assert as_float("text") == "text"
    assert as_float(10**400) == 10**400


def test_an_absent_attribute_is_a_finding_of_its_own() -> None:
    assert broken(HARD_SIGMOID, _sigmoid(alpha=ABSENT)) == ["general.R1"]


def test_defaults_are_written_as_a_file_keeps_them() -> None:
    found = amendments(Operator(BLEND), _blend({"gain": ABSENT, "steps": ABSENT}))
    why = "ONNX's default for an absent `gain`"
    assert found == (WriteAttribute("gain", float(np.float32(0.1)), why, "general.R1"),)
    found = amendments(Operator(HARD_SIGMOID), call("HardSigmoid", {"X": "float[2]"}))
    assert [(each.name, each.value) for each in found if isinstance(each, WriteAttribute)] == [
        ("alpha", 0.20000000298023224),
        ("beta", 0.5),
    ]


def test_a_default_may_depend_on_the_call_and_be_unknown() -> None:
    attribute = Attribute(
        "ends", "integers", "ends", default_in_onnx=lambda call: sizes(call, "X"), default_because="all of it"
    )
    contract = replace(RELU, attributes=(attribute,))
    found = amendments(Operator(contract), call("Relu", {"X": "float[2,3]"}))
    assert found == (WriteAttribute("ends", (2, 3), "all of it", "general.R1"),)
    assert amendments(Operator(contract), call("Relu", {"X": "float[n,3]"})) == ()


def test_an_absent_operand_is_the_constant_that_stands_for_it() -> None:
    given = _blend()
    without = replace(given, inputs={name: kind for name, kind in given.inputs.items() if name != "share"})
    (found,) = amendments(Operator(BLEND), without)
    assert isinstance(found, FillOperand)
    assert (found.name, str(found.type), found.value.dtype, found.value[()]) == (
        "share",
        "float[]",
        np.float32,
        1,
    )
    assert (found.why, found.rule) == ("absent, it is 1", rule_of(BLEND, "share given").identifier)
    # Which constant it would be in the reals, or of a type that is not known, nobody can say.
    for X in ("real[2,3]", "?[2,3]"):
        unknown = replace(without, inputs={**without.inputs, "X": tensor_type(X), "Y": tensor_type(X)})
        assert amendments(Operator(BLEND), unknown) == ()


@pytest.mark.parametrize(("end", "float_end", "int_end"), [("lowest", -65504, -128), ("highest", 65504, 127)])
def test_the_ends_of_a_range_are_finite(end: str, float_end: int, int_end: int) -> None:
    bound = Operand("end", "e", "", form="scalar", optional_in_onnx=True, default_in_onnx=end)  # type: ignore[arg-type]  # a text of the table
    contract = elementwise(
        "Cap",
        versions=(),
        summary="",
        inputs=[Operand("X", "X", ""), bound],
        output=Operand("Y", "Y", ""),
        types=(*IEEE, *INTEGERS),
        ruling="",
    )
    for dtype, expected in (("float16", float_end), ("int8", int_end)):
        (found,) = amendments(Operator(contract), call("Cap", {"X": f"{dtype}[2]"}))
        assert isinstance(found, FillOperand)
        assert found.value[()] == expected
        assert found.why == f"absent, it is the {end} finite {dtype}"


def test_broadcasting_becomes_visible_for_every_operator_element_by_element() -> None:
    found = amendments(Operator(ADD), call("Add", {"A": "float[2,1]", "B": "float[3]"}))
    why = "broadcasting inside Add made visible"
    assert found == (ExpandOperand("A", (2, 3), why, "add.D2"), ExpandOperand("B", (2, 3), why, "add.D2"))
    three = call("Max", {"data_0": "float[2,3]", "data_1": "float[]", "data_2": "float[2,3]"})
    (one,) = amendments(Operator(MAX), three)
    assert one == ExpandOperand("data_1", (2, 3), "broadcasting inside Max made visible", "max.D2")
    for inputs in ({"A": "float[2]", "B": "float[n]"}, {"A": "float[2]", "B": "float[3]"}):
        assert amendments(Operator(ADD), call("Add", inputs)) == ()
    # A scalar that serves all elements is no matter of broadcasting.
    assert amendments(Operator(BLEND), _blend()) == ()


def test_of_thousands_of_operands_few_are_shown() -> None:
    many = {f"data_{n}": "float[2]" for n in range(2000)}
    for made_from, other in {
        "types of data_": "bool[2]",
        "type of data_": "double[2]",
        "one shape": "float[3]",
        "no broadcasting": "float[1]",
    }.items():
        wrong = {**many, **{f"data_{n}": other for n in range(1000, 2000)}}
        found = rule_of(MAX, made_from).predicate(call("Max", wrong))
        assert found is not None
        assert len(found.values) <= 3
        assert found.values[-1].value == other


def test_no_hundreds_of_tensors_are_combined() -> None:
    kind = tensor_type("float[3]")
    few = Call("Max", {f"data_{m}": kind for m in range(32)})
    assert broken(MAX, few) == []
    many = Call("Max", {f"data_{m}": kind for m in range(33)})
    assert broken(MAX, many) == ["max.D3"]
