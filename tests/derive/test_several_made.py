"""A move that makes any number of tensors, through every walk; its name ONNX will never have."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.emit.support import assert_passes, fold, make, needs_gcc

import sonnx
from sonnx.check.calls import check_call
from sonnx.check.inference import inferred_types
from sonnx.conformance.judge import judge
from sonnx.conformance.subjects import Subject
from sonnx.derive import calls, forms, why3_tensors
from sonnx.derive.clauses import clauses
from sonnx.derive.evaluate import evaluate
from sonnx.derive.formula import formula
from sonnx.derive.general import general
from sonnx.derive.trials import drawn, trials
from sonnx.emit.project import project, write_folder
from sonnx.evaluate.execution import Settings, execute
from sonnx.model.dtype import DType
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.native.engine import Executable
from sonnx.numeric.arrays import Array
from sonnx.operators import catalogue
from sonnx.operators.rules.contracts import moving
from sonnx.operators.shared.cases import read_cases
from sonnx.plan.program import program
from sonnx.terms.tensors import Given, Made, tensor
from sonnx.terms.term import DefinitionError
from sonnx.terms.tracing import tensorwise
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.integers import Axes, Parts
from sonnx.vocabulary.kernel import KernelStyle
from sonnx.vocabulary.operator import Attribute, Operand, Operator
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured


def part_shapes(data: Sequence[Any], axis: int, lengths: Sequence[int]) -> list[tuple[Any, ...]]:
    return [(*data[:axis], length, *data[axis + 1 :]) for length in lengths]


def parted(data: Given, axis: int, lengths: Sequence[int]) -> tuple[Made, ...]:
    """Each part has the elements behind those of the parts before it."""
    found, begin = [], 0
    for shape, length in zip(part_shapes(data.shape, axis, lengths), lengths, strict=True):
        found.append(
            tensor(shape, lambda *i, begin=begin: data[(*i[:axis], i[axis] + begin, *i[axis + 1 :])])
        )
        begin = begin + length
    return tuple(found)


def _good(lengths: tuple[int, ...] = (1, 3), data: str = "float[2,4]") -> Call:
    types = {"data": data, "lengths": f"int64[{len(lengths)}]"}
    return call("SonnxParted", types, {"axis": 1}, constants={"lengths": lengths})


PARTED = Operator(
    moving(
        "SonnxParted",
        versions=(13,),
        summary="Cuts an axis into parts.",
        inputs=[
            Operand("data", "X", "the tensor"),
            Operand(
                "lengths",
                "L",
                "sizes of the parts",
                (DType.INT64,),
                constant=True,
                holds=Parts("data", "axis"),
            ),
        ],
        output=Operand("part", "Y", "the parts, one after the other", variadic=True),
        attributes=[Attribute("axis", "integer", "the axis that is cut", holds=Axes("data", "one"))],
        shape=part_shapes,
        good=_good(),
        # No part is larger than its tensor, so this one is too: it only shows the rule on several outputs.
        too_large=_good((0, 2**16), "float[65536,65536]"),
        ruling="D-PARTED",
    ),
    tensorwise(parted),
)
X = np.array([[1, -0.0, 3, np.nan], [5, 6, 7, 8]], np.float32)
RULES = {rule.identifier.removeprefix("sonnx_parted."): rule for rule in PARTED.contract.rules}


def in_parts(array: Array, lengths: Sequence[int]) -> list[Array]:
    """The columns of a table in parts, one element after the other."""
    found, column = [], 0
    for length in lengths:
        part = np.empty((len(array), length), array.dtype)
        for k in range(length):
            for row in range(len(array)):
                part[row, k] = array[row, column]
            column += 1
        found.append(part)
    return found


def broken(given: Call) -> list[str]:
    return [finding.rule.removeprefix("sonnx_parted.") for finding in check_call(PARTED, given)]


def test_rules_speak_of_every_output() -> None:
    assert list(RULES) == [
        *("lengths.D1", "lengths.D2", "lengths.D3", "lengths.D4", "lengths.D5", "axis.D1"),
        *("part.D1", "part.D2", "part.D3", "part.D4"),
    ]
    assert RULES["lengths.D4"].statement == (
        "The sizes in `lengths` must together be that of the axis `axis` of `data`."
    )
    assert RULES["lengths.D5"].statement == "`lengths` must have at least one element."
    assert RULES["part.D1"].statement == (
        "Each `part` must have the shape that the operands and attributes give."
    )
    assert RULES["part.D2"].statement == "Each `part` must have the element type of `data`."
    assert RULES["part.D3"].statement.startswith("Each output must have fewer than 2^31 elements")
    for name, rule in RULES.items():
        assert broken(rule.failing) == [name]
        assert broken(rule.passing) == []


def declared(**types: str) -> Call:
    return replace(_good(), outputs={name: tensor_type(text) for name, text in types.items()})


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (declared(part0="float[2,1]", part1="float[2,3]"), []),
        (declared(part1="float[2,3]"), []),  # the first one has no name
        (declared(part0="float[2,1]", part1="float[2,4]"), ["part.D1"]),
        (declared(part0="float[2,1]", part1="double[2,3]"), ["part.D2"]),
        (declared(part1="float[2,3]", part2="float[2,0]"), ["part.D4"]),
        (declared(part01="float[2,3]"), ["general.R5"]),
        (declared(rest="float[2,3]"), ["general.R5"]),
        (replace(_good(), constants={"lengths": (2, 3)}), ["lengths.D4"]),
        (replace(_good(), constants={"lengths": (-1, 5)}), ["lengths.D3"]),
        # No part at all, be there elements or not.
        (_good(()), ["lengths.D5"]),
        (_good((), "float[2,0]"), ["lengths.D5"]),
        (_good((0,), "float[2,0]"), []),
        # Whose axis is no axis, or whose sizes are not known, is not asked for its sum.
        (replace(_good(), constants={"lengths": (2, 3)}, attributes={"axis": 2}), ["axis.D1"]),
        (replace(_good(), constants={"lengths": (2, 3)}, attributes={"axis": "1"}), ["axis.D1"]),
    ],
)
def test_each_output_is_held_to_its_own_shape_and_type(given: Call, wanted: list[str]) -> None:
    assert broken(given) == wanted


def test_what_is_told_of_one_output_too_many_is_how_many_there_are() -> None:
    surplus = declared(part0="float[2,1]", part1="float[2,3]", part2="float[2,9]")
    (finding,) = check_call(PARTED, surplus)
    assert finding.help == "name 2 outputs at most"
    assert (finding.values[0].name, finding.values[0].note) == ("part2", "of 2 outputs there is no such one")


@pytest.mark.parametrize(
    ("given", "advice", "shown"),
    [
        (_good((2, 3)), "write sizes that together are 4", {"lengths": "[2, 3]", "data": "float[2,4]"}),
        (_good(()), "write the size of one part at least", {"lengths": "[]"}),
        (
            declared(part0="float[2,2]"),
            "declare `part0` with shape [2, 1]",
            {"part0": "float[2,2]", "data": "float[2,4]", "lengths": "[1, 3]"},
        ),
        (
            declared(part2="float[2,2]"),
            "name 2 outputs at most",
            {"part2": "float[2,2]", "data": "float[2,4]", "lengths": "[1, 3]"},
        ),
    ],
)
def test_findings_show_the_sizes_that_are_written(given: Call, advice: str, shown: dict[str, str]) -> None:
    (finding,) = check_call(PARTED, given)
    assert finding.help == advice
    assert {each.name: each.value for each in finding.values} == shown


def test_the_calls_of_the_page_have_elements_in_every_part_first() -> None:
    first, *others = (each.decided["lengths"] for each in calls.shown(PARTED) if each.attributes["axis"] == 1)
    assert first == (1, 3)
    assert others == [(2, 2), (1, 1, 1, 1), (0, 4), (4, 0)]


def test_types_of_outputs_are_known_as_far_as_their_number_is() -> None:
    made = PARTED.contract.output_types
    assert made(_good((0, 1, 3))) == {
        f"part{m}": tensor_type(f"float[2,{size}]") for m, size in enumerate((0, 1, 3))
    }
    assert made(replace(_good(), constants={})) == {}
    assert made(_good((4,), "float[N,4]"))["part0"].extents == (None, 4)


def model(
    outputs: Sequence[str], lengths: Sequence[int], kinds: Mapping[str, TensorType] | None = None
) -> Graph:
    """One node that cuts x[2,4]; the outputs with a name are the model's."""
    types = {
        name: TensorType(DType.FLOAT, (2, size)) for name, size in zip(outputs, lengths, strict=False) if name
    }
    constant = np.array(lengths, np.int64)
    return Graph(
        "parts",
        (Value("x", tensor_type("float[2,4]")),),
        tuple(Value(name, (kinds or types)[name]) for name in types),
        (Node("SonnxParted", ("x", "l"), tuple(outputs), {"axis": 1}, "cut", version=13),),
        (Constant("l", TensorType(DType.INT64, constant.shape), constant),),
        opsets=(("", 22),),
    )


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue._BY_KEY, PARTED.key, PARTED)


