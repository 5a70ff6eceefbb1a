"""The tools that tests are judged by can fail themselves: loops, thinned values, drawn mutants."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import budgets
from tests.loops import for_each
from tests.mutants.drawing import ROOT, SOURCES, Mutant, drawn

MUTANT = Mutant("src/sonnx/x.py", 2, "    return a < b", 11, "a < b", "(a <= b)")


def failure(test: Callable[..., object]) -> str:
    # Whatever ends the loop is looked at: a skip that got out would skip the test that asks for it.
    with pytest.raises((pytest.fail.Exception, pytest.skip.Exception)) as caught:
        test()
    return str(caught.value)


def test_a_loop_tells_every_row_that_fails_is_skipped_or_returns() -> None:
    asked = []

    @for_each("n", [1, 2, 3, 4, 5])  # type: ignore[arg-type]  # one row returns something
    def test(n: int) -> object:
        asked.append(n)
        assert n != 1
        if n == 2:
            pytest.skip("not here")
        if n == 3:
            pytest.fail("no")
        return False if n == 4 else None

    said = failure(test)
    assert asked == [1, 2, 3, 4, 5]
    assert said.startswith("4 of 5 fail:")
    assert [f"[{n}]" in said for n in asked] == [True, True, True, True, False]


def test_a_loop_that_asks_nothing_is_refused() -> None:
    for values in ([], [pytest.param(1, 2)]):
        with pytest.raises(AssertionError):
            for_each(("a", "b"), values)(lambda a, b: None)

    def generator(n: int) -> object:
        yield n

    with pytest.raises(AssertionError):
        for_each("n", [1])(generator)  # type: ignore[arg-type]  # no test, which is looked at


def test_thinned_values_have_both_ends_and_are_all_there_in_the_deep_tier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budgets, "deep", False)
    some = budgets.thinned(range(1000), 10)
    assert (len(some), some[0], some[-1]) == (10, 0, 999)
    assert [budgets.examples(n) for n in (3, 20, 500)] == [3, 5, 100]
    monkeypatch.setattr(budgets, "deep", True)
    assert budgets.thinned(range(1000), 10) == range(1000)
    assert budgets.examples(500) == 500


def test_a_mutant_finds_its_line_where_that_has_moved_and_none_where_it_is_gone() -> None:
    source = "# more\n# lines\nif x:\n        return a < b\n"
    assert MUTANT.applied(source) == source.replace("a < b", "(a <= b)")
    assert MUTANT.applied("return b\n") is None


def test_what_was_judged_is_still_there_and_so_is_what_killed_it() -> None:
    lost = []
    for entry in json.loads((Path(__file__).parent / "drawn.json").read_text()):
        killed = entry.pop("killed")
        mutant = Mutant(**entry)
        path = ROOT / mutant.path
        if not path.exists() or mutant.applied(path.read_text()) is None:
            lost.append(f"{mutant.path}: {mutant.text}")
        for name in set(killed.values()) - {"lives", "hangs"}:
            file, _, test = name.partition("::")
            # An error while a file is read has no test's name.
            wanted = re.match(r"\w*", test)[0]  # type: ignore[index]  # it matches nothing, too
            if not (ROOT / file).exists() or f"def {wanted}" not in (ROOT / file).read_text():
                lost.append(name)
    assert lost == []


@pytest.mark.mutant
def test_mutants_are_drawn_from_every_layer_and_change_their_files() -> None:
    mutants = drawn(80, 1)
    assert mutants == drawn(80, 1)
    folders = {path.name for path in SOURCES.iterdir() if any(path.glob("*.py"))}
    assert folders - {"sources"} <= {mutant.layer for mutant in mutants}
    root = Path(SOURCES).parents[1]
    for mutant in mutants:
        text = (root / mutant.path).read_text()
        assert mutant.applied(text) not in (None, text)
