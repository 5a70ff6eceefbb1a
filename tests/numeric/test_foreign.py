"""Objects of other libraries: taken only where nothing is converted."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import as_array, describe
from sonnx.numeric.real import real

pytestmark = pytest.mark.measured


class Offers:
    """An array of another library: a dtype, and what it gives NumPy when asked."""

    shape = (2,)

    def __init__(self, dtype: Any, given: Any) -> None:
        self.dtype, self.given = dtype, given

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


def test_an_array_that_speaks_of_numpy_s_types_is_taken_as_it_is() -> None:
    given = np.array([1.5, -0.0], np.float32)
    kind, held = describe(Offers(np.dtype(np.float32), given))
    assert kind == TensorType(DType.FLOAT, (2,))
    assert held is not None
    assert held.tobytes() == given.tobytes()
    assert real(Offers(np.dtype(np.float32), given)).tolist() == [Fraction(3, 2), Fraction(0)]


@pytest.mark.parametrize(
    "value",
    [
        Offers("Sparse[float64, 0]", np.zeros(2)),  # a dtype of its own: taking it would convert
        Offers(np.dtype(np.float32), np.zeros(2)),  # says float, gives double
        Offers(np.dtype(np.float32), RuntimeError("no dense form")),
    ],
    ids=["own dtype", "other dtype", "raises"],
)
def test_an_array_that_would_have_to_be_converted_is_refused(value: Offers) -> None:
    assert as_array(value) is None
    assert describe(value) == (TensorType(None, None, foreign="Python Offers"), None)
    with pytest.raises(ValueError, match="element 0 is of type Offers"):
        real(value)


class Sparse:
    """As little as a sparse array can have."""

    nnz = 1
    shape: Any = 5

    def todense(self) -> None:
        """Never called."""


def test_a_sparse_array_without_type_and_proper_shape_is_still_called_sparse() -> None:
    kind, held = describe(Sparse())
    assert kind == TensorType(None, (), sparse=True)
    assert held is None


def test_numpy_s_own_string_keeps_a_nul_at_its_end() -> None:
    _, held = describe(np.str_("a\0"))
    assert held is not None
    assert held[()] == "a\0"


def test_objects_repeated_by_a_view_are_looked_at_once() -> None:
    # A billion places in memory of one element: looking at each of them would take minutes.
    many = np.broadcast_to(np.array("a", dtype=object), (1000, 1000, 1000))
    assert describe(many)[0] == TensorType(DType.STRING, (1000, 1000, 1000))
    assert describe(many[:0])[0] == TensorType(DType.STRING, (0, 1000, 1000))


def test_reals_and_strings_may_have_sixty_four_axes() -> None:
    assert real(np.ones((1,) * 64)).shape == (1,) * 64
    assert describe(np.full((1,) * 64, "a", object))[0].dtype is DType.STRING


def test_arrays_among_lists_are_lifted_as_if_alone() -> None:
    assert real([np.array([0.5, 2]), ["1/3", 4]]).tolist() == [
        [Fraction(1, 2), Fraction(2)],
        [Fraction(1, 3), Fraction(4)],
    ]
    assert real([real("1/3")]).tolist() == [Fraction(1, 3)]
    for refused in (
        np.ma.array([1.0, 2.0], mask=[False, True]),
        np.array([5], "m8[ns]"),
        np.array([5], "M8[ns]"),
    ):
        with pytest.raises(ValueError, match=r"sonnx\.real: "):
            real([refused])


def test_lists_that_never_end_and_bytes_are_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        real(endless)
    with pytest.raises(ValueError, match="lists of equal length"):
        real([[1, 2], [3]])
    for data in (b"ab", bytearray(b"ab"), memoryview(b"ab")):
        with pytest.raises(ValueError, match=r"element 0 is of type (bytes|bytearray|memoryview)"):
            real(data)


def test_digits_of_other_scripts_are_no_numbers() -> None:
    with pytest.raises(ValueError, match="no decimal number"):
        real("\u0661\u0662")


def test_a_mask_is_not_lost_on_the_way_through_another_class() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    assert describe(Offers(np.dtype(np.float64), masked))[0].foreign == "masked array"


class Hostile:
    """Raises at every look at it."""

    @property
    def nnz(self) -> Any:
        raise KeyError

    @property
    def dtype(self) -> Any:
        raise RuntimeError


def test_an_object_that_raises_when_looked_at_is_no_array() -> None:
    assert describe(Hostile())[0] == TensorType(None, None, foreign="Python Hostile")


def test_names_of_classes_are_printed_without_control_characters() -> None:
    odd = type("X\x1b[31m", (), {})()
    assert "\x1b" not in str(describe(odd)[0])
    with pytest.raises(ValueError, match=r"of type X\\x1b\[31m"):
        real([odd])


def test_a_matrix_is_an_array_like_any_other() -> None:
    assert real(np.array([[1.0, 2.0]]).view(np.matrix)).tolist() == [[1, 2]]
