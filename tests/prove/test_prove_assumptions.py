"""The table of assumptions is complete, names files that exist, and tells what applies to which project."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from sonnx.prove import mlw, smoke
from sonnx.prove.assumptions import (
    DRIVER,
    DRIVER_LINES,
    assumptions,
    project_assumptions,
    project_sentences,
    theory_sentences,
)
from sonnx.prove.contracts import ASSUMED

ROOT = Path(__file__).parents[2]
PLAIN = {"model.c": "static float buffer_0[1];", "model.h": "int32_t net_run(const float in_x[1]);"}
WIDEN = (files("sonnx.operators") / "shared" / "float_of_half.c").read_text(encoding="utf-8")


def identifiers(texts: dict[str, str]) -> set[str]:
    return {each.identifier for each in project_assumptions(texts)}


def test_every_line_of_the_driver_is_listed_and_no_other() -> None:
    text = (ROOT / DRIVER).read_text(encoding="utf-8")
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    assert [line for line in bare.splitlines() if line.strip()] == [each.line for each in DRIVER_LINES]


def test_the_driver_names_nothing_that_its_theory_does_not_define_plainly() -> None:
    text = (ROOT / DRIVER).with_name("ieee.mlw").read_text(encoding="utf-8")
    lines = [
        line.strip() for line in text.splitlines() if re.match(r"\s+(predicate|function|axiom|goal)", line)
    ]
    assert lines == [
        "predicate same_f32 (a b: f32) = a = b",
        "predicate same_f64 (a b: f64) = a = b",
        "function nan_f32b (a: f32) : bool = F32.is_nan a",
        "function nan_f64b (a: f64) : bool = F64.is_nan a",
        "function absolute_f32 (a: f32) : f32 = F32.abs a",
        "function absolute_f64 (a: f64) : f64 = F64.abs a",
        "function fused_f32 (a b c: f32) : f32 = F32.fma Rounding.RNE a b c",
        "function fused_f64 (a b c: f64) : f64 = F64.fma Rounding.RNE a b c",
        "function cut_f32 (a: f32) : int = Truncate.truncate (of_f32 a)",
        "function whole_f32 (n: int) : f32 = to_f32 (real_of_int n)",
        "function below_f32 (a: f32) : f32 = let n = cut_f32 a in if lt_f32 a (whole_f32 n) then "
        "whole_f32 (n - 1) else whole_f32 n",
        "predicate short_f32 (a: f32) = lt_f32 (to_f32 (-. 16777216.0)) a /\\ lt_f32 a (to_f32 "
        "16777216.0) /\\ not (eq_f32 a (to_f32 0.0))",
        "function rounded_down_f32 (a: f32) : f32 = if short_f32 a then below_f32 a else a",
        "function cut_f64 (a: f64) : int = Truncate.truncate (of_f64 a)",
        "function whole_f64 (n: int) : f64 = to_f64 (real_of_int n)",
        "function below_f64 (a: f64) : f64 = let n = cut_f64 a in if lt_f64 a (whole_f64 n) then "
        "whole_f64 (n - 1) else whole_f64 n",
        "predicate short_f64 (a: f64) = lt_f64 (to_f64 (-. 9007199254740992.0)) a /\\ lt_f64 a "
        "(to_f64 9007199254740992.0) /\\ not (eq_f64 a (to_f64 0.0))",
        "function rounded_down_f64 (a: f64) : f64 = if short_f64 a then below_f64 a else a",
    ]


def test_every_assumption_has_a_name_of_its_own_reasons_and_files_that_exist() -> None:
    listed = assumptions()
    assert len({each.identifier for each in listed}) == len(listed) >= 18
    for each in listed:
        assert re.fullmatch(r"[a-z0-9-]+", each.identifier)
        assert all((each.statement, each.needed, each.checked, each.where))
        for path in each.where:
            assert (ROOT / path).exists(), path


def test_what_contracts_take_for_granted_is_listed() -> None:
    statements = " ".join(each.statement for each in assumptions())
    halves = {"float_of_half", "half_of_float", "float_of_bfloat16", "bfloat16_of_float"}
    assert ASSUMED.keys() == halves | {"odd_float", "left_over_of_float", "left_over_of_double"}
    for function in ASSUMED:
        assert f"the contract of {function}: " in statements


def test_what_theories_take_for_granted_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = assumptions()
    monkeypatch.setitem(mlw.ASSUMPTIONS, ("graph/theory.mlw", "axiom a: true"), "needed for once")
    monkeypatch.setitem(smoke.CONTRADICTORY, ("graph", "Graphs", "absurd'vc"), "meant so")
    added = assumptions()[len(before) :]
    assert [(each.scope, each.needed) for each in added] == [
        ("theories", "needed for once"),
        ("theories", "meant so"),
    ]
    assert "`axiom a: true`" in added[0].statement
    assert any("axiom a: true" in sentence for sentence in theory_sentences())


@pytest.mark.parametrize(
    ("texts", "added"),
    [
        ({"model.c": "fused_float(x, y, z)"}, {"fma", "driver-fused"}),
        ({"model.c": "fused_double(x, y, z)"}, {"fma", "driver-fused"}),
        ({"model.c": "root_double(x)"}, {"library"}),
        ({"model.c": WIDEN}, {"float-of-half"}),
        ({"weights.h": ""}, {"weights"}),
        ({"model.h": "int net_load(const unsigned char *bytes, size_t size);"}, {"loading"}),
    ],
)
def test_a_project_stands_on_what_it_has(texts: dict[str, str], added: set[str]) -> None:
    assert identifiers({**PLAIN, **texts}) - identifiers(PLAIN) == added


def test_every_project_stands_on_arithmetic_memory_tools_and_ranges() -> None:
    assert identifiers(PLAIN) >= {"rounding", "contraction", "one-nan", "memory", "tools", "eva", "driver"}
    assert not identifiers(PLAIN) & {"reading", "fma", "weights", "loading", "float-of-half"}


def test_a_changed_helper_is_not_taken_for_the_one_that_was_tested() -> None:
    assert "float-of-half" not in identifiers({**PLAIN, "model.c": WIDEN.replace("<< 13", "<< 12")})


def test_sentences_begin_with_the_name_under_which_the_page_has_them() -> None:
    for sentence in (*project_sentences(PLAIN), *theory_sentences()):
        assert re.match(r"\[[a-z0-9-]+\] \S", sentence)
        assert len(sentence) < 300
    assert any("-FLT_MAX to FLT_MAX" in sentence for sentence in project_sentences(PLAIN))