@needs_gcc
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("outputs", "lengths"),
    [(("a", "b"), (1, 3)), (("", "b"), (1, 3)), (("a",), (1, 3)), (("a", "b", "c"), (2, 0, 2))],
)
def test_every_engine_and_both_kinds_of_c_make_the_bits_of_a_loop(
    outputs: tuple[str, ...], lengths: tuple[int, ...], tmp_path: Path
) -> None:
    graph = model(outputs, lengths)
    assert sonnx.Graph.of(graph).check() == ()
    names = [name for name in outputs if name]

    def wanted(given: Mapping[str, Array]) -> Mapping[str, Array]:
        parts = zip(outputs, in_parts(given["x"], lengths), strict=False)
        return {name: part for name, part in parts if name}

    right = {name: part.tobytes() for name, part in wanted({"x": X}).items()}
    planned = program(graph, "separate")
    assert not planned.defines
    for found in (
        execute(graph, {"x": X}, Settings()),
        Executable(planned).run({"x": X}),
        sonnx.Graph.of(graph).run({"x": X}, engine="xla"),
    ):
        assert {name: np.asarray(array).tobytes() for name, array in found.items()} == right
        assert list(found) == names
    styles: tuple[KernelStyle, ...] = ("plain", "fast")
    for style in styles:
        files = project(graph, wanted, version="test", kernels=style, fold=fold)
        write_folder(tmp_path / style, files)
        assert_passes(make(tmp_path / style))


