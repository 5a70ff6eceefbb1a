import pytest

from sonnx.prove.mlw import TheoryError, loopholes, read_theory, subject_of, used_files
from sonnx.prove.smoke import CONTRADICTION, TasksError, marked, without_goal

TEXT = """(* module Not (* nested goal *) "quote here *)
module First
  use int.Int
  use import shared.tensor.Tensor
  scope Inner
    lemma inside: 1 = 1
  end
  function (*) (x y: int) : int = match x with 0 -> y | _ -> x end
  let rec lemma by_steps (n: int) : unit = begin () end
  goal [@expl:an axiom] named: "goal string" = "(*"
  clone export list.Length with lemma cloned
end
module Second (* end *) goal last: true end
"""


def test_modules_and_laws_are_found_outside_of_comments_strings_and_clones() -> None:
    first, second = read_theory("onnx/tiny/theory.mlw", TEXT).modules
    assert (first.name, first.first, first.last, first.scoped) == ("First", 2, 12, True)
    assert [(law.name, law.goal, law.line) for law in first.laws] == [
        ("inside", "inside", 6),
        ("by_steps", "by_steps'vc", 9),
        ("named", "named", 10),
    ]
    assert (second.name, second.first, second.last, second.scoped) == ("Second", 13, 13, False)
    assert TEXT[second.end :] == "end\n"


def test_a_theory_is_about_its_folder_or_its_own_name() -> None:
    assert subject_of("onnx/clip/laws.mlw") == "onnx/clip"
    assert subject_of("graph/theory.mlw") == "graph"
    assert subject_of("shared/tensor.mlw") == "shared/tensor"


def test_what_a_theory_uses_is_found() -> None:
    used = used_files(read_theory("x.mlw", TEXT))
    assert used == {"int.mlw", "shared/tensor.mlw", "list.mlw"}


@pytest.mark.parametrize("text", ["module A", "module A match x with end", "goal a: true", "module A end (*"])
def test_a_text_that_is_no_theory_is_refused(text: str) -> None:
    with pytest.raises(TheoryError):
        read_theory("x.mlw", text)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("axiom a: 1 = 2", "axiom"),
        ("clone export x.Y with axiom .", "axiom"),
        ("val f (x: int) : int", "val"),
        ("let f () = any int", "any"),
        ("let f () = assume { 1 = 2 }", "assume"),
        ("let rec f () : int diverges = f ()", "diverges"),
        ("type t = private { mutable x: int }", "private"),
        ('meta "rewrite" lemma a', "meta"),
        ("let [@vc:divergent] f () = ()", "vc:divergent"),
    ],
)
def test_everything_taken_for_granted_is_found(line: str, word: str) -> None:
    found = loopholes(read_theory("x.mlw", f"module A\n  {line}\nend\n"))
    assert [(hole.line, hole.word, hole.shown, hole.reason) for hole in found] == [(2, word, line, None)]


def test_words_in_comments_strings_and_names_are_nothing_taken_for_granted() -> None:
    text = 'module A (* axiom *) goal [@expl:axiom] axiom_free: "axiom" = "val" constant many: int = 1 end'
    assert loopholes(read_theory("x.mlw", text)) == []


def test_an_assumption_with_a_reason_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sonnx.prove.mlw.ASSUMPTIONS", {("x.mlw", "axiom a: 1 = 1"): "it is known"})
    text = "module A\n axiom a: 1 = 1\n axiom b: 1 = 1\nend"
    assert [hole.reason for hole in loopholes(read_theory("x.mlw", text))] == ["it is known", None]
    assert [hole.reason for hole in loopholes(read_theory("y.mlw", text))] == [None, None]


def test_every_module_gets_one_goal_more_and_keeps_its_lines() -> None:
    theory = read_theory("x.mlw", TEXT)
    changed = read_theory("x.mlw", marked(theory))
    assert [module.laws[:-1] for module in changed.modules] == [module.laws for module in theory.modules]
    assert [module.laws[-1].name for module in changed.modules] == [CONTRADICTION] * 2
    assert marked(theory).count("\n") == TEXT.count("\n")


HEAD = ';; Goal a\n;; File "x.mlw", line 1, characters 1-2\n'


def test_the_goal_is_left_out_of_a_script_and_nothing_else() -> None:
    goal = '(assert\n (not (= |)| ")")))\n; )\n\n'
    text = f"(assert (not p))\n{HEAD}{goal}(check-sat)\n(get-info :reason-unknown)\n"
    with pytest.raises(TasksError):
        without_goal(text)
    assert without_goal(text.replace("; )\n", "")) == f"(assert (not p))\n{HEAD}(check-sat)\n"


@pytest.mark.parametrize(
    "text",
    [
        "(assert (not p))\n(check-sat)\n",
        f"{HEAD}(assert p)\n(check-sat)\n",
        f"{HEAD}(assert (not p)\n(check-sat)\n",
        f"{HEAD}(assert (not p))\n(assert q)\n(check-sat)\n",
        f"{HEAD}{HEAD}(assert (not p))\n(check-sat)\n",
        f"{HEAD}(assert (not p))\n",
    ],
)
def test_a_script_whose_goal_cannot_be_told_is_refused(text: str) -> None:
    with pytest.raises(TasksError):
        without_goal(text)


def test_a_lemma_within_a_proof_is_a_step_and_no_law() -> None:
    text = """module A
  use int.Int
  let lemma outer (x: int) : unit
    ensures { x = x }
  = let lemma inner (y: int) : unit ensures { y = y } = () in
    inner x; let rec lemma deeper (z: int) : unit ensures { z = z } variant { z } = () in deeper x
  let rec lemma after (x: int) : unit variant { x } ensures { x = x } = ()
  lemma plain: 1 = 1
end
"""
    (module,) = read_theory("onnx/a/theory.mlw", text).modules
    assert [law.goal for law in module.laws] == ["outer'vc", "after'vc", "plain"]
