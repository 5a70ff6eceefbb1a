"""Types of tensors as text, and what is known of them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonnx.model.dtype import ALL, DType
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.vocabulary.call import call

WRITTEN = {
    "float[1,3,8,8]": TensorType(DType.FLOAT, (1, 3, 8, 8)),
    "real[]": TensorType(DType.REAL, ()),
    "int8": TensorType(DType.INT8, None),
    "?[2]": TensorType(None, (2,)),
    "?": TensorType(None, None),
    "float[batch,?,3]": TensorType(DType.FLOAT, ("batch", None, 3)),
    "sparse double[2,0]": TensorType(DType.DOUBLE, (2, 0), sparse=True),
    "longdouble[2]": TensorType(None, (2,), foreign="longdouble"),
    "float[1,2] as DATA_BATCH,DATA_CHANNEL": TensorType(
        DType.FLOAT, (1, 2), denotation=("DATA_BATCH", "DATA_CHANNEL")
    ),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_type_is_read_from_the_text_it_prints(text: str) -> None:
    assert tensor_type(text) == WRITTEN[text]
    assert str(WRITTEN[text]) == text


@given(
    st.builds(
        TensorType,
        st.sampled_from(ALL),
        st.one_of(st.none(), st.lists(st.one_of(st.integers(0, 99), st.just("n"), st.none())).map(tuple)),
        sparse=st.booleans(),
        denotation=st.sampled_from([None, ("A", "B")]),
    )
)
def test_reading_and_printing_are_inverse(kind: TensorType) -> None:
    assert tensor_type(str(kind)) == kind


@pytest.mark.parametrize("text", ["", "float[", "float 3", "[3]", "Float[3]", "float[3] as"])
def test_text_that_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a tensor type: .*; write for example float\[1,3,8,8\]"):
        tensor_type(text)


@pytest.mark.parametrize("name", ["²", "-1", "n1"])
def test_a_size_that_is_no_number_is_a_symbol(name: str) -> None:
    assert tensor_type(f"float[{name}]").shape == (name,)


def test_sizes_are_known_where_each_is_a_number_from_zero_up() -> None:
    assert TensorType(DType.FLOAT, (2, 0)).sizes == (2, 0)
    assert TensorType(DType.FLOAT, ()).sizes == ()
    for shape in [None, ("n",), (2, None), (2, -1)]:
        assert TensorType(DType.FLOAT, shape).sizes is None


def test_a_call_is_written_with_types_as_text() -> None:
    made = call("Clip", {"input": "float[2]"}, outputs={"output": "float[3]"}, constants={"shape": (1,)})
    assert made.operator == "Clip"
    assert made.inputs == {"input": TensorType(DType.FLOAT, (2,))}
    assert made.outputs == {"output": TensorType(DType.FLOAT, (3,))}
    assert (made.attributes, made.constants) == ({}, {"shape": (1,)})


def test_types_are_checked_when_made() -> None:
    made = TensorType("float", [np.int64(3), "batch", None])  # type: ignore[arg-type]  # spelt and listed
    assert made == TensorType(DType.FLOAT, (3, "batch", None))
    with pytest.raises(ValueError, match="'float32' is not a valid DType"):
        TensorType("float32", (3,))  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(TypeError):
        TensorType(DType.FLOAT, (1.5,))  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    "text", ["float[1,,3]", "float[,]", "float[1,]", "float[" + "9" * 5000 + "]", 3, None, b"float[3]"]
)
def test_text_with_gaps_endless_digits_or_no_text_at_all_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="not a tensor type"):
        tensor_type(text)


def test_sizes_are_written_in_plain_digits() -> None:
    assert tensor_type("float[\u0663]").shape == ("\u0663",)
