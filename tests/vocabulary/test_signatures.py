"""Functions made from contracts: parameters, texts, and what calls that do not fit are told."""

import inspect
from typing import Any

import numpy as np
import pytest

from sonnx import xla
from sonnx.model.dtype import DType
from sonnx.vocabulary.operator import Attribute, Contract, Operand
from sonnx.vocabulary.signatures import Arguments, Calling, Taken, arguments, function_of, modes, signature

pytestmark = pytest.mark.measured

TYPES = (DType.FLOAT,)
ABSENT = object()
CONTRACT = Contract(
    "Blend",
    (1,),
    "Blends tensors.",
    (
        Operand("X", "X", "the first", TYPES),
        Operand("Y", "Y", "the second, if any", TYPES, optional=True),
    ),
    (Operand("Z", "Z", "the blend", TYPES),),
    (
        Attribute("axes", "two integers", "where"),
        Attribute("weight", "float", "how much"),
        Attribute("pairs", "pairs of integers", "at both ends"),
        Attribute("other", "computation", "what else"),
        Attribute("word", "text", "one word alone", default="NOTSET"),
        Attribute("accumulate", "text", "how sums are rounded", mode=True, default="separate"),
    ),
    (),
    lambda call: {},
)
SEVERAL = Contract(
    "Join",
    (1,),
    "Joins tensors.",
    (Operand("parts", "X", "the tensors", TYPES, variadic=True),),
    (),
    (Attribute("axis", "integer", "along which"), Attribute("step", "integer", "how far")),
    (),
    lambda call: {},
)


def test_operands_come_first_then_attributes_by_keyword_that_may_be_absent() -> None:
    found = signature(CONTRACT, Calling(operand=Any, result=int, absent=ABSENT))
    assert list(found.parameters) == ["X", "Y", "axes", "weight", "pairs", "other", "word", "accumulate"]
    kinds = {name: parameter.kind for name, parameter in found.parameters.items()}
    assert [name for name, kind in kinds.items() if kind is inspect.Parameter.KEYWORD_ONLY] == [
        *("axes", "weight", "pairs", "other", "word", "accumulate")
    ]
    assert found.parameters["Y"].default is None
    assert found.parameters["axes"].default is ABSENT
    assert found.parameters["word"].default == "NOTSET"
    assert found.return_annotation is int
    assert "*parts: Any" in str(signature(SEVERAL, Calling(operand=Any, result=int)))


def test_attributes_may_be_written_by_position_after_a_list() -> None:
    several = signature(SEVERAL, Calling(operand=int, result=int, listed=True))
    assert str(several) == "(parts: collections.abc.Sequence[int], axis: int, step: int) -> int"


def test_modes_are_parameters_where_they_are_asked_for() -> None:
    assert modes(CONTRACT) == {"accumulate": "separate"}
    calling = Calling(operand=Any, result=int, absent=ABSENT, modes=False)
    assert "accumulate" not in signature(CONTRACT, calling).parameters
    made = function_of("blend", "here", CONTRACT, calling, lambda given: given)
    assert "accumulate" not in str(made.__doc__)


def test_a_call_gives_operands_and_attributes_by_name() -> None:
    calling = Calling(operand=Any, result=int, absent=ABSENT)
    made = function_of("blend", "sonnx.here", CONTRACT, calling, lambda given: given)
    assert made(1, axes=(2, 3), weight=0.5, accumulate="fused") == Arguments(
        {"X": 1, "Y": None},
        {
            **{"axes": (2, 3), "weight": 0.5, "pairs": ABSENT, "other": ABSENT},
            **{"word": "NOTSET", "accumulate": "fused"},
        },
    )
    assert (made.__name__, made.__qualname__, made.__module__) == ("blend", "blend", "sonnx.here")
    assert inspect.getdoc(made) == (
        "Blends tensors.\n\n`X`: the first;\n`Y`: the second, if any;\n`axes`: where;\n`weight`: how much;\n"
        "`pairs`: at both ends;\n`other`: what else;\n`word`: one word alone;\n"
        "`accumulate`: how sums are rounded.\n\nRaises RuleError where a rule is broken."
    )


def test_several_operands_come_one_after_the_other_or_as_a_list() -> None:
    wanted = Arguments({"parts0": 7, "parts1": 8}, {"axis": 1, "step": 2})
    starred = Taken(signature(SEVERAL, Calling(operand=Any, result=int, absent=ABSENT)))
    assert arguments("join", SEVERAL, starred, (7, 8), {"axis": 1, "step": 2}) == wanted
    listed = Taken(signature(SEVERAL, Calling(operand=Any, result=int, listed=True)))
    assert arguments("join", SEVERAL, listed, ([7, 8], 1), {"step": 2}) == wanted
    for odd in (7, "ab"):
        with pytest.raises(TypeError, match=r"^join: give the parts as a list, then `axis` and `step`$"):
            arguments("join", SEVERAL, listed, (odd, 1, 2), {})


def test_arguments_that_do_not_fit_are_told_what_is_taken() -> None:
    x = np.float32(1)
    with pytest.raises(TypeError, match=r"^clamp: missing .*: 'max'; it takes operand, min, max$"):
        xla.clamp(x, x)
    with pytest.raises(TypeError, match=r"^collapse: .*unexpected .* 'axis'; it takes operand, dimensions$"):
        xla.collapse(x, [0], axis=1)
    with pytest.raises(TypeError, match=r"^collapse: missing .* 'operand'; it takes operand, dimensions$"):
        xla.ComputationBuilder("b").collapse()


def test_arguments_are_sorted_as_python_sorts_them() -> None:
    """`inspect` is the witness: what it refuses is refused, and what it takes is taken in its order."""
    calling = Calling(operand=Any, result=int, absent=ABSENT)
    tried: list[tuple[Contract, list[tuple[tuple[Any, ...], dict[str, Any]]]]] = [
        (
            CONTRACT,
            [((1,), {}), ((1, 2), {"word": "a"}), ((), {"Y": 2, "X": 1}), ((1,), {"Y": 2, "axes": 3})],
        ),
        (CONTRACT, [((), {}), ((1, 2, 3), {}), ((1,), {"X": 2}), ((1,), {"other_one": 2})]),
        (SEVERAL, [((7, 8), {"axis": 1}), ((), {"step": 2}), ((7,), {"parts": 8}), ((), {"steps": 2})]),
    ]
    for contract, calls in tried:
        taken = signature(contract, calling)
        for args, keywords in calls:
            found = Taken(taken).quickly(args, keywords)
            try:
                bound = taken.bind(*args, **keywords)
            except TypeError:
                assert found is None
            else:
                bound.apply_defaults()
                assert found is not None
                assert list(found.items()) == list(bound.arguments.items())


def test_methods_have_self_and_the_name_of_their_class() -> None:
    method = vars(xla.ComputationBuilder)["clamp"]
    assert list(inspect.signature(method).parameters) == ["self", "operand", "min", "max"]
    assert method.__qualname__ == "ComputationBuilder.clamp"
    assert "clamp" in dir(xla.ComputationBuilder("b"))
    assert list(inspect.signature(xla.ComputationBuilder("b").conv).parameters) == [
        *("lhs", "rhs", "window_strides", "padding")
    ]


def test_every_operation_is_a_public_function_and_nothing_else_is() -> None:
    assert {"clamp", "call", "conv_with_general_padding", "Shape"} <= set(xla.__all__) <= set(dir(xla))
    for name in ("nothing", "_private"):
        with pytest.raises(AttributeError, match=f"module 'sonnx.xla' has no attribute '{name}'"):
            getattr(xla, name)
