from dataclasses import replace
from pathlib import Path

import pytest
from tests.prove.support import (
    fake_tools,
    installed_tools,
    module,
    needs_provers,
    proofs_of,
    script,
    with_prover,
)

from sonnx.prove.result import Proofs
from sonnx.prove.running import Options
from sonnx.prove.tools import Tools

pytestmark = pytest.mark.prover

TEXT = module("  goal one: 1 + 1 = 2\n  goal two: 2 + 2 = 4")
# What answers is waited for, however busy the machine is; only what hangs on purpose is soon given up.
PATIENT = Options(seconds=1, jobs=1, cache=False)
HASTY = replace(PATIENT, patience=2.0)
HANGS = "sleep 600"
HONEST = """
for name in asked:
    answer(name)
"""


def proofs_by(tools: Tools, options: Options = PATIENT) -> Proofs:
    return proofs_of(TEXT, options=options, tools=tools)


def options_for(prover: str) -> Options:
    return HASTY if prover == HANGS else PATIENT


def verdicts(proofs: Proofs) -> dict[str, str]:
    return {goal.name: goal.verdict for goal in proofs.goals}


def test_what_why3_says_plainly_is_believed(tmp_path: Path) -> None:
    proofs = proofs_by(fake_tools(tmp_path, HONEST))
    assert verdicts(proofs) == {"one": "proved", "two": "proved", "false does not follow": "invalid"}
    assert proofs.good


@pytest.mark.parametrize(
    "answers",
    [
        "",
        "print('Valid')",
        "answer('one'); answer('two'); print('and more')",
        "answer('one'); answer('two'); sys.exit(2)",
        "answer('one'); answer('two'); sys.exit(1)",
        "answer('one'); answer('two', 'Timeout')",
        "answer('one'); answer('three')",
        "answer('one', 'Validated'); answer('two')",
        "answer('one'); answer('two', 'High failure'); sys.exit(2)",
        "answer('one'); answer('two'); import os; os.kill(os.getpid(), 9)",
        "answer('one'); print(json.dumps({'prover-result': {'answer': 'Valid'}}))",
        "answer('one'); answer(7)",
        "[]\nprint('[]' * 3)",
        "print('{' * 100000)",
    ],
)
def test_what_why3_does_not_say_plainly_is_not_believed(tmp_path: Path, answers: str) -> None:
    proofs = proofs_by(fake_tools(tmp_path, answers))
    assert not proofs.good
    assert verdicts(proofs)["two"] in {"failed", "timeout"}


def test_a_why3_that_hangs_is_stopped_and_what_it_has_answered_completely_counts(tmp_path: Path) -> None:
    hanging = "answer(asked[0]); answer(asked[-1])\nimport time; time.sleep(600)"
    tools = fake_tools(tmp_path, hanging)
    # Of one that is stopped before it has begun nothing is heard: it gets more time then.
    for patience in (2.0, 10.0, 50.0):
        proofs = proofs_by(tools, replace(HASTY, patience=patience))
        if verdicts(proofs).get("one") == "proved":
            break
    assert verdicts(proofs)["one"] == "proved"
    assert verdicts(proofs)["two"] == "timeout"
    assert not proofs.good


def test_a_goal_that_is_split_in_another_way_by_the_next_prover_is_not_proved(tmp_path: Path) -> None:
    first = "answer('one', 'Timeout'); answer('one'); sys.exit(2)"
    answers = f"""
if "cvc4nofp" in words:
    {first}
elif "z3nofp" in words:
    answer('one')
else:
    answer('one', line=5); answer('one', line=5)
"""
    proofs = proofs_by(fake_tools(tmp_path, answers))
    assert verdicts(proofs)["one.1"] == "timeout"


def test_a_why3_that_prints_no_goals_has_not_read_the_theory(tmp_path: Path) -> None:
    tools = fake_tools(tmp_path, HONEST)
    text = tools.why3.path.read_text(encoding="utf-8").replace(
        "for name, line in every:", "for name, line in []:"
    )
    script(tools.why3.path, text)
    proofs = proofs_by(tools)
    assert verdicts(proofs) == {"the theory can be read": "failed"}


@pytest.mark.parametrize(
    ("prover", "verdict"),
    [
        ("echo unsat", "contradiction"),
        ("echo sat; echo unsat", "failed"),
        ("echo '(error \"line 1: unknown constant\")'; echo unknown", "failed"),
        ("echo rubbish", "failed"),
        ("exit 1", "failed"),
        ("kill -9 $$", "failed"),
        (HANGS, "failed"),
        ("yes", "failed"),
        ("echo unknown", "unknown"),
        ("echo cvc4 interrupted by timeout.; exit 1", "timeout"),
    ],
)
def test_only_a_plain_answer_shows_that_no_contradiction_was_found(
    tmp_path: Path, prover: str, verdict: str
) -> None:
    proofs = proofs_by(fake_tools(tmp_path, HONEST, prover), options_for(prover))
    assert verdicts(proofs)["false does not follow"] == verdict
    assert proofs.good == (verdict in {"unknown", "timeout"})


@pytest.mark.prover
@needs_provers
@pytest.mark.parametrize(
    "prover",
    [
        "echo rubbish",
        "exit 1",
        "kill -9 $$",
        HANGS,
        "head -c 1000000 /dev/zero",
        "echo sat",
        "echo unknown",
    ],
)
def test_a_prover_that_proves_nothing_proves_nothing_through_why3(tmp_path: Path, prover: str) -> None:
    path = script(tmp_path / "prover", f"#!/bin/sh\n{prover}\n")
    tools = with_prover(installed_tools(), path)
    proofs = proofs_of(module("  goal one: 1 + 1 = 2"), options=options_for(prover), tools=tools)
    assert not proofs.good
    assert verdicts(proofs)["one"] != "proved"


@pytest.mark.prover
@needs_provers
def test_a_prover_that_proves_everything_is_found_out(tmp_path: Path) -> None:
    path = script(tmp_path / "prover", "#!/bin/sh\necho unsat\n")
    tools = with_prover(installed_tools(), path)
    proofs = proofs_of(module("  goal one: 1 + 1 = 3"), options=PATIENT, tools=tools)
    assert verdicts(proofs)["false does not follow"] == "contradiction"
    assert not proofs.good
