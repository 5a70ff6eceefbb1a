"""Elements of tensors out of files, bit for bit."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, numpy_helper
from tests.budgets import examples
from tests.load.support import found, model, part, read, varint
from tests.loops import for_each
from tests.operators.support import HELD

from sonnx.load.limits import Limits
from sonnx.load.reader import from_proto
from sonnx.load.types import TO_ONNX
from sonnx.model.dtype import ALL, DType
from sonnx.model.graph import Constant

# Bit patterns of each width: zeros, ones, a signalling NaN, a quiet one with payload, a subnormal, extremes.
PATTERNS = {
    1: (0x00, 0x01, 0x7F, 0x80, 0xFF, 0x02),
    2: (0x0000, 0x8000, 0x7C01, 0xFE55, 0x0001, 0xFFFF),
    4: (0x00000000, 0x80000000, 0x7F800001, 0xFFC12345, 0x00000001, 0xFFFFFFFF),
    8: (0, 1 << 63, 0x7FF0000000000001, 0xFFF8000000ABCDEF, 1, (1 << 64) - 1),
}
WIDTH = {name: held.itemsize for name, held in HELD.items()}
PLAIN = [name for name in HELD if name != "bool"]
# ONNX's numbers of the fields that hold elements, from onnx.proto.
FLOATS, INT32S, STRINGS, INT64S, RAW, DOUBLES, UINT64S = 4, 5, 6, 7, 9, 10, 11


def elements(name: str) -> tuple[int, ...]:
    """Six elements as unsigned numbers of the type's width."""
    if not name.startswith("complex"):
        return PATTERNS[WIDTH[name]]
    half = WIDTH[name] // 2
    parts = PATTERNS[half]
    return tuple(a | b << 8 * half for a, b in zip(parts, reversed(parts), strict=True))


def little_endian(name: str) -> bytes:
    return b"".join(number.to_bytes(WIDTH[name], "little") for number in elements(name))


def signed(number: int, width: int) -> int:
    return number - (1 << 8 * width) if number >> (8 * width - 1) else number


def numbers(values: list[int]) -> bytes:
    """Numbers as protobuf packs them; negative ones as their 64-bit complement."""
    return b"".join(varint(value % (1 << 64)) for value in values)


def typed_field(name: str) -> bytes:
    """The same six elements in the field that ONNX has for the type."""
    width, given = WIDTH[name], elements(name)
    if name in ("float", "complex64"):
        return part(FLOATS, little_endian(name))
    if name in ("double", "complex128"):
        return part(DOUBLES, little_endian(name))
    if name in ("uint32", "uint64"):
        return part(UINT64S, numbers(list(given)))
    if name == "int64":
        return part(INT64S, numbers([signed(number, 8) for number in given]))
    as_bits = name in ("float16", "bfloat16", "uint8", "uint16")
    return part(INT32S, numbers([number if as_bits else signed(number, width) for number in given]))


def tensor(name: str, content: bytes, dims: tuple[int, ...] = (2, 3)) -> TensorProto:
    proto = TensorProto(name="c", data_type=getattr(TensorProto, name.upper()), dims=dims)
    proto.MergeFromString(content)
    return proto


def constant(proto: TensorProto, folder: Path = Path("/nowhere"), limits: Limits | None = None) -> Constant:
    graph = from_proto(model(initializers=[proto]), "net.onnx", folder, limits)
    return next(constant for constant in graph.constants if constant.name == "c")


def problem(proto: TensorProto) -> str:
    graph = read(model(initializers=[proto]))
    held = graph.constants[-1]
    assert held.data is None
    assert {"graph.D15", "graph.D16"} & set(found(graph))
    return held.problem


def test_the_profile_has_sixteen_types_in_files() -> None:
    assert {str(dtype) for dtype in ALL} == {*HELD, "string", "real"}
    assert len(TO_ONNX) == 16
    assert {dtype: getattr(TensorProto, dtype.upper()) for dtype in ALL if dtype != "real"} == TO_ONNX


@for_each("name", PLAIN)
@for_each("where", ["raw", "typed"])
def test_every_bit_of_every_type_is_kept(name: str, where: str) -> None:
    content = part(RAW, little_endian(name)) if where == "raw" else typed_field(name)
    held = constant(tensor(name, content))
    assert held.data.dtype == HELD[name]
    assert held.data.shape == (2, 3)
    assert held.data.tobytes() == little_endian(name)
    assert held.problem == ""


@pytest.mark.parametrize("name", PLAIN)
def test_onnx_reads_the_same_bits(name: str) -> None:
    proto = tensor(name, part(RAW, little_endian(name)))
    witness = numpy_helper.to_array(proto)
    assert constant(proto).data.tobytes() == witness.tobytes()


