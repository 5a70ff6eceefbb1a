"""How tensors of the profile's types are held in NumPy arrays, and how an operand's type is found."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import Dialect, TensorType
from sonnx.numeric.balls import Ball

Array = NDArray[Any]

_NUMPY: dict[DType, np.dtype[Any]] = {
    DType.REAL: np.dtype(object),
    DType.FLOAT16: np.dtype(np.float16),
    DType.FLOAT: np.dtype(np.float32),
    DType.DOUBLE: np.dtype(np.float64),
    DType.INT8: np.dtype(np.int8),
    DType.INT16: np.dtype(np.int16),
    DType.INT32: np.dtype(np.int32),
    DType.INT64: np.dtype(np.int64),
    DType.UINT8: np.dtype(np.uint8),
    DType.UINT16: np.dtype(np.uint16),
    DType.UINT32: np.dtype(np.uint32),
    DType.UINT64: np.dtype(np.uint64),
    DType.BOOL: np.dtype(np.bool_),
    DType.STRING: np.dtype(object),
    DType.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
    DType.COMPLEX64: np.dtype(np.complex64),
    DType.COMPLEX128: np.dtype(np.complex128),
}
_DTYPE = {held: dtype for dtype, held in _NUMPY.items() if held != np.dtype(object)}

# Python's own scalars have one type each; nothing is converted by reading them so.
_PYTHON_SCALARS: dict[type, DType] = {
    bool: DType.BOOL,
    int: DType.INT64,
    float: DType.DOUBLE,
    complex: DType.COMPLEX128,
    Fraction: DType.REAL,
    Ball: DType.REAL,
}


class RealArray(np.ndarray[Any, np.dtype[Any]]):
    """An array in the real domain: its elements are `fractions.Fraction` or `sonnx.Ball`.

    The class marks the domain, so that an empty array keeps its type too. Arithmetic on it outside the
    operators is Python's: a Fraction times a float is a float, and operators then refuse the array.
    """


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype that holds a type; reals and strings are held as objects."""
    return _NUMPY[dtype]


def zero(dtype: DType) -> Any:
    """The zero of an arithmetic type (the positive one of a float type)."""
    return Fraction(0) if dtype is DType.REAL else _NUMPY[dtype].type(0)


def dtype_of(array: Array) -> DType | None:
    """The type an array holds, or None where it holds none of the profile's."""
    if array.dtype.kind == "U":
        return DType.STRING
    if array.dtype.kind in "OT":  # a StringDType array may hold missing values, which are no strings
        return _dtype_of_objects(array.astype(object, copy=False))
    return _DTYPE.get(array.dtype.newbyteorder("="))


def each_once(array: Array) -> Array:
    """The elements without those that an axis of stride 0 repeats: one look at each is enough."""
    once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)
    return np.asarray(array[(*once, ...)])


def _dtype_of_objects(array: Array) -> DType | None:
    kinds = set(map(type, each_once(array).reshape(-1)))
    if (kinds and kinds <= {Fraction, Ball}) or (not kinds and isinstance(array, RealArray)):
        return DType.REAL
    # An empty plain object array is how ONNX's own helpers hold an empty string tensor.
    return DType.STRING if kinds <= {str, np.str_} else None


def held_type(array: Array) -> DType:
    """The type of an array that `hold` has prepared: its dtype and class say it, no element is looked at."""
    if array.dtype.kind == "O":
        return DType.REAL if isinstance(array, RealArray) else DType.STRING
    return _DTYPE[array.dtype]


def describe(value: Any, dialect: Dialect = "onnx") -> tuple[TensorType, Array | None]:
    """Find the type of an operand, and the array that holds it; nothing is converted.

    The array is None where the operand is no dense array of one of the profile's types. `dialect` is whose
    spelling the type uses.
    """
    if type(value) is np.ndarray and value.dtype in _DTYPE:  # most are: nothing else is to be asked
        return TensorType(_DTYPE[value.dtype], value.shape, dialect=dialect), value
    kind, array = _described(value)
    return (kind if dialect == kind.dialect else replace(kind, dialect=dialect)), array


def _described(value: Any) -> tuple[TensorType, Array | None]:
    if value is None:
        return TensorType(None, None, foreign="absent"), None
    if _get(value, "nnz") is not None and not {"toarray", "todense"}.isdisjoint(dir(type(value))):
        return _describe_sparse(value), None
    if isinstance(value, str):  # NumPy's own strings would lose a NUL at their end, in an array or by str()
        return TensorType(DType.STRING, ()), np.array(str.__str__(value), dtype=object)
    array = as_array(value)
    if array is not None:
        return _describe_array(array)
    dtype = _PYTHON_SCALARS.get(type(value))
    if dtype is None or (dtype is DType.INT64 and not -(2**63) <= value < 2**63):
        return TensorType(None, () if dtype else None, foreign=f"Python {type_name(value)}"), None
    return TensorType(dtype, ()), hold(np.array(value, dtype=_NUMPY[dtype]), dtype)


def type_name(value: object) -> str:
    """The name of an object's class, fit to be printed."""
    return type(value).__name__.encode("unicode_escape").decode()


def _get(value: object, name: str) -> Any:
    """An attribute of a foreign object; None where it has none, or raises whatever it likes."""
    try:
        return getattr(value, name, None)
    except Exception:  # a property of a class nobody here knows
        return None


def as_array(value: Any) -> Array | None:
    """The NumPy array that an object is or offers without a conversion; None where it is no array.

    Other libraries' arrays are taken at their word only where they speak of NumPy's types: one whose
    dtype is its own (sparse, nullable, categorical) would be converted.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asanyarray(value)
    else:
        dtype = _get(value, "dtype")
        if not isinstance(dtype, np.dtype):
            return None
        try:
            array = np.asanyarray(value)
        except Exception:  # whatever a foreign class raises, it offers no array
            return None
        if array.dtype != dtype:
            return None
    # The only classes that say something about the elements; others have a will of their own on shapes.
    return array if isinstance(array, (RealArray, np.ma.MaskedArray)) else np.asarray(array)


def _describe_sparse(value: Any) -> TensorType:
    held = _get(value, "dtype")
    dtype = _DTYPE.get(held) if isinstance(held, np.dtype) else None
    shape = _get(value, "shape")
    sizes = tuple(shape) if isinstance(shape, (list, tuple)) else ()
    return TensorType(dtype, sizes, sparse=True)


def _describe_array(array: Array) -> tuple[TensorType, Array | None]:
    if isinstance(array, np.ma.MaskedArray):
        return TensorType(None, array.shape, foreign="masked array"), None
    dtype = dtype_of(array)
    if dtype is None:
        return TensorType(None, array.shape, foreign=f"NumPy {array.dtype}"), None
    return TensorType(dtype, array.shape), hold(array, dtype)


def hold(array: Array, dtype: DType) -> Array:
    """Give an array of the type the form that meanings expect: native byte order, plain class."""
    if dtype is DType.REAL:
        return array.view(RealArray)
    return np.asarray(array, dtype=_NUMPY[dtype])


def finish(array: Array, dtype: DType | None) -> Array:
    """Mark a result with its domain."""
    return array.view(RealArray) if dtype is DType.REAL else array
