"""Cases are read as they are written, and a case that contradicts itself is refused by name."""

import numpy as np
import pytest

from sonnx.operators import OPERATORS
from sonnx.operators.shared import cases
from sonnx.operators.shared.cases import load_cases, read_cases, tensor

pytestmark = pytest.mark.measured

CASE = """
["a case"]
source = "by hand"
given = { X = "float[2] 1 2" }
gives = { Y = "float[] 3" }
"""


def test_elements_are_read_in_their_order_and_type() -> None:
    assert tensor("float[2,2] 1 0x1p-149; -0.0 inf").array().view(np.uint32).tolist() == [
        [0x3F800000, 1],
        [0x80000000, 0x7F800000],
    ]
    assert tensor("int8[] -0x80").array().item() == -128
    assert tensor("bool[2] true false").array().tolist() == [True, False]
    assert tensor("real[0]").array().shape == (0,)
    assert tensor("c64[2] (1, -0) (nan(0x7), 2)").array().view(np.uint32).tolist() == [
        0x3F800000,
        0x80000000,
        0x7F800007,
        0x40000000,
    ]


def test_strings_stand_in_quotes_and_may_hold_what_separates_elements() -> None:
    assert tensor(r'string[2,2] "nan" ""; "a; b" "\" ("').array().tolist() == [["nan", ""], ["a; b", '" (']]


@pytest.mark.parametrize("text", ["float[n]", "longdouble[1]", "?[1]"])
def test_a_case_needs_type_and_static_shape(text: str) -> None:
    with pytest.raises(ValueError, match="a case needs a type of the profile and a static shape, not "):
        tensor(f"{text} 1").array()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("float[3] 1 2", r"float\[3\] has 3 elements, the case writes 2"),
        ("float[2,2] 1 2 3; 4", r"a line of float\[2,2\] has 2 elements, not 3: 1 2 3"),
        ("float[] 1; 2", r"a line of float\[\] has 0 elements, not 1: 1"),
        ("float 1 2", r"is no tensor; write its type, then its elements: float\[2,2\] 1 2; 3 4"),
        ("float[1,] 1", "not a tensor type"),
        ("T[1] 1", "not a tensor type"),
        ("int8[] 128", "'128' does not fit int8"),
        ("bool[] 1", "'1' is neither true nor false"),
        ("string[] a", "Expecting value"),
    ],
)
def test_a_tensor_that_contradicts_itself_is_refused_with_its_case(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as refused:
        read_cases(CASE.replace("float[2] 1 2", text))
    assert str(refused.value).startswith(f"case 'a case': X = '{text}': ")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('source = "by hand"', "", "needs source, as every case"),
        ("gives = {", "given.Z = {", "Cannot mutate"),
        ('"float[] 3"', "3", "Y = 3: is no tensor"),
        ("source", "nan = 'some'\nsource", "nan = 'some'; it is bits or any"),
        ("source", "sauce = ''\nsource", "has 'sauce'; there are source, given, "),
        ("source", "page = 1\nsource", "page = 1 is no bool"),
        (
            '["a case"]',
            'width = 3\n["a case"]',
            "case 'width': is no table; before the first case may stand ",
        ),
    ],
)
def test_a_table_that_is_no_case_is_refused(old: str, new: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_cases(CASE.replace(old, new))


def test_the_name_of_the_file_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "read_cases", lambda text: read_cases(CASE.replace("[2]", "[3]")))
    with pytest.raises(ValueError, match=r"cases\.toml of clip: case 'a case': X = "):
        load_cases.__wrapped__("clip")


def test_what_stands_first_holds_for_every_case_that_does_not_say_otherwise() -> None:
    first = 'rulings = ["D-ALL-4"]\nnan = "any"\nwith = { mode = "a", axis = 1 }\n'
    usual, own = read_cases(
        first
        + CASE
        + CASE.replace("a case", "b").replace('2" }', '2", axis = 2 }\nwith.k = [3]\nrulings = []')
    )
    assert (usual.rulings, usual.nan, usual.page) == (("D-ALL-4",), "any", False)
    assert list(usual.attributes.items()) == [("mode", "a"), ("axis", 1)]
    assert (own.name, own.rulings) == ("b", ())
    assert own.attributes == {"mode": "a", "axis": 2, "k": [3]}
    assert (list(own.inputs), list(own.outputs)) == (["X"], ["Y"])


@pytest.mark.parametrize(("shape", "entries"), [("2", 0), ("1,2", 0), ("1,1,2", 1), ("1,1,1,1,2", 3)])
def test_an_attribute_may_have_an_entry_for_each_spatial_axis(shape: str, entries: int) -> None:
    first = 'with = { mode = "a" }\neach = { pads = [0, 1], strides = 2 }\n'
    (case,) = read_cases(first + CASE.replace("[2]", f"[{shape}]"))
    assert list(case.attributes.items()) == [
        ("mode", "a"),
        ("pads", [[0, 1]] * entries),
        ("strides", [2] * entries),
    ]
    (own,) = read_cases(first + CASE.replace('2" }', '2", strides = [3] }'))
    assert own.attributes["strides"] == [3]


def test_a_case_without_tensors_has_no_axes() -> None:
    (case,) = read_cases("each = { strides = 2 }\n" + CASE.replace('"float[2] 1 2"', "3"))
    assert case.attributes == {"strides": [], "X": 3}


def test_one_table_may_stand_for_several_types() -> None:
    table = CASE.replace("float", "T").replace("source", 'types = ["float", "int8"]\nsource')
    assert [
        (case.name, str(case.inputs["X"].type), str(case.outputs["Y"].type)) for case in read_cases(table)
    ] == [
        ("a case, float", "float[2]", "float[]"),
        ("a case, int8", "int8[2]", "int8[]"),
    ]


def test_an_attribute_that_is_a_float_is_rounded_once() -> None:
    """The decimal lies above the middle of two floats; a double would be the middle itself."""
    (case,) = read_cases(
        CASE.replace("source", "with = { alpha = 1.00000005960464477540, beta = -inf }\nsource")
    )
    assert case.attributes == {"alpha": 1 + 2**-23, "beta": float("-inf")}


@pytest.mark.parametrize("folder", [op.identifier for op in OPERATORS])
def test_every_case_says_where_its_values_come_from(folder: str) -> None:
    loaded = load_cases(folder)
    assert len({case.name for case in loaded}) == len(loaded) > 0
    assert all(case.source and case.nan in ("bits", "any") for case in loaded)
    assert any(case.page for case in loaded)
