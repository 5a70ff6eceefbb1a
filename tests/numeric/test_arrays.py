"""How tensors are held, and how an operand's type is found."""

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.loops import for_each

from sonnx.model.dtype import ALL, DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import RealArray, describe, dtype_of, finish, held_type, hold, numpy_dtype, zero

Array = NDArray[Any]

# Type, how NumPy spells it, and elements of it.
HELD: list[tuple[DType, Any, list[Any]]] = [
    (DType.REAL, object, [Fraction(1, 3), Fraction(-2)]),
    (DType.FLOAT16, "f2", [1.5, -2.0]),
    (DType.FLOAT, "f4", [1.5, -2.0]),
    (DType.DOUBLE, "f8", [1.5, -2.0]),
    (DType.INT8, "i1", [1, -2]),
    (DType.INT16, "i2", [1, -2]),
    (DType.INT32, "i4", [1, -2]),
    (DType.INT64, "i8", [1, -2]),
    (DType.UINT8, "u1", [1, 2]),
    (DType.UINT16, "u2", [1, 2]),
    (DType.UINT32, "u4", [1, 2]),
    (DType.UINT64, "u8", [1, 2]),
    (DType.BOOL, "?", [True, False]),
    (DType.STRING, object, ["a", "bc\0"]),
    (DType.BFLOAT16, ml_dtypes.bfloat16, [1.5, -2.0]),
    (DType.COMPLEX64, "c8", [1 + 2j, -3j]),
    (DType.COMPLEX128, "c16", [1 + 2j, -3j]),
]
IDS = [str(dtype) for dtype, _, _ in HELD]


def held(value: Any) -> Array:
    _, array = describe(value)
    assert array is not None
    return array


def test_the_table_of_these_tests_has_every_type_once() -> None:
    assert [dtype for dtype, _, _ in HELD] == list(ALL)


@for_each(("dtype", "spelling", "values"), HELD, ids=IDS)
def test_every_type_is_found_in_the_array_that_holds_it(
    dtype: DType, spelling: Any, values: list[Any]
) -> None:
    array = np.array(values, dtype=spelling).reshape(1, 2)
    assert numpy_dtype(dtype) == np.dtype(spelling)
    assert dtype_of(array) is dtype
    assert describe(array)[0] == TensorType(dtype, (1, 2))
    assert held(array).tolist() == [values]
    assert held(array).dtype == np.dtype(spelling)
    assert held_type(held(array)) is dtype


@pytest.mark.parametrize(
    ("dtype", "spelling", "values"), [row for row in HELD if row[1] not in (object, ml_dtypes.bfloat16)]
)
def test_big_endian_arrays_are_read_with_the_same_values(
    dtype: DType, spelling: str, values: list[Any]
) -> None:
    swapped = np.array(values, dtype=np.dtype(spelling).newbyteorder(">"))
    assert describe(swapped)[0] == TensorType(dtype, (2,))
    assert held(swapped).tolist() == values
    assert held(swapped).dtype == np.dtype(spelling).newbyteorder("=")
    assert held_type(held(swapped)) is dtype


def test_byte_order_changes_no_bit_of_a_signalling_nan() -> None:
    raw = np.array([0x7F800001, 0xFFC12345], dtype=">u4")
    assert held(raw.view(">f4")).view(np.uint32).tolist() == [0x7F800001, 0xFFC12345]


def test_integers_that_c_spells_differently_are_of_the_type_of_their_width() -> None:
    assert dtype_of(np.zeros(1, np.longlong)) is DType.INT64
    assert dtype_of(np.zeros(1, np.ulonglong)) is DType.UINT64


def test_nothing_is_copied_where_the_form_is_right_already() -> None:
    array = np.arange(3.0)
    assert held(array) is array
    assert np.shares_memory(held(np.array([Fraction(1)], dtype=object)), held(held(array))) is False
    reals = np.array([Fraction(1)], dtype=object)
    assert np.shares_memory(held(reals), reals)


def test_subclasses_lose_their_class() -> None:
    assert type(held(np.array([[1.0]]).view(np.matrix))) is np.ndarray
    assert type(held(np.array(["a"], dtype=object).view(RealArray))) is np.ndarray


@pytest.mark.parametrize("spelling", ["<U5", ">U5", np.dtypes.StringDType()])
def test_every_way_numpy_holds_strings_is_read_as_strings(spelling: Any) -> None:
    array = np.array(["a", "", "äöü"], dtype=spelling)
    assert describe(array)[0] == TensorType(DType.STRING, (3,))
    assert held(array).dtype == np.dtype(object)
    assert held(array).tolist() == ["a", "", "äöü"]


