"""Several functions in one run of Frama-C: none is taken for another, and none is lost."""

from itertools import chain, combinations
from pathlib import Path

from proofs.units import PROJECTS, emitted_texts
from tests.prove.support import script

from sonnx.prove.contracts import called_functions, contracts, lengths_of_functions
from sonnx.prove.wp import Frama, alike, batches, prove_functions

CALLS = {
    "copy_in": frozenset({"same"}),
    "node_0": frozenset({"node_0_element"}),
    "node_0_element": frozenset[str](),
    "node_1": frozenset({"node_1_element", "same_too"}),
    "net_run": frozenset({"copy_in", "node_0", "node_1"}),
}
# A made-up Frama-C: it notes what it is asked for, and says what stands in a file of that name.
FRAMA = """#!/bin/sh
while [ "$1" != "-wp-fct" ]; do shift; done
echo "$2" >> {folder}/asked
cat "{folder}/$2"
"""
GOOD = "[wp] [Qed] Goal typed_ieee_{name}_ensures : Valid (1ms)\n"


def frama_saying(folder: Path, **said: str) -> Frama:
    for names, text in said.items():
        (folder / names.replace("__and__", ",")).write_text(text)
    program = script(folder / "frama-c", FRAMA.format(folder=folder))
    return Frama(program, folder, {}, ["z3brief", "cvc4nofp"], "tiny")


def scheduled(count: int, *names: str) -> str:
    return f"[wp] {count} goals scheduled\n" + "".join(GOOD.format(name=name) for name in names)


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().split()


def test_who_could_be_taken_for_another_is() -> None:
    assert not alike("copy_in", "node_0", CALLS)
    assert not alike("node_0", "node_1", CALLS)
    assert alike("node_0", "node_0_element", CALLS)  # it calls it, and their names begin alike
    assert alike("net_run", "node_1", CALLS)
    assert alike("node_1", "net_run", CALLS)
    assert alike("copy_in", "unknown", CALLS)  # nobody knows what it calls
    assert alike("a", "b", {"a": frozenset({"fmaf"}), "b": frozenset({"fmaf"})})


def test_batches_have_everybody_once_and_nobody_with_somebody_alike() -> None:
    complaints: list[object] = []
    for project in PROJECTS:
        text = emitted_texts(project)["model.c"]
        calls, names = called_functions(text), list(contracts(text))
        assert calls.keys() == lengths_of_functions(text).keys() == {*names}
        for most in (1, 3, 6):
            made = batches(names, calls, most)
            complaints += [] if sorted(chain(*made)) == sorted(names) else [(project, most)]
            complaints += [batch for batch in made if len(batch) > most]
            complaints += [pair for batch in made for pair in combinations(batch, 2) if alike(*pair, calls)]
        assert len(batches(names, calls, 6)) < len(names)
    assert complaints == []


def test_calls_are_read_from_bodies_and_not_from_contracts() -> None:
    text = """/*@ assigns \\nothing;
    ensures said(\\result); */
static int f(int a)
{
    //@ assert claimed(a);
    for (int i = 0; i < 2; i++) {
        g(h (i)); /* k(1) */
    }
    return (int)(a);
}
"""
    assert called_functions(text) == {"f": {"g", "h"}}


def test_every_goal_is_that_of_its_function(tmp_path: Path) -> None:
    search = "[wp] [Passed] Smoke-test typed_ieee_{}_s7\n"
    said = (
        scheduled(5, "copy_in", "node_1")
        + search.format("node_1_wp_smoke_dead_loop")
        + search.format("node_1_element_wp_smoke_dead_call")
        + search.format("same_wp_smoke_dead_call")
    )
    frama = frama_saying(tmp_path, copy_in__and__node_1=said)
    found = prove_functions(frama, ["copy_in", "node_1"], 1, calls=CALLS)
    assert {name: sorted(goal.kind for goal in goals) for name, goals in found.items()} == {
        "copy_in": ["proof", "smoke"],
        "node_1": ["proof", "smoke", "smoke"],
    }
    assert all(goal.good and goal.unit == name for name, goals in found.items() for goal in goals)
    assert asked(tmp_path) == ["copy_in,node_1"]


def test_where_it_is_not_clear_whose_a_goal_is_each_gets_a_run_of_its_own(tmp_path: Path) -> None:
    unclear = {
        "of nobody": scheduled(3, "copy_in", "node_1", "other"),
        "none of one": scheduled(1, "copy_in"),
        "one too few": scheduled(3, "copy_in", "node_1"),
        "a warning": scheduled(2, "copy_in", "node_1") + "[wp] model.c:1: Warning: Missing RTE guards\n",
        "a call of nobody's": scheduled(3, "copy_in", "node_1")
        + "[wp] [Passed] Smoke-test typed_ieee_other_wp_smoke_dead_call_s7\n",
    }
    for number, (why, said) in enumerate(unclear.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        alone = {"copy_in": scheduled(1, "copy_in"), "node_1": scheduled(2, "node_1")}
        frama = frama_saying(folder, copy_in__and__node_1=said, **alone)
        found = prove_functions(frama, ["copy_in", "node_1"], 1, calls=CALLS)
        assert asked(folder) == ["copy_in,node_1", "copy_in", "node_1"], why
        assert [goal.verdict for goal in found["copy_in"]] == ["proved"], why
        assert [goal.verdict for goal in found["node_1"]] == ["proved", "failed"], why


def test_only_who_has_open_goals_is_tried_again(tmp_path: Path) -> None:
    late = "[wp] [Failed] Goal typed_ieee_node_1_ensures\n  z3brief 5.4.0: Timeout (1s)\n"
    frama = frama_saying(
        tmp_path, copy_in__and__node_1=scheduled(2, "copy_in") + late, node_1=scheduled(1, "node_1")
    )
    found = prove_functions(frama, ["copy_in", "node_1"], 7, calls=CALLS)
    assert asked(tmp_path) == ["copy_in,node_1", "node_1"]
    assert {goal.verdict for goals in found.values() for goal in goals} == {"proved"}
    (tmp_path / "node_1").write_text(scheduled(1) + late)
    found = prove_functions(frama, ["copy_in", "node_1"], 7, calls=CALLS)
    assert [goal.verdict for goal in found["node_1"]] == ["timeout"]
    assert [goal.verdict for goal in found["copy_in"]] == ["proved"]
    assert asked(tmp_path)[2:] == ["copy_in,node_1", "node_1", "node_1"]
