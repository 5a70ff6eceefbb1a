"""Mutants of plain kernels: WP must reject each. The kernels themselves are proved by `make prove`."""

import pytest
from tests.prove.projects import changed, frama_on, needs_frama_c, tiny

from sonnx.prove import wp
from sonnx.prove.contracts import contracts

pytestmark = [pytest.mark.prover, needs_frama_c]

# Operator, function, what is changed in its C, and a goal that fails then.
MUTANTS = {
    "clip-swapped-bounds": (
        "Clip",
        "_element",
        "chosen = input < min ? min : input;",
        "chosen = input < min ? max : input;",
        "ensures",
    ),
    "clip-other-order": (
        "Clip",
        "_element",
        "return max < chosen ? max : chosen;",
        "return max < input ? max : chosen;",
        "ensures",
    ),
    "clip-not-less": ("Clip", "_element", "chosen = input < min ?", "chosen = !(input >= min) ?", "ensures"),
    "clip-one-too-few": (
        "Clip",
        "",
        "i < 6; i++) {\n        t_t3[i] =",
        "i < 5; i++) {\n        t_t3[i] =",
        "ensures",
    ),
    "where-swapped-branch": ("Where", "_element", "if (condition != 0)", "if (condition == 0)", "ensures"),
    "where-only-one-is-true": ("Where", "_element", "if (condition != 0)", "if (condition == 1)", "ensures"),
    "expand-other-axis": (
        "Expand",
        "",
        "_element(t / 6 % 3);",
        "_element(t % 3);",
        "loop_invariant_2_preserved",
    ),
    "expand-beyond-the-input": ("Expand", "", "_element(t / 6 % 3);", "_element(t / 6 % 4);", "call_node"),
    "conv-pad-offset": (
        "Conv",
        "_element",
        "at_m0 = m0 * 2 + k0 - 1;\n                const int32_t",
        "at_m0 = m0 * 2 + k0;\n                const int32_t",
        "assert_step",
    ),
    "conv-no-zeros": ("Conv", "_element", " : 0.0f;", " : 1.0f;", "assert_step"),
    "conv-guard-dropped": (
        "Conv",
        "_element",
        "0 <= at_m0 && at_m1 < 3 ?",
        "at_m1 < 3 ?",
        "assert_rte_index_bound",
    ),
    "conv-one-term-too-few": (
        "Conv",
        "_element",
        "for (int32_t k1 = 0; k1 < 2; k1++)",
        "for (int32_t k1 = 0; k1 < 1; k1++)",
        "loop_invariant_4_preserved",
    ),
    "conv-order-of-terms": (
        "Conv",
        "_element",
        "= x * t_x1[((c * 2 + z) * 2 + k0) * 2 + k1]",
        "= x * t_x1[((c * 2 + z) * 2 + k1) * 2 + k0]",
        "assert_step",
    ),
    "conv-bias-dropped": (
        "Conv",
        "_element",
        "float s = t_x2[c];",
        "float s = 0.0f;",
        "loop_invariant_2_established",
    ),
    "conv-stride": (
        "Conv",
        "_element",
        "const int32_t at_m0 = m0 * 2 + k0 - 1;",
        "const int32_t at_m0 = m0 + k0 - 1;",
        "assert_step",
    ),
}


# The properties whose goals begin so; others are not asked for, which takes most of the time.
PROPERTIES = {
    "ensures": "@ensures",
    "loop_invariant": "@invariant",
    "assert_rte_index_bound": "index_bound",
    "assert_step": "step",
    "call_node": "@requires",
}


def property_of(goal: str) -> str:
    return next(asked for start, asked in PROPERTIES.items() if goal.startswith(start))


def goals_of(sources: dict[str, str], end: str, properties: str) -> list[tuple[str, bool]]:
    with frama_on(sources, properties) as frama:
        names = [name for name in contracts(sources["model.c"]) if name.startswith("node_0_")]
        main = min(names, key=len)
        goals = wp.prove_function(frama, main + end, 1, hasty=True)
    return [(goal.name, goal.good) for goal in goals]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_kernel_is_rejected(mutant: str) -> None:
    operator, end, old, new, failing = MUTANTS[mutant]
    goals = goals_of(changed(tiny(operator), old, new), end, property_of(failing))
    bad = [name for name, good in goals if not good]
    assert any(name.startswith(failing) for name in bad), bad


# Every function of which there is a mutant: what is proved here in haste is not proved there.
PROVED = {
    (operator, end): ",".join(
        sorted({property_of(last) for of, at, *_, last in MUTANTS.values() if (of, at) == (operator, end)})
    )
    for operator, end in sorted({(operator, end) for operator, end, *_ in MUTANTS.values()})
}


@pytest.mark.parametrize(("operator", "end"), [*PROVED, ("Where", ""), ("Conv", "")])
def test_the_kernel_itself_is_proved_in_haste(operator: str, end: str) -> None:
    goals = goals_of(tiny(operator), end, PROVED.get((operator, end), ""))
    assert goals
    assert [name for name, good in goals if not good] == []