def test_numpy_strings_among_objects_are_strings() -> None:
    assert dtype_of(np.array(["a", np.str_("b")], dtype=object)) is DType.STRING


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_string_array_with_a_missing_element_is_refused(missing: Any) -> None:
    kind = np.dtypes.StringDType(na_object=missing)
    assert describe(np.array(["a", missing], dtype=kind))[1] is None
    assert held(np.array(["a", "b"], dtype=kind)).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (np.array([b"a"]), "NumPy |S1"),
        (np.zeros(1, np.longdouble), f"NumPy {np.dtype(np.longdouble)}"),
        (np.zeros(1, np.clongdouble), f"NumPy {np.dtype(np.clongdouble)}"),
        (np.zeros(1, "M8[s]"), "NumPy datetime64[s]"),
        (np.zeros(1, "m8[s]"), "NumPy timedelta64[s]"),
        (np.zeros(1, "V4"), "NumPy |V4"),
        (np.zeros(1, ml_dtypes.float8_e5m2), "NumPy float8_e5m2"),
        (np.array([1], dtype=object), "NumPy object"),
        (np.array([Fraction(1), 1], dtype=object), "NumPy object"),
        (np.array([Fraction(1), "1"], dtype=object), "NumPy object"),
        (np.array(["a", None], dtype=object), "NumPy object"),
        (np.array([True, "a"], dtype=object), "NumPy object"),
    ],
)
def test_arrays_of_other_types_are_refused_and_named(array: Array, name: str) -> None:
    assert dtype_of(array) is None
    assert describe(array) == (TensorType(None, array.shape, foreign=name), None)


def test_an_empty_array_of_objects_is_real_only_if_marked_so() -> None:
    empty = np.empty((0, 2), dtype=object)
    assert describe(empty)[0] == TensorType(DType.STRING, (0, 2))
    assert describe(empty.view(RealArray))[0] == TensorType(DType.REAL, (0, 2))
    assert held_type(held(empty)) is DType.STRING
    assert held_type(held(empty.view(RealArray))) is DType.REAL


@pytest.mark.parametrize(
    "value", [np.ma.masked_array([1.0, 2.0], [False, True]), np.ma.masked_array([1.0, 2.0])]
)
def test_masked_arrays_are_refused_even_without_a_masked_element(value: Any) -> None:
    assert describe(value) == (TensorType(None, (2,), foreign="masked array"), None)


class Sparse:
    """What every sparse array of SciPy looks like."""

    nnz = 0

    def __init__(self, dtype: Any, shape: list[int]) -> None:
        self.dtype = np.dtype(dtype)
        self.shape = shape

    def toarray(self) -> Array:
        raise AssertionError("nothing may be converted")


def test_sparse_arrays_are_described_and_not_converted() -> None:
    assert describe(Sparse("f4", [2, 3])) == (TensorType(DType.FLOAT, (2, 3), sparse=True), None)
    assert describe(Sparse("S1", [2])) == (TensorType(None, (2,), sparse=True), None)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, DType.BOOL),
        (5, DType.INT64),
        (-(2**63), DType.INT64),
        (2**63 - 1, DType.INT64),
        (1.5, DType.DOUBLE),
        (1 + 2j, DType.COMPLEX128),
        ("a\0", DType.STRING),
        (Fraction(1, 3), DType.REAL),
        (np.float32(1.5), DType.FLOAT),
        (np.True_, DType.BOOL),
        (np.str_("a"), DType.STRING),
        (ml_dtypes.bfloat16(1.5), DType.BFLOAT16),
    ],
)
def test_scalars_have_one_type_each_and_no_axes(value: Any, dtype: DType) -> None:
    assert describe(value)[0] == TensorType(dtype, ())
    assert held(value).shape == ()
    assert held(value)[()] == value
    assert held_type(held(value)) is dtype


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**63, "Python int[]"),
        (-(2**63) - 1, "Python int[]"),
        ([1.0], "Python list"),
        (None, "absent"),
        (b"a", "Python bytes"),
        (np.bytes_(b"a"), "NumPy |S1[]"),
    ],
)
def test_other_values_of_python_are_refused_and_named(value: Any, text: str) -> None:
    kind, array = describe(value)
    assert array is None
    assert kind.dtype is None
    assert str(kind) == text


def test_zero_is_the_positive_zero_of_the_type() -> None:
    assert zero(DType.REAL) == Fraction(0)
    assert type(zero(DType.REAL)) is Fraction
    assert type(zero(DType.FLOAT)) is np.float32
    assert not np.signbit(zero(DType.FLOAT))
    assert type(zero(DType.UINT8)) is np.uint8


def test_finish_marks_reals_and_leaves_the_rest_alone() -> None:
    objects = np.array([Fraction(1)], dtype=object)
    assert isinstance(finish(objects, DType.REAL), RealArray)
    for dtype in (DType.STRING, DType.FLOAT, None):
        assert finish(objects, dtype) is objects


def test_hold_gives_reals_their_class() -> None:
    assert type(hold(np.array([Fraction(1)], dtype=object), DType.REAL)) is RealArray