@pytest.mark.parametrize(
    "content", [part(RAW, bytes([0, 1, 2, 128, 255, 0])), part(INT32S, numbers([0, 1, 2, -1, 256, 0]))]
)
def test_a_bool_is_true_where_anything_is_not_zero(content: bytes) -> None:
    held = constant(tensor("bool", content))
    assert held.data.tobytes() == bytes([0, 1, 1, 1, 1, 0])
    assert held.data.dtype == np.dtype(bool)


def test_strings_are_kept_whole() -> None:
    texts = ["", "a", "ä\n", "\0", "a\0", "\U0001f600"]
    held = constant(tensor("string", b"".join(part(STRINGS, text.encode()) for text in texts)))
    assert held.data.shape == (2, 3)
    assert held.data.reshape(-1).tolist() == texts


def test_a_string_that_is_not_utf_8_is_a_finding() -> None:
    proto = tensor("string", b"".join(part(STRINGS, b"\xff\x1b") for _ in range(6)))
    assert problem(proto) == r"it holds a string that is not UTF-8: b'\xff\x1b'"


@for_each("name", [*HELD, "string"])
@for_each("dims", [(0,), (2, 0, 3)])
def test_a_tensor_without_elements_needs_no_data(name: str, dims: tuple[int, ...]) -> None:
    held = constant(tensor(name, b"", dims))
    assert held.data.shape == dims
    assert held.problem == ""


def test_a_scalar_has_one_element() -> None:
    assert constant(tensor("int8", part(RAW, b"\xff"), ())).data.tolist() == -1


@given(st.sampled_from(PLAIN), st.data())
@settings(max_examples=examples(60))
def test_raw_and_typed_elements_agree_on_any_bits(name: str, data: st.DataObject) -> None:
    raw = data.draw(st.binary(min_size=6 * WIDTH[name], max_size=6 * WIDTH[name]))
    array = constant(tensor(name, part(RAW, raw))).data
    assert array.tobytes() == raw
    if name in ("float", "double", "complex64", "complex128"):
        field = FLOATS if name in ("float", "complex64") else DOUBLES
        assert constant(tensor(name, part(field, raw))).data.tobytes() == raw


def test_floats_that_are_not_packed_are_read_as_well() -> None:
    content = b"".join(varint(FLOATS << 3 | 5) + struct.pack("<I", bits) for bits in PATTERNS[4])
    assert constant(tensor("float", content)).data.tobytes() == little_endian("float")


def test_data_of_a_graph_cannot_be_changed() -> None:
    for name in (*HELD, "string"):
        assert not constant(tensor(name, b"", (0,))).data.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        constant(tensor("bool", part(RAW, bytes(6)))).data[0, 0] = True


# What is wrong with the elements, and what is said about it.
WRONG: dict[str, tuple[Callable[[], TensorProto], str]] = {
    "raw too short": (lambda: tensor("float", part(RAW, bytes(23))), "need 24 bytes, raw_data has 23"),
    "raw too long": (lambda: tensor("float", part(RAW, bytes(25))), "need 24 bytes, raw_data has 25"),
    "nothing": (lambda: tensor("float", b""), "need 6 elements, float_data has 0"),
    "raw empty": (lambda: tensor("float", part(RAW, b"")), "need 24 bytes, raw_data has 0"),
    "too few": (lambda: tensor("int32", part(INT32S, bytes(5))), "need 6 elements, int32_data has 5"),
    "too many": (lambda: tensor("int64", part(INT64S, bytes(7))), "need 6 elements, int64_data has 7"),
    "half a complex": (
        lambda: tensor("complex64", part(FLOATS, bytes(24))),
        "need 12 elements, float_data has 6",
    ),
    "another field": (
        lambda: tensor("float", part(INT32S, bytes(6))),
        "elements of type float cannot be written in int32_data",
    ),
    "uint32 in int32_data": (
        lambda: tensor("uint32", part(INT32S, bytes(6))),
        "elements of type uint32 cannot be written in int32_data",
    ),
    "two fields": (
        lambda: tensor("float", part(FLOATS, bytes(24)) + part(RAW, bytes(24))),
        "its elements are written in several places: float_data, raw_data",
    ),
    "raw strings": (
        lambda: tensor("string", part(RAW, bytes(6))),
        "elements of type string cannot be written in raw_data",
    ),
    "segments": (lambda: tensor("float", part(RAW, bytes(24)) + part(3, b"")), "stored in segments"),
    "float16 above its bits": (
        lambda: tensor("float16", part(INT32S, numbers([0, 0, 65536, 0, 0, 0]))),
        "it holds 65536, which float16 cannot",
    ),
    "float16 below its bits": (
        lambda: tensor("float16", part(INT32S, numbers([0, 0, -1, 0, 0, 0]))),
        "it holds -1, which float16 cannot",
    ),
    "int8 above": (
        lambda: tensor("int8", part(INT32S, numbers([0, 0, 0, 0, 0, 128]))),
        "it holds 128, which int8 cannot",
    ),
    "uint8 below": (
        lambda: tensor("uint8", part(INT32S, numbers([-1, 0, 0, 0, 0, 0]))),
        "it holds -1, which uint8 cannot",
    ),
    "uint32 above": (
        lambda: tensor("uint32", part(UINT64S, numbers([2**32, 0, 0, 0, 0, 0]))),
        "it holds 4294967296, which uint32 cannot",
    ),
    "2^31 elements": (lambda: tensor("int8", b"", (2**16, 2**15)), "it has 2^31 elements or more"),
    "sizes whose product is 2^124": (lambda: tensor("int8", b"", (2**62, 2**62)), "2^31 elements or more"),
    "huge beside 0": (lambda: tensor("int8", b"", (0, 2**62)), "2^31 elements or more"),
    "65 axes": (lambda: tensor("int8", part(RAW, b"\0"), (1,) * 65), "more than 64 axes"),
    "100000 axes": (lambda: tensor("int8", part(RAW, b"\0"), (1,) * 100_000), "more than 64 axes"),
}


