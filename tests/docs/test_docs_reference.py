"""The Python interface is listed whole, as the code has it."""

import pytest
from docs.markup import DocsError
from docs.reference import GROUPS, Group, reference_links, reference_page, signature

import sonnx


def test_every_public_name_and_every_method_of_a_model_has_an_anchor() -> None:
    text = reference_page()
    names = [name for name in sonnx.__all__ if name != "xla"]
    names += [f"Graph.{name}" for name in ("check", "normalize", "run", "save", "to_stablehlo")]
    names += [f"xla.{name}" for name in sonnx.xla.__all__]
    assert all(f"{{ #sonnx.{name} }}" in text for name in names)
    for name in ("prepare", "run_node", "is_compatible", "supports_device"):
        assert f"{{ #sonnx.backend.{name} }}" in text


def test_what_is_no_name_of_the_package_says_where_it_comes_from() -> None:
    assert "<code>from sonnx.normalize.changes import Change</code>" in reference_page()


def test_a_name_without_a_group_or_in_two_is_refused() -> None:
    with pytest.raises(DocsError, match=r"differ: DType"):
        reference_page((*GROUPS[:-1], Group("Rest", "", GROUPS[-1].names[:-1])))
    with pytest.raises(DocsError, match="one is listed twice"):
        reference_page((*GROUPS, Group("Again", "", ("clip",))))


def test_a_name_that_is_no_function_or_class_is_refused() -> None:
    for name in ("evaluate.execution.nothing", "evaluate.execution", "evaluate.execution.DEFAULT_MEMORY"):
        with pytest.raises(DocsError, match=f"sonnx.{name} is no function or class"):
            reference_page((*GROUPS, Group("More", "", (name,))))


def test_a_name_without_a_docstring_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sonnx.clip, "__doc__", None)
    with pytest.raises(DocsError, match="clip has no docstring"):
        reference_page()


def test_a_signature_is_read_from_the_code() -> None:
    assert signature("clip", sonnx.clip) == "clip(input: Any, min: Any, max: Any) -> ndarray"
    assert signature("conv", sonnx.conv).splitlines()[4] == "    *,"
    assert signature("RealArray", sonnx.RealArray) == "class RealArray"
    assert signature("f", lambda a, *b, c=1: None) == "f(a, *b, c=1)"


def test_the_signature_of_a_method_is_that_of_a_call() -> None:
    assert signature("Graph.check", sonnx.Graph.check) == "Graph.check() -> tuple[Finding, ...]"
    assert signature("Graph.normalize", sonnx.Graph.normalize).endswith("-> Graph")


def test_names_in_the_text_of_pages_lead_to_their_entries() -> None:
    assert reference_links("../")["sonnx.load"] == "../reference.md#sonnx.load"
