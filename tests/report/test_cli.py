"""The command line, as a person uses it."""

import json
import re
import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result
from tests.loops import for_each

from sonnx.cli import main
from sonnx.operators import OPERATORS
from sonnx.operators.rulebook import rules
from sonnx.report.text import call_text
from sonnx.sources import reference
from sonnx.vocabulary.rule import AnyRule, GraphRule


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_the_tour_shows_exact_values_special_values_and_a_refusal() -> None:
    result = run("tour")
    assert result.exit_code == 0
    for text in ("163/210", "[0, 19/2, 10]", "[-0.0, 0.0]", "refused: clip.min.C1", "error[clip.min.C1]"):
        assert text in result.output
    assert "(nothing was refused)" not in result.output


def test_the_tour_shows_the_xla_operations() -> None:
    output = run("tour").output
    for shown in (
        "[0, 5, 6]",
        "[1.0009765625]",
        "[0, -128, 127]",
        "[[[1.0, 1.0]]]",
        "xla.collapse.dimensions.D3",
    ):
        assert shown in output


def test_the_tour_shows_that_separate_and_fused_differ() -> None:
    # By hand: (1+2^-12)^2 - 1 is 2^-11 after two roundings and 2^-11 + 2^-24 after one.
    output = run("tour").output
    assert str(2.0**-11) in output
    assert "0.00048834085" in output  # the shortest decimal of the float 2^-11 + 2^-24


def test_rules_lists_every_rule() -> None:
    output = run("rules").output
    assert all(rule.identifier in output for rule in rules())


def test_rules_for_programs_are_all_that_is_known_of_each() -> None:
    document = json.loads(run("rules", "--format", "json").output)
    assert document["specification"] == reference()
    assert [entry["rule"] for entry in document["rules"]] == [rule.identifier for rule in rules()]
    entries = {entry["rule"]: entry for entry in document["rules"]}
    assert entries["clip.min.C1"] == {
        "rule": "clip.min.C1",
        "statement": "`min` must have the element type of `input`.",
        "reason": "A comparison between types would need a conversion, and conversions may round.",
        "restricts_onnx": False,
        "rulings": ["D-CLIP-4"],
        "also": ["clip.input.C2"],
        "page": "operators/clip.html#clip-min-c1",
    }
    assert entries["general.R3"]["rulings"] == ["D-ALL-2", "D-ALL-3"]
    assert entries["xla.clamp.min.D1"]["restricts_onnx"] is None
    (one,) = json.loads(run("rules", "--format", "json", "general").output)["rules"][3:4]
    assert one["rule"] == "general.R4"
    assert run("rules", "nothing", "--format", "json").exit_code == 2


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["rules"], {"Clip", "xla.Clamp", "general", "graph", "xla"}),
        (["rules", "xla.conv"], {"xla.Conv", "xla.ConvWithGeneralPadding", "xla.ConvertElementType"}),
        (["explain", "conv.pads."], {"conv.pads.C1", "conv.pads.C2", "conv.pads.C3"}),
        (["explain", "d-graph"], {"D-GRAPH-1", "D-GRAPH-2", "D-GRAPH-3", "D-GRAPH-4"}),
        (["conformance", "r"], {"reference", "reference-evaluator"}),
        (["conformance", "jax", "--operator", "w"], {"Where"}),
        (["vectors", "--type", "bf"], {"bfloat16"}),
        (["prove", "--operators", "cl"], {"Clip"}),
        (["prove", "net"], {"net"}),
    ],
)
def test_shells_complete_names(typed: list[str], offered: set[str]) -> None:
    """The last word is not yet finished; a list of one command alone offers everything."""
    before, last = (typed[:-1], typed[-1]) if len(typed) > 1 else (typed, "")
    items = ShellComplete(main, {}, "sonnx", "_SONNX_COMPLETE").get_completions(before, last)
    found = [item.value for item in items]
    assert offered <= set(found)
    assert len(found) == len(set(found))
    assert last == "" or set(found) == offered


def test_every_operator_is_spelled_in_errors_as_in_documents() -> None:
    names = {op.name for op in OPERATORS}
    asked = (("rules", "?"), ("vectors", "-o", "v", "--operator", "?"), ("prove", "--operators", "?"))
    for arguments in asked:
        told = run(*arguments).output.rpartition("there are")[2]
        assert re.findall(r"\bClip\b", told), arguments
        unlike = [name for name in names if re.search(rf"(?<![/\w]){name.lower()}\b", told)]
        assert not unlike, arguments
        listed = set(re.findall(r"(?:xla\.)?[A-Z]\w+", told.split(";")[0]))
        assert listed <= names, arguments


def test_rules_of_one_operator_lists_no_other() -> None:
    found = set(re.findall(r"^(\w+)\.", run("rules", "Clip").output, re.MULTILINE))
    assert found == {"clip"}


def test_the_rules_on_whole_models_are_listed_under_graph() -> None:
    output = run("rules", "graph").output
    found = re.findall(r"^([\w.]+) ", output, re.MULTILINE)
    listed = [rule.identifier for rule in rules() if isinstance(rule, GraphRule)]
    assert found == ["rule", *listed]
    assert {"graph.D1", "graph.D20"} <= set(listed)


