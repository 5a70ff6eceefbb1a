import pytest
from tests.prove.support import FILE, QUICK, module, needs_provers, proofs_of

from sonnx.prove.result import Goal, Proofs
from sonnx.prove.theories import operators_sources, prove_theories
from sonnx.prove.tools import INSTALL

pytestmark = [pytest.mark.prover, needs_provers]


def by_name(proofs: Proofs) -> dict[str, Goal]:
    return {goal.name: goal for goal in proofs.goals}


def test_what_is_true_is_proved_and_what_is_false_is_not() -> None:
    text = module(
        "  goal parts: forall x. x > 1 -> (x > 0 /\\ x + x > 2)\n  goal wrong: forall x. x + x = 3 * x\n"
        "  let rec lemma steps (n: int) variant { n } requires { n >= 0 } ensures { n + n >= n }\n"
        "  = if n > 0 then steps (n - 1)"
    )
    goals = by_name(proofs_of(text))
    assert {name: goal.verdict for name, goal in goals.items() if goal.kind == "proof"} == {
        "parts.1": "proved",
        "parts.2": "proved",
        "wrong": "unknown",
        "steps'vc.1": "proved",
        "steps'vc.2": "proved",
        "steps'vc.3": "proved",
    }
    assert (goals["parts.2"].law, goals["parts.2"].place) == ("parts", f"{FILE}:3")
    assert (goals["steps'vc.1"].law, goals["steps'vc.1"].detail) == ("steps", "variant decrease")
    assert len(goals["wrong"].attempts) >= 4
    assert all(goal.good for goal in goals.values() if goal.kind == "smoke")


def test_a_theory_may_use_shared_ones_and_floats() -> None:
    shared = "module Twice\n  use int.Int\n  function twice (x: int) : int = x + x\nend\n"
    text = (
        "module Tiny\n  use shared.base.Twice\n  use ieee_float.Float32\n"
        "  goal nan: forall x:t. is_nan x -> not (le x x)\n"
        "  scope Inner goal inner: twice 2 = 4 end\nend\n"
    )
    proofs = proofs_of(text, base=shared)
    assert proofs.good, proofs.bad
    assert {"nan", "inner", "premises of nan", "false does not follow"} == by_name(proofs).keys()


def test_a_module_from_which_false_follows_is_a_contradiction() -> None:
    text = module("  function f int : int\n  axiom wrong: forall x. f x = f x + 1\n  goal absurdity: 1 = 2")
    goals = by_name(proofs_of(text))
    assert goals["absurdity"].verdict == "proved"
    assert goals["false does not follow"].verdict == "contradiction"
    assert goals["nothing is taken for granted: axiom"].verdict == "failed"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("  goal vacuous: forall x. x > 0 -> x < 0 -> x = 5", "premises of vacuous"),
        (
            "  let f (x: int) : int requires { x > 0 } requires { x < 0 } ensures { result > x } = x",
            "premises of f'vc",
        ),
    ],
)
def test_premises_that_contradict_each_other_are_found(text: str, name: str) -> None:
    proofs = proofs_of(module(text))
    assert [(goal.name, goal.verdict) for goal in proofs.bad] == [(name, "contradiction")]


def test_a_contradiction_with_a_reason_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {("onnx/tiny", "Tiny", "vacuous"): "that is the point of it"}
    monkeypatch.setattr("sonnx.prove.smoke.CONTRADICTORY", listed)
    proofs = proofs_of(module("  goal vacuous: forall x. x > 0 -> x < 0 -> x = 5"))
    assert proofs.good
    assert by_name(proofs)["premises of vacuous"].detail == "that is the point of it"


@pytest.mark.parametrize(
    "text",
    [
        "module Tiny goal a: 1 = end",
        "module Tiny use shared.none.None goal a: 1 = 1 end",
        "module Tiny goal a: 1 = 1",
        "module Tiny scope A goal a: 1 = 1 end scope B goal a: 1 = 1 end end",
        "\x00",
    ],
)
def test_a_theory_that_cannot_be_read_is_a_failure(text: str) -> None:
    proofs = proofs_of(text)
    assert [(goal.name, goal.verdict) for goal in proofs.goals] == [("the theory can be read", "failed")]
    assert proofs.goals[0].detail


def test_a_law_that_says_nothing_is_not_proved() -> None:
    assert not proofs_of(module("  goal nothing: true")).good


def test_a_theory_without_goals_is_not_proved() -> None:
    assert not proofs_of(module("  constant one: int = 1")).good


def test_named_theories_come_with_what_they_use() -> None:
    sources = {
        "onnx/tiny/theory.mlw": "module Tiny use shared.base.Base goal a: one = 1 end",
        "onnx/other/theory.mlw": "module Other goal b: 1 = 2 end",
        "shared/base.mlw": "module Base use shared.deep.Deep constant one: int = deep end",
        "shared/deep.mlw": "module Deep constant deep: int = 1 end",
        "shared/idle.mlw": "module Idle goal c: 1 = 2 end",
    }
    proofs = prove_theories(["tiny"], sources=sources, options=QUICK)
    assert proofs.subjects == ("onnx/tiny", "shared/base", "shared/deep")
    assert proofs.good
    assert prove_theories(["onnx.Tiny"], sources=sources, options=QUICK).goals[0].subject == "onnx/tiny"
    with pytest.raises(
        ValueError, match="there is no theory of 'none'; there are: onnx/tiny, onnx/other, shared/base"
    ):
        prove_theories(["none"], sources=sources, options=QUICK)


def test_the_package_has_theories() -> None:
    assert {"onnx/clip/laws.mlw", "shared/tensor.mlw"} <= operators_sources().keys()
    assert "apt-get" in INSTALL
