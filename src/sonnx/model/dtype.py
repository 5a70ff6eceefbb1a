"""The element types of the profile, spelled as in ONNX (D-ALL-2)."""

from enum import StrEnum


class DType(StrEnum):
    """An element type; `real` is the exact domain, which no ONNX file holds."""

    REAL = "real"
    FLOAT16 = "float16"
    FLOAT = "float"
    DOUBLE = "double"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    BOOL = "bool"
    STRING = "string"
    BFLOAT16 = "bfloat16"
    COMPLEX64 = "complex64"
    COMPLEX128 = "complex128"

    # Types are keys of many tables; an enumeration's own function is Python's, and takes longer.
    __hash__ = str.__hash__


IEEE = (DType.FLOAT16, DType.FLOAT, DType.DOUBLE)
SIGNED = (DType.INT8, DType.INT16, DType.INT32, DType.INT64)
UNSIGNED = (DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64)
INTEGERS = SIGNED + UNSIGNED
# Types that operators of the profile move but never calculate with.
MOVED = (DType.BOOL, DType.STRING, DType.BFLOAT16, DType.COMPLEX64, DType.COMPLEX128)
ALL = (DType.REAL, *IEEE, *INTEGERS, *MOVED)

# The numbers of types in files of ONNX; `real` has none.
ONNX_NUMBERS = {
    DType.FLOAT: 1,
    DType.UINT8: 2,
    DType.INT8: 3,
    DType.UINT16: 4,
    DType.INT16: 5,
    DType.INT32: 6,
    DType.INT64: 7,
    DType.STRING: 8,
    DType.BOOL: 9,
    DType.FLOAT16: 10,
    DType.DOUBLE: 11,
    DType.UINT32: 12,
    DType.UINT64: 13,
    DType.COMPLEX64: 14,
    DType.COMPLEX128: 15,
    DType.BFLOAT16: 16,
}
# What other numbers stand for: types of ONNX that the profile does not have.
FOREIGN_NUMBERS = {
    0: "undefined",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4e2m1",
    24: "float8e8m0",
    25: "uint2",
    26: "int2",
    27: "float6e2m3",
    28: "float6e3m2",
}

# The same types as the XLA documents spell them (D-XLA-6); `real` and `string` have no name there.
XLA_NAMES = {
    DType.BOOL: "pred",
    DType.INT8: "s8",
    DType.INT16: "s16",
    DType.INT32: "s32",
    DType.INT64: "s64",
    DType.UINT8: "u8",
    DType.UINT16: "u16",
    DType.UINT32: "u32",
    DType.UINT64: "u64",
    DType.FLOAT16: "f16",
    DType.BFLOAT16: "bf16",
    DType.FLOAT: "f32",
    DType.DOUBLE: "f64",
    DType.COMPLEX64: "c64",
    DType.COMPLEX128: "c128",
}
XLA_TYPES = {name: dtype for dtype, name in XLA_NAMES.items()}