def test_a_rule_on_whole_models_is_explained_with_models() -> None:
    output = run("explain", "graph.D2").output
    assert "A model that breaks it\ngraph " in output
    assert "error[graph.D2]" in output
    assert "A model that obeys it\ngraph " in output


def test_an_unknown_operator_is_a_usage_error_that_names_the_known_ones() -> None:
    result = run("rules", "Clap")
    assert result.exit_code == 2
    assert "there are Clip, Conv" in result.output


@for_each("rule", rules(), ids=lambda rule: rule.identifier)
def test_every_rule_is_explained_with_reason_and_broken_by_its_example(rule: AnyRule) -> None:
    result = run("explain", rule.identifier)
    assert result.exit_code == 0
    assert f"error[{rule.identifier}]" in result.output
    words = " ".join(result.output.split())
    for text in (rule.statement, rule.reason, *rule.also):
        assert " ".join(text.split()) in words
    if isinstance(rule, GraphRule):
        assert words.count(f"graph {rule.passing.name}(") == 2
        assert "A model that breaks it" in words
    else:
        assert " ".join(call_text(rule.passing).split()) in words


def test_a_label_of_the_documents_leads_to_the_rules_that_carry_it() -> None:
    output = run("explain", "clip.input.C2").output
    assert "clip.min.C1" in output
    assert "clip.output.C2" in output


def test_the_case_of_a_name_does_not_matter() -> None:
    assert run("explain", "CONV.PADS.C2").output == run("explain", "conv.pads.C2").output
    assert run("explain", "CLIP.Input.c2").output == run("explain", "clip.input.C2").output


@pytest.mark.parametrize("name", ["D-GRAPH-3", "d-graph-3"])
def test_a_ruling_leads_to_the_rules_that_name_it_and_to_its_pages(name: str) -> None:
    result = run("explain", name)
    assert result.exit_code == 0
    listed = [rule.identifier for rule in rules() if rule.ruling == "D-GRAPH-3"]
    assert len(listed) > 1
    assert re.findall(r"^(\w+\.\w+) ", result.output, re.MULTILINE) == listed
    assert "operators/graph.html#d-graph-3" in result.output


def test_a_rule_with_two_rulings_is_found_by_both() -> None:
    (both,) = [rule.identifier for rule in rules() if rule.ruling == "D-ALL-2, D-ALL-3"]
    assert f"\n{both} " in run("explain", "D-ALL-2").output
    assert f"\n{both} " in run("explain", "D-ALL-3").output


def test_a_ruling_that_no_rule_names_leads_to_its_page() -> None:
    first, *_, last = run("explain", "D-CONV-8").output.splitlines()
    assert first == "D-CONV-8 is a ruling; no rule follows from it."
    assert last == "It stands in the documentation (make docs) on operators/conv.html#d-conv-8"


def test_a_ruling_says_what_was_open_and_what_holds() -> None:
    words = " ".join(re.sub(r"[┃│]", " ", run("explain", "D-CLIP-2").output).split())
    assert "signed zeros are not mentioned" in words
    assert "zero inside the" in words


def test_rules_of_xla_operations_are_listed_together_and_one_by_one() -> None:
    listed = re.findall(r"^ ?(xla\.[\w.]+) ", run("rules", "xla").output, re.MULTILINE)
    assert listed == [rule.identifier for rule in rules() if rule.identifier.startswith("xla.")]
    output = run("rules", "Clamp").output
    assert output == run("rules", "xla.clamp").output
    assert "xla.clamp.min.D2" in output
    assert "restricts ONNX" not in output


def test_a_ruling_that_there_is_not_is_answered_with_near_ones() -> None:
    result = run("explain", "D-CONV-99")
    assert result.exit_code == 2
    assert "did you mean D-CONV-9" in result.output


@pytest.mark.parametrize("command", ["check", "normalize", "run", "rules", "explain"])
def test_every_option_says_what_it_means(command: str) -> None:
    for option in main.commands[command].params:
        assert isinstance(option, click.Argument) or getattr(option, "help", None), option.name


def test_an_operator_in_place_of_a_rule_is_answered_with_the_list_of_its_rules() -> None:
    result = run("explain", "hardswish")
    assert result.exit_code == 2
    assert "but an operator; `sonnx rules HardSwish` lists its rules" in " ".join(result.output.split())


def test_a_misspelt_rule_is_answered_with_the_nearest_ones() -> None:
    result = run("explain", "conv.pad.C2")
    assert result.exit_code == 2
    assert "did you mean conv.pads.C2" in result.output


def test_a_name_like_no_rule_is_answered_with_where_to_look() -> None:
    result = run("explain", "\x1b[31m%%%%")
    assert result.exit_code == 2
    assert "`sonnx rules` lists all" in result.output
    assert "\x1b" not in result.output


def test_python_m_sonnx_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "sonnx", "--version"], capture_output=True, check=True)
    assert done.stdout.startswith(b"sonnx ")


def test_importing_sonnx_loads_neither_numpy_nor_flint() -> None:
    code = (
        "import sys, sonnx; print([m for m in ('numpy', 'flint', 'rich', 'ml_dtypes') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    import sonnx

    with pytest.raises(AttributeError, match="no attribute 'clop'"):
        _ = sonnx.clop  # that it is missing is the point
    assert set(sonnx.__all__) <= set(dir(sonnx))