@pytest.mark.usefixtures("known")
def test_a_model_that_names_an_output_too_many_or_of_another_shape_is_refused() -> None:
    def found(graph: Graph) -> set[str]:
        return {finding.rule for finding in sonnx.Graph.of(graph).check()}

    three = {"a": "float[2,1]", "b": "float[2,3]", "c": "float[2,0]"}
    kinds = {name: tensor_type(text) for name, text in three.items()}
    surplus = replace(
        model(("a", "b"), (1, 3)),
        outputs=tuple(Value(name, kind) for name, kind in kinds.items()),
        nodes=(Node("SonnxParted", ("x", "l"), ("a", "b", "c"), {"axis": 1}, "cut", version=13),),
    )
    assert found(surplus) == {"sonnx_parted.part.D4"}
    wrong = model(("", "b"), (1, 3), {"b": tensor_type("float[2,1]")})
    assert found(wrong) == {"sonnx_parted.part.D1"}


@pytest.mark.usefixtures("known")
def test_types_that_a_model_leaves_out_are_written() -> None:
    clip = Node("Relu", ("b",), ("y",), {}, "after", version=14)
    graph = model(("a", "b"), (1, 3))
    inside = replace(
        graph,
        outputs=(graph.outputs[0], Value("y", tensor_type("float[2,3]"))),
        nodes=(*graph.nodes, clip),
    )
    assert inferred_types(inside)["b"] == tensor_type("float[2,3]")
    normal = sonnx.Graph.of(replace(inside, values=(Value("b", tensor_type("float[?,?]")),))).normalize()
    assert normal.check() == ()
    assert tensor_type("float[2,3]") in [each.type for each in normal.values]
    unknown = replace(inside, constants=(), inputs=(*graph.inputs, Value("l", tensor_type("int64[2]"))))
    assert "b" not in inferred_types(unknown)


def test_trials_cut_in_several_ways_and_clauses_decide_each_output() -> None:
    assert () not in calls._parts(0)
    every = calls.calls(PARTED).values()
    assert {len(each.decided["lengths"]) for each in every} >= {1, 2, 3}
    assert {0, 1} <= {length for each in every for length in each.decided["lengths"]}
    for each in every:
        assert each.decided["lengths"]
        assert sum(each.decided["lengths"]) == each.shapes["data"][each.attributes["axis"]]
    asked = list(trials(PARTED, DType.FLOAT, 3))
    assert len({each.name for each in asked}) == len(asked) > 50
    for trial in asked[:40]:
        found = PARTED.contract.output_types(
            replace(
                _good(tuple(trial.inputs["lengths"].tolist())),
                inputs={
                    "data": TensorType(DType.FLOAT, trial.inputs["data"].shape),
                    "lengths": TensorType(DType.INT64, trial.inputs["lengths"].shape),
                },
                attributes=trial.attributes,
            )
        )
        for name, kind in found.items():
            (*_, last) = clauses(PARTED, trial.inputs, trial.attributes, name)
            assert last.mask.shape == kind.sizes
            assert last.mask.all()
    given = {"data": X, "lengths": np.array([1, 3])}
    (first, *_) = clauses(PARTED, given, {"axis": 1})
    assert first.mask.shape == (2, 1)


