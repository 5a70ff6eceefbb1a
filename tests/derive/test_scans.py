"""What looks for elements outside a domain, in C: which operands it takes, and where there is none."""

from dataclasses import replace
from typing import Any

import pytest

from sonnx.derive.fast_domains import NoScanError, guarded, scan
from sonnx.derive.plain_c import plain
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import tensor_type
from sonnx.operators import operator
from sonnx.terms.term import Term, Truth
from sonnx.terms.tracing import Domain, Kind
from sonnx.vocabulary.kernel import KernelRequest
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.plain import PlainRequest

pytestmark = pytest.mark.measured


def below(input: Term, min: Term) -> Truth:
    return min < input


def chosen(condition: Term, X: Term) -> Truth:
    return condition & (X < 0)


def with_domain(name: str, inside: Any, *kinds: Kind) -> Operator:
    found = operator(name)
    assert found.definition is not None
    domain = Domain(inside, "as said", kinds=kinds or ("integers", "floats"))
    return replace(found, definition=replace(found.definition, domain=domain))


def request(**types: str) -> KernelRequest:
    """Tensors are called as their operands, in small letters."""
    *inputs, output = types
    kinds = {name.lower(): tensor_type(text) for name, text in types.items()}
    return KernelRequest({name: name.lower() for name in inputs}, {output: output.lower()}, kinds, {}, ".0.")


CLIP = {"input": "int32[7]", "min": "int32[]", "max": "int32[]", "output": "int32[7]"}


def test_scalars_are_read_once_and_only_what_is_asked_is_read() -> None:
    clip, asked = with_domain("Clip", below), request(**CLIP)
    guard = guarded(clip, asked)
    assert guard is not None
    assert (guard.operands, tuple(guard.asked)) == (("input", "min", "max"), ("input", "min"))
    call = scan(clip, asked, guard, "found")
    assert (call.reads, call.writes, call.tasks) == (("input", "min"), ("found",), 1)
    assert call.text is not None
    assert "const int32_t *from_input = (const int32_t *)operands[0] + begin;" in call.text
    assert "const int32_t min = *(const int32_t *)operands[1];" in call.text
    assert "int64_t *found = (int64_t *)operands[2] + task;" in call.text


def test_conditions_are_bytes() -> None:
    types = {"condition": "bool[3]", "X": "float[3]", "Y": "float[3]", "output": "float[3]"}
    where, asked = with_domain("Where", chosen), request(**types)
    guard = guarded(where, asked)
    assert guard is not None
    text = scan(where, asked, guard, "found").text
    assert text is not None
    assert "const uint8_t *from_condition = (const uint8_t *)operands[0] + begin;" in text
    assert "const float *from_X = (const float *)operands[1] + begin;" in text


def test_types_of_other_kinds_and_operators_without_a_domain_have_no_guard() -> None:
    assert guarded(with_domain("Clip", below, "floats"), request(**CLIP)) is None
    assert guarded(operator("Clip"), request(**CLIP)) is None
    assert guarded(operator("HardSwish"), request(X="float[3]", Y="float[3]")) is None


def test_a_type_that_has_no_statements_has_no_scan() -> None:
    clip = with_domain("Clip", below)
    asked = request(**{name: text.replace("int32", "bfloat16") for name, text in CLIP.items()})
    guard = guarded(clip, asked)
    assert guard is not None
    assert guard.kind is DType.BFLOAT16
    with pytest.raises(NoScanError):
        scan(clip, asked, guard, "found")


@pytest.mark.parametrize("is_guarded", [True, False])
def test_plain_functions_demand_the_domain_of_their_operands(is_guarded: bool) -> None:
    asked = request(**CLIP)
    made = plain(
        with_domain("Clip", below),
        PlainRequest(
            "node_0",
            {operand: asked.types[name] for operand, name in asked.inputs.items()},
            {"output": asked.types["output"]},
            arrays={name: f"t_{name}" for name in ("input", "min", "max", "output")},
            guarded=is_guarded,
        ),
    )
    assert made.guard == ("node_0_outside" if is_guarded else "")
    required = "/*@ requires \\forall integer k; 0 <= k < 7 ==> node_0_inside(t_input[k], t_min[0]);"
    assert (required in made.text) is is_guarded
    assert ("if (!(t_min[0] < t_input[i])) {" in made.text) is is_guarded
    assert made.outside == (
        "\\exists integer k; 0 <= k < 7 && !node_0_inside(t_input[k], t_min[0])" if is_guarded else ""
    )
