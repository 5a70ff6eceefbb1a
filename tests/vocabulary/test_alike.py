"""Which calls serve one another: those that no rule can tell apart, and none that could fill the memory."""

from typing import Any

from tests.loops import for_each

from sonnx.derive.tracing import signs
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.vocabulary.call import ABSENT, Call, alike

X = {"X": TensorType(DType.FLOAT, (2,))}


def asked(value: Any) -> Call:
    return Call("OfNobody", X, {"a": value})


@for_each("value", [0, 1.5, True, "text", ABSENT, (1, 2), ((1, 2), (3, 4)), ()])
def test_calls_of_the_same_values_are_alike(value: Any) -> None:
    assert alike(asked(value)) is not None
    assert alike(asked(value)) == alike(asked(value))
    assert hash(alike(asked(value))) == hash(alike(asked(value)))


@for_each(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ((1, 0), (True, 0)),
        ((0.0,), (-0.0,)),
        ("1", 1),
        (((1,),), ((1.0,),)),
    ],
)
def test_what_rules_can_tell_apart_is_not_alike(one: Any, other: Any) -> None:
    assert alike(asked(one)) != alike(asked(other))


@for_each("value", [[1], {}, object(), ([1],), "x" * 1001, (0,) * 1001, ("x" * 1001,)], ids=lambda _: "")
def test_what_may_change_or_is_very_long_is_not_remembered(value: Any) -> None:
    assert alike(asked(value)) is None


def test_a_size_with_a_very_long_name_is_not_remembered() -> None:
    # Texts of types are cut, so it is the name itself that counts.
    for name, kept in (("n", True), ("n" * 2000, False)):
        kind = TensorType(DType.FLOAT, (name,))
        assert (alike(Call("OfNobody", {"X": kind})) is not None) == kept
        assert (alike(Call("OfNobody", X, outputs={"Y": kind})) is not None) == kept


def test_zeros_are_told_apart_in_lists_too() -> None:
    assert signs({"a": 0.0, "b": [-0.0, (0.0, 1)], "c": "text"}) == (1, -1, 1)
