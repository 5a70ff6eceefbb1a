"""Who is asked for a proof, in which order, and for how long."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.prove.support import fake_tools, module, proofs_of, script

from sonnx.prove.configuration import write_configuration
from sonnx.prove.running import Options
from sonnx.prove.wp import Frama, prove_function

NOTING = """
with open({file!r}, "a") as file_of_questions:
    print(words[words.index("-P") + 1], words[words.index("-t") + 1], file=file_of_questions)
for name in asked:
    answer(name, "Timeout")
sys.exit(2)
"""
ALL = {"cvc4", "cvc4nofp", "z3", "z3nofp", "z3new"}


def questions(folder: Path, seconds: int, *, newer: bool = True) -> list[tuple[str, int]]:
    """The provers that are asked for a goal which none proves, each with its seconds."""
    tools = fake_tools(folder, NOTING.format(file=str(folder / "questions")))
    if newer:
        tools = replace(tools, newer_z3=replace(tools.z3, version="5.4.0"))
    options = Options(seconds=seconds, jobs=1, cache=False)
    assert not proofs_of(module("  goal one: 1 = 1"), options=options, tools=tools).good
    lines = (folder / "questions").read_text(encoding="utf-8").splitlines()
    return [(prover, int(limit)) for prover, limit in map(str.split, lines)]


@pytest.mark.parametrize("seconds", [1, 2, 10])
def test_every_prover_is_asked_briefly_before_any_is_for_long(tmp_path: Path, seconds: int) -> None:
    found = questions(tmp_path, seconds)
    limits = [limit for _, limit in found]
    assert found[0] == ("z3brief", 1)
    assert limits == sorted(limits)
    assert len(set(found)) == len(found)
    assert {prover for prover, limit in found if limit == seconds} - {"z3brief"} == ALL


def test_without_a_newer_z3_the_others_are_asked(tmp_path: Path) -> None:
    found = questions(tmp_path, 4, newer=False)
    assert found[0] == ("cvc4nofp", 1)
    assert {prover for prover, limit in found if limit == 4} == ALL - {"z3new"}


def test_the_brief_z3_is_the_newer_one_with_few_steps(tmp_path: Path) -> None:
    tools = fake_tools(tmp_path, "")
    newer = replace(tools.z3, version="5.4.0")
    configuration = write_configuration(tmp_path, replace(tools, newer_z3=newer))
    text = configuration.path.read_text(encoding="utf-8")
    sections = {found[1]: found[0] for found in re.finditer(r'name = "(\w+)"\n(?:[a-z_]+ = .*\n)+', text)}
    same = sections["z3brief"].replace("z3brief", "z3new")
    assert re.sub(r"rlimit=\d+ ", "", same) == sections["z3new"] != same
    assert configuration.provers["z3brief"] == configuration.provers["z3new"] == newer


@pytest.mark.parametrize(
    ("provers", "first"),
    [
        (("z3brief", "cvc4nofp", "z3new"), "z3brief,cvc4nofp"),
        (("cvc4nofp", "z3nofp"), "cvc4nofp"),
    ],
)
def test_the_quickest_provers_look_at_a_function_first_and_then_all(
    tmp_path: Path, provers: tuple[str, ...], first: str
) -> None:
    program = script(
        tmp_path / "frama-c",
        f"""#!/bin/sh
echo "$*" >>{tmp_path}/asked
echo "[wp] 1 goal scheduled"
echo "[wp] [Failed] Goal typed_ieee_node_0_ensures"
echo "  cvc4nofp 1.8: Timeout (5s)"
""",
    )
    frama = Frama(program, tmp_path, {}, provers, "tiny")
    (goal,) = prove_function(frama, "node_0", 7)
    assert goal.verdict == "timeout"
    asked = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
    found = [re.findall(r"-wp-prover (\S+) -wp-timeout (\d+)", line) for line in asked]
    every = ",".join(provers)
    assert found == [[(first, "5")], [(every, "7")], [(every, "28")]]
    assert ["-wp-smoke-tests" in line for line in asked] == [True, False, False]
