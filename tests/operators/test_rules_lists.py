"""Rules on lists, words, ranks and denotations that are made from data, of a pool made up here."""

from dataclasses import replace

import pytest

from sonnx.operators.rules import made_lists, values
from sonnx.operators.rules.made import Owner
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.rule import Broken, Rule, Shown

POOL = Owner(
    "Pool",
    call("Pool", {"X": "float[1,2,5,5]"}, {"kernel": (3, 3), "pads": (0, 0), "steps": (1, 1), "mode": "max"}),
    "D-POOL",
)


def _two(call: Call, length: int) -> list[Shown] | None:
    return None if "X" not in call.inputs else [Shown("X", str(call.inputs["X"]), f"so {length} values")]


LISTS = made_lists.listed(
    POOL,
    _two,
    [
        ("kernel.D1", "[lines, columns]", (3,), "D-POOL", "It has lines and columns."),
        ("kernel.D2", 1, (3, 0), "D-POOL", "It has taps."),
        ("pads.D1", 0, (0, -1), "", "Zeros are counted."),
    ],
)


def _spatial(call: Call) -> int | None:
    shape = call.inputs["X"].shape or ()
    return len(shape) - 2 if len(shape) > 2 else None


STEPS = made_lists.one_per_axis(POOL, "steps.D1", values.POSITIVE, _spatial, "So.", (1,), (2, 2))
WORD = made_lists.mode(POOL, "mode.D1", ("max", "mean"), "write max or mean")
RANK = made_lists.rank(POOL, "X.D1", "batch, channels, lines, columns", "Images.", "float[5]")
DENOTATIONS = ("DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE")
DENOTED = made_lists.denoted(POOL, "X.D2", DENOTATIONS, DENOTATIONS[::-1])
OF_POOL = [*LISTS["kernel"], *LISTS["pads"], STEPS, WORD, RANK, DENOTED]


@pytest.mark.parametrize("rule", OF_POOL, ids=lambda rule: rule.identifier)
def test_a_rule_on_a_list_a_word_or_a_rank_is_broken_by_its_failing_example_alone(rule: Rule) -> None:
    assert [each for each in OF_POOL if each.predicate(rule.failing)] == [rule]
    assert not any(each.predicate(rule.passing) for each in OF_POOL)
    assert rule.identifier.startswith("pool.")
    assert rule.made_from


def test_rules_on_lists_words_and_ranks_say_what_to_do() -> None:
    found = {rule.identifier: (rule.statement, rule.predicate(rule.failing)) for rule in OF_POOL}
    shown = Shown("X", "float[1,2,5,5]", "so 2 values")
    assert found["pool.kernel.D1"] == (
        "`kernel` needs two values.",
        Broken((Shown("kernel", "[3]", "1 value"), shown), "write kernel = [lines, columns]"),
    )
    assert found["pool.kernel.D2"] == (
        "The values of `kernel` must be integers from 1 up.",
        Broken(
            (Shown("kernel", "[3, 0]", "not a positive integer of 64 bits: 0"),), "write positive integers"
        ),
    )
    assert found["pool.steps.D1"] == (
        "`steps` needs one integer from 1 up for each spatial dimension.",
        Broken(
            (Shown("steps", "[1]", "1 value"), Shown("X", "float[1,2,5,5]", "2 spatial dimensions")),
            "write 2 integers from 1 up",
        ),
    )
    assert found["pool.mode.D1"] == (
        "The accumulation mode must be `max` or `mean`.",
        Broken((Shown("mode", "'fast'"),), "write max or mean"),
    )
    assert found["pool.X.D1"] == (
        "`X` must have rank 4: batch, channels, lines, columns.",
        Broken((Shown("X", "float[5]", "rank 1"),), "give `X` rank 4: batch, channels, lines, columns"),
    )
    assert found["pool.X.D2"][0] == f"If the axes of `X` are denoted, they must be {', '.join(DENOTATIONS)}."


def test_an_attribute_that_is_absent_is_left_to_the_general_rule() -> None:
    bare = replace(POOL.good, attributes={})
    assert not any(rule.predicate(bare) for rule in OF_POOL)


def test_of_the_length_of_a_list_nothing_is_said_where_nothing_is_known() -> None:
    unknown = replace(POOL.but(kernel=(1, 1, 1)), inputs={})
    assert LISTS["kernel"][0].predicate(unknown) is None
    assert LISTS["kernel"][0].predicate(POOL.but(kernel=3)) == Broken(
        (Shown("kernel", "3", "not a list"), Shown("X", "float[1,2,5,5]", "so 2 values")),
        "write kernel = [lines, columns]",
    )