@for_each("name", WRONG)
def test_wrong_elements_are_a_finding_that_says_why(name: str) -> None:
    make, words = WRONG[name]
    assert words in problem(make())


def test_64_axes_can_be_had() -> None:
    assert constant(tensor("int8", part(RAW, b"\7"), (1,) * 64)).data.shape == (1,) * 64


@pytest.mark.parametrize("dims", [(-1,), (2, -(2**63)), (3, -2)])
def test_a_negative_size_is_a_finding(dims: tuple[int, ...]) -> None:
    graph = read(model(initializers=[tensor("float", b"", dims)]))
    assert graph.constants[-1].data is None
    assert "general.R2" in found(graph)


@pytest.mark.parametrize(
    ("number", "foreign"),
    [(17, "float8e4m3fn"), (22, "int4"), (99, "type 99"), (-5, "type -5"), (2**31 - 1, "type 2147483647")],
)
def test_a_type_that_the_profile_does_not_have_is_a_finding(number: int, foreign: str) -> None:
    proto = TensorProto(name="c", data_type=number, dims=[1], raw_data=b"\0")
    graph = read(model(initializers=[proto]))
    assert graph.constants[-1].type.foreign == foreign
    assert "general.R3" in found(graph)


def test_a_tensor_without_a_type_is_a_finding() -> None:
    graph = read(model(initializers=[TensorProto(name="c", dims=[1], raw_data=b"\0")]))
    assert graph.constants[-1].type.dtype is None
    assert graph.constants[-1].type.foreign is None
    assert "general.R2" in found(graph)


def test_the_limit_of_memory_is_for_all_tensors_together() -> None:
    each = [tensor("float", part(RAW, bytes(24))) for _ in range(3)]
    for name, proto in zip("abc", each, strict=True):
        proto.name = name
    # lo and hi take 4 bytes each.
    graph = from_proto(model(initializers=each), "net.onnx", Path("/nowhere"), Limits(tensor_bytes=56))
    a, b, c = graph.constants[-3:]
    assert a.data is not None
    assert b.data is not None
    assert c.data is None
    assert c.problem.startswith("its 24 bytes would exceed the limit of ")
    assert "GiB for the tensors of a model" in c.problem


def test_a_limit_is_not_used_up_by_another_model() -> None:
    limits = Limits(tensor_bytes=32)
    proto = tensor("float", part(RAW, bytes(24)))
    assert all(constant(proto, limits=limits).data is not None for _ in range(3))


def test_a_tensor_that_lies_about_its_size_takes_no_memory_from_the_others() -> None:
    liar = tensor("float", b"", (2**29,))
    liar.name = "a"
    graph = read(model(initializers=[liar, tensor("float", part(RAW, bytes(24)))]))
    assert graph.constants[-2].problem
    assert graph.constants[-1].data is not None


def test_two_gib_are_the_stated_limit() -> None:
    assert Limits().tensor_bytes == 2**31


def test_a_tensor_in_an_attribute_is_read_alike() -> None:
    from onnx import helper

    proto = tensor("float", typed_field("float"))
    node = helper.make_node("Constant", [], ["c"], value=proto)
    held: Any = read(model([node])).nodes[0].attributes["value"]
    assert held.data.tobytes() == little_endian("float")
    assert held.type.dtype is DType.FLOAT
