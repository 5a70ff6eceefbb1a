"""Messages keep every bit, and what is no message is refused."""

import numpy as np
import pytest
from tests.conformance.runtimes_support import HONEST, LIES, conv_question, every_type
from tests.loops import for_each

from sonnx import TensorType, same_bits
from sonnx.conformance.runtimes import frames
from sonnx.conformance.runtimes.answer import Answer, answer_frame, answer_of
from sonnx.conformance.runtimes.frames import (
    FrameError,
    Reader,
    TooLargeError,
    frame,
    packed_entries,
    question_frame,
    question_of,
)
from sonnx.conformance.runtimes.packing import Packed, PackingError, pack, unpack
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array


def message_of(content: bytes) -> tuple[frames.Header, bytes]:
    reader = Reader()
    reader.feed(content)
    message = reader.take()
    assert message is not None
    return message


@for_each("name", every_type())
def test_every_bit_of_an_array_comes_back(name: str) -> None:
    array = every_type()[name]
    back = unpack(pack(array))
    assert same_bits(array, back)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert array.dtype == np.dtype(object) or back.tobytes() == array.tobytes()
    assert back.flags.writeable
    assert back.flags.aligned


def test_lone_surrogates_come_back() -> None:
    odd = np.array(["\ud800"], object)
    assert unpack(pack(odd)).tolist() == odd.tolist()


def test_bytes_have_the_least_significant_first() -> None:
    assert pack(np.array([1], np.int32)).content == b"\1\0\0\0"
    assert pack(np.array(["a", "ü"], object)).content == b"\1\0\0\0\2\0\0\0a\xc3\xbc"


@pytest.mark.parametrize(
    "packed",
    [
        Packed(DType.FLOAT, (2,), b"\0" * 7),
        Packed(DType.FLOAT, (1,) * 65, b"\0" * 4),
        Packed(DType.FLOAT, (0, 2**62, 2**62), b""),
        Packed(DType.STRING, (1,), b"\0\0\0"),
        Packed(DType.STRING, (1,), b"\2\0\0\0a"),
        Packed(DType.STRING, (1,), b"\1\0\0\0\xff"),
    ],
)
def test_bytes_that_hold_no_such_array_are_refused(packed: Packed) -> None:
    with pytest.raises(PackingError):
        unpack(packed)


def test_a_question_comes_back_whole() -> None:
    asked = conv_question("W")
    number, back = question_of(*message_of(question_frame(7, asked)))
    assert number == 7
    assert back.operator == asked.operator
    assert back.attributes == asked.attributes
    assert list(back.inputs) == list(asked.inputs)
    assert list(back.constants) == ["W"]
    assert all(same_bits(back.operands[name], array) for name, array in asked.operands.items())
    assert back.outputs == asked.outputs
    assert back.structure == asked.structure
    assert hash(back.structure) == hash(asked.structure)


def test_a_question_about_no_operator_is_refused() -> None:
    header, content = message_of(question_frame(1, conv_question()))
    with pytest.raises(FrameError, match="no operator 'softmax'"):
        question_of({**header, "operator": "softmax"}, content)


def test_messages_are_put_together_from_any_pieces() -> None:
    sent = question_frame(1, conv_question()) + frame({"a": 1}) + frame({"b": 2}, [b"xy"])
    reader, found = Reader(), []
    for at in range(0, len(sent), 5):
        reader.feed(sent[at : at + 5])
        while (message := reader.take()) is not None:
            found.append(message)
    assert [content for _, content in found[1:]] == [b"", b"xy"]
    assert [header for header, _ in found[1:]] == [{"a": 1}, {"b": 2}]
    assert question_of(*found[0])[0] == 1


def test_an_answer_comes_back_whole() -> None:
    outputs: tuple[Array | TensorType, ...] = tuple(every_type().values())
    outputs += (TensorType(None, (2, 3), foreign="NumPy M8"),)
    back = answer_of(*message_of(answer_frame(3, Answer("outputs", outputs))), 3)
    for sent, found in zip(outputs, back.outputs, strict=True):
        assert found == sent if isinstance(sent, TensorType) else same_bits(found, sent)
    refusal = Answer("refused", error="E", message="m", said=("a", "b"))
    back = answer_of(*message_of(answer_frame(3, refusal)), 3)
    assert (back.kind, back.error, back.message, back.said) == ("refused", "E", "m", ("a", "b"))
    crash = answer_of(*message_of(answer_frame(3, Answer("crashed", code=-11))), 3)
    assert crash.text == "crashed: signal 11 (SIGSEGV)"


@for_each("name", LIES)
def test_a_message_that_is_no_answer_is_refused(name: str) -> None:
    with pytest.raises(FrameError):
        answer_of(*message_of(LIES[name]), 1)


def test_the_message_that_lies_are_made_of_is_an_answer() -> None:
    assert answer_of(*message_of(frame(HONEST)), 1).text == "0 outputs"


def test_texts_of_a_message_are_made_printable_and_cut() -> None:
    told = {**HONEST, "kind": "refused", "error": "E\x1b[31m", "message": "x\n" * 9000, "said": ["\7"] * 50}
    answer = answer_of(*message_of(frame(told)), 1)
    assert answer.error == "E\\x1b[31m"
    assert len(answer.message) < 2100
    assert answer.text.isprintable()
    assert answer.said == ("\\x07",) * 12


def test_what_is_too_large_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLargeError, match="4,398,046,511,104 bytes"):
        packed_entries([np.broadcast_to(np.float32(1), (2**20, 2**20))])
    with pytest.raises(TooLargeError, match="257 outputs"):
        packed_entries([np.zeros(1)] * 257)
    monkeypatch.setattr(frames, "MOST_BYTES", 10)
    assert frame({}, [b"x" * 10])
    with pytest.raises(TooLargeError, match="a message of 13 bytes; 10 are allowed"):
        frame({}, [b"x" * 10, b"y"])
