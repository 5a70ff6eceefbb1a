import pytest

from sonnx.prove.result import Goal, Proofs, Verdict, joined, laws


def goal(verdict: Verdict, *, smoke: bool = False, law: str = "law") -> Goal:
    return Goal("onnx/tiny", "Tiny", "name", verdict, kind="smoke" if smoke else "proof", law=law)


@pytest.mark.parametrize("verdict", ["timeout", "unknown", "invalid", "failed", "contradiction"])
def test_only_a_proved_goal_is_good(verdict: Verdict) -> None:
    assert not goal(verdict).good
    assert goal("proved").good


@pytest.mark.parametrize("verdict", ["proved", "failed", "contradiction"])
def test_a_smoke_goal_is_good_only_if_somebody_tried_in_vain(verdict: Verdict) -> None:
    assert not goal(verdict, smoke=True).good
    assert goal("unknown", smoke=True).good
    assert goal("timeout", smoke=True).good
    assert goal("invalid", smoke=True).good


def test_without_a_goal_nothing_is_proved() -> None:
    assert not Proofs(()).good
    assert not Proofs((goal("unknown", smoke=True),)).good


def test_one_bad_goal_spoils_all() -> None:
    assert Proofs((goal("proved"), goal("proved"))).good
    assert not Proofs((goal("proved"), goal("timeout"))).good
    assert not Proofs((goal("proved"), goal("contradiction", smoke=True))).good


def test_the_parts_of_a_law_count_once() -> None:
    assert laws([goal("proved"), goal("proved"), goal("proved", law="other"), goal("proved", law="")]) == 2


def test_runs_are_joined_with_everything_they_stand_on() -> None:
    first = Proofs((goal("proved"),), (("z3", "1"),), 1.5, ("a",), (("x", "1"), ("y", "2")))
    second = Proofs(
        (goal("timeout"),), (("z3", "1"), ("why3", "2")), 2.0, ("b", "a"), (("y", "2"), ("y", "3"))
    )
    assert joined([first, second]) == Proofs(
        goals=(goal("proved"), goal("timeout")),
        tools=(("z3", "1"), ("why3", "2")),
        seconds=3.5,
        assumptions=("a", "b"),
        sources=(("x", "1"), ("y", "2"), ("y", "3")),
    )
