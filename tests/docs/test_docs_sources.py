"""Where the specification comes from: no rule, label or ruling without its place among the sources."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from docs.folders import Folder, folders
from docs.markup import DocsError
from docs.origins import clauses_tables, documents_table, misplaced, own_table

from sonnx.operators.rulebook import rules
from sonnx.sources import Sources, read_sources, reference, sources
from sonnx.vocabulary.rule import AnyRule

# What the documents call an operand or attribute where they do not use ONNX's name.
SYMBOLS = {
    "clip.input": "X",
    "clip.min": "L",
    "clip.max": "M",
    "clip.output": "Y",
    "conv.strides": "stride",
    "conv.dilations": "dilation",
    "where.output": "Z",
}
# The documents have no general rules and no Expand: these labels are ours.
OUR_LABELS = {"general.R1", "general.R2", "general.R3", "general.R4", "general.R5", "expand.shape.C1"}


def places(known: Sources, rule: AnyRule) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The label and the rulings of every place of a rule."""
    for document in known.documents:
        for clause in document.clauses:
            if rule.identifier in clause.rules:
                yield clause.label, clause.rulings
    for own in known.own:
        if rule.identifier in own.rules:
            yield "", own.rulings


def complaints(known: Sources) -> list[str]:
    """Rules whose place lacks their ruling, or one of the labels that they take from a document."""
    found = []
    for rule in rules():
        if rule.identifier not in sources().rules:
            continue  # of an operator that no document names: its ruling has a place
        where = list(places(known, rule))
        named = set(filter(None, rule.ruling.split(", ")))
        if not any(named <= set(rulings) for _, rulings in where):
            found.append(f"{rule.identifier}: no place has {rule.ruling}")
        for stated in {rule.identifier, *rule.also} - OUR_LABELS:
            owner, _, label = stated.rpartition(".")
            operand = SYMBOLS.get(owner, owner.partition(".")[2])
            wanted = rf"{operand} [(\[]{label}[)\]]" if operand else rf"\b{label}\b"
            if label[0] in "CR" and not any(re.search(wanted, text) for text, _ in where):
                found.append(f"{stated}: no clause is labelled so")
    return found


def test_every_rule_label_and_ruling_has_its_place() -> None:
    assert misplaced(sources(), folders()) == []
    assert complaints(sources()) == []


def test_a_rule_label_or_ruling_without_a_place_is_refused() -> None:
    known = sources()
    first, *others = known.documents
    without = tuple(clause for clause in first.clauses if "C2" not in clause.label)
    lacking = replace(known, documents=(replace(first, clauses=without), *others))
    problem = "no source is named for clip.max.C1, clip.min.C1, clip.output.C2"
    assert misplaced(lacking, folders()) == [problem]
    with pytest.raises(DocsError, match=problem):
        clauses_tables(lacking, folders())
    shifted = tuple(replace(clause, label=clause.label.replace("C2", "C7")) for clause in first.clauses)
    wrong = complaints(replace(known, documents=(replace(first, clauses=shifted), *others)))
    assert set(wrong) == {f"clip.{name}.C2: no clause is labelled so" for name in ("input", "output")}
    bare = tuple(replace(clause, rulings=()) for clause in first.clauses)
    unruled = replace(known, documents=(replace(first, clauses=bare), *others))
    assert "clip.input.D1: no place has D-CLIP-3" in complaints(unruled)
    assert any("D-CLIP-3" in problem for problem in misplaced(unruled, folders()))


def test_a_place_for_what_is_not_there_is_refused() -> None:
    own = replace(sources().own[0], rules=("general.R9",), rulings=("D-ALL-99",))
    assert misplaced(replace(sources(), own=(*sources().own, own)), folders()) == [
        "a source is named, and there is no D-ALL-99, general.R9"
    ]


def test_documents_have_a_digest_a_date_and_clauses_that_say_something() -> None:
    for one in sources().documents:
        assert re.fullmatch(r"[0-9a-f]{64}", one.sha256), one.key
        assert one.title, one.key
        assert one.date, one.key
        assert one.states, one.key
        assert one.bytes > 0, one.key
        assert all(clause.label and clause.says for clause in one.clauses), one.key
        labels = [clause.label for clause in one.clauses]
        assert len(labels) == len(set(labels)), one.key


def test_what_the_data_misspells_is_refused() -> None:
    with pytest.raises(TypeError, match="deviate"):
        read_sources('own = []\n[[document]]\nclause = [{label = "C1", says = "x", deviate = "y"}]')


def test_the_page_shows_digests_labels_and_deviations() -> None:
    assert documents_table(sources()).count("<code>") == len(sources().documents)
    text = clauses_tables(sources(), folders())
    assert "### Operation Semantics { #xla }" in text
    assert "[`conv.X.C3`](operators/conv.md#conv-x-c3)" in text
    assert "right for dilation 2 alone" in text
    assert "[`general.R5`](operators/general.md#general-r5)" in own_table(sources(), folders())


def test_reports_name_every_document_by_its_digest() -> None:
    named = reference()
    assert named["page"] == "sources.html"
    assert [one["sha256"] for one in named["documents"]] == [one.sha256 for one in sources().documents]


def fresh(page: str, ruling: str) -> Folder:
    """The folder of an operator that no clause names, with one rule that somebody wrote."""
    clip = next(folder for folder in folders() if folder.name == "clip")
    assert clip.contract is not None
    rule = replace(clip.contract.rules[0], identifier="blend.X.D1", ruling=ruling, made_from="")
    contract = replace(clip.contract, ruling="D-BLEND")
    return replace(clip, name="blend", page=page, rules=(rule,), contract=contract, cases=())


def test_the_rules_of_an_operator_that_no_clause_names_are_placed_by_their_ruling() -> None:
    by_document = fresh("D-MATMUL", "D-MATMUL")
    by_page = fresh("D-BLEND and D-BLEND-2", "D-BLEND-2")
    for folder in (by_document, by_page):
        assert misplaced(sources(), (*folders(), folder)) == []
    lost = {"D-OTHER", "D-BLENDED"}
    for ruling in lost:
        found = misplaced(sources(), (*folders(), fresh(ruling, ruling)))
        assert found == [f"no source is named for {ruling}, blend.X.D1"]
    assert misplaced(sources(), (*folders(), fresh("", ""))) == ["no source is named for blend.X.D1"]


def test_a_document_may_rule_on_operators_that_are_not_there_yet() -> None:
    known = sources()
    assert "D-MATMUL" in known.ahead
    *others, last = known.documents
    behind = replace(known, documents=(*others, replace(last, ahead=False)))
    assert any("there is no" in problem and "D-MATMUL" in problem for problem in misplaced(behind, folders()))