def test_the_judge_blames_the_output_that_is_wrong() -> None:
    asked = Trial("t", {"data": X, "lengths": np.array([1, 3])}, (), "T.", {"axis": 1})
    subject = Subject(PARTED, lambda *_: iter(()), lambda *given: clauses(PARTED, *given), drawn)  # type: ignore[arg-type]  # nothing is drawn
    object.__setattr__(subject, "nan", "bits")
    one, other = in_parts(X, (1, 3))
    assert judge(subject.specified(asked, DType.FLOAT), [one, other]).grade == "bits"
    lost = other.copy()
    lost[0, 2], lost[1, 0] = 0, 9
    (nan, wrong) = judge(subject.specified(asked, DType.FLOAT), [one, lost]).differences
    assert (nan.output, nan.place) == ("part1", (0, 2))
    assert (wrong.output, wrong.place, wrong.identifier) == ("part1", (1, 0), "D-PARTED")
    (missing,) = judge(subject.specified(asked, DType.FLOAT), [one]).differences
    assert (missing.expected, missing.found) == ("2 outputs", "1 output")


def test_a_trial_is_cut_where_parts_stay_parts() -> None:
    form = forms.form_of(PARTED)
    asked = Trial("t", {"data": X, "lengths": np.array([1, 3])}, (), "T.", {"axis": 1})
    assert form.places(asked, (1, 0)) == {"data -2": 1, "data -1": 0}

    def lengths(trial: Trial) -> list[int]:
        return list(trial.inputs["lengths"].tolist())

    # The first parts keep what they can, and what is empty is left out, but for the last one.
    one = form.cut(asked, "data -1", [2])
    assert one.inputs["data"].tolist() == [[3], [7]]
    assert lengths(one) == [1, 0]
    assert lengths(form.cut(asked, "data -1", slice(0, 3))) == [1, 2]
    assert lengths(form.cut(asked, "data -2", [0])) == [1, 3]
    assert [lengths(each) for each in form.others(one) if each.inputs["data"].ndim == 2] == [[1]]
    none = form.cut(form.cut(asked, "data -1", []), "data -1", [])
    assert [lengths(each) for each in form.others(none)] == [[0], [0]]
    (alone, *_) = form.others(none)
    assert list(form.others(alone)) == []
    # Without the other axis, the parts are those of the axis that is left.
    line = form.cut(asked, "data -2", [0])
    (less,) = (each for each in form.others(line) if each.inputs["data"].ndim == 1)
    assert (lengths(less), less.attributes["axis"]) == ([1, 3], 0)


def test_formulas_and_modules_have_a_line_for_each_output() -> None:
    assert formula(PARTED) == (
        r"\begin{array}{l} Y_0[i_{0}, i_{1}] = X[i_{0}, 0] \\ Y_1[i_{0}, i_{1}] = X[i_{0}, i_{1} + 1] \\ "
        r"\text{for } \text{shape of } X = [N_{0}, N_{1}], \; \text{axis} = 1, \; L = [1, L_{1}] \end{array}"
    )


def test_a_definition_gives_as_many_tensors_as_the_contract_has_outputs() -> None:
    (output,) = PARTED.contract.outputs
    one = replace(PARTED.contract, outputs=(replace(output, variadic=False),))
    with pytest.raises(DefinitionError) as error:
        evaluate(Operator(one, PARTED.definition), {"data": X, "lengths": np.array([1, 3])}, {"axis": 1})
    assert str(error.value) == (
        "the definition of SonnxParted gives 2 tensors, its contract lists 1; "
        "a variadic output stands for any number of them"
    )


def test_sizes_that_only_one_output_keeps_are_not_said_to_be_any() -> None:
    def counted(data: Given, axis: int, lengths: Sequence[int]) -> tuple[Made, ...]:
        (first, second) = parted(data, axis, lengths)
        last = int(data.shape[1]) - 1
        return first, tensor(second.shape, lambda i, j: data[i, last - j])

    assert general(Operator(PARTED.contract, tensorwise(counted)), _good()) is None
    assert general(PARTED, _good()) is not None


def test_a_case_has_the_elements_of_all_outputs() -> None:
    (case,) = read_cases(
        '["a line in two"]\nsource = "by hand"\n'
        'given = { data = "float[1,3] 7 8 9", lengths = "int64[2] 2 1", axis = 1 }\n'
        'gives = { part0 = "float[1,2] 7 8", part1 = "float[1,1] 9" }\n'
    )
    assert list(case.outputs) == ["part0", "part1"]
    lines = why3_tensors.theory(PARTED, [case]).splitlines()
    for name, index in (("part0", "i1"), ("part1", "2")):
        place = next(n for n, line in enumerate(lines) if line.startswith(f"  function {name} "))
        assert lines[place + 1] == f"    data 0 {index}"
