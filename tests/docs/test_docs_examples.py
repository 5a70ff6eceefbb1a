"""Examples on pages are run: what stands under them is what they print, and what cannot be run is refused."""

import re
from pathlib import Path

import pytest
from docs.examples import Examples
from docs.markup import DocsError
from docs.pages import Expanded, Links, expand

import sonnx

# What fits beside both menus in a window of 1280 pixels.
PAGE_COLUMNS = 86


def shown(language: str, code: str, argument: str = "") -> str:
    examples = Examples()
    examples.read(language, code)
    return examples.output(argument)


def page(text: str) -> Expanded:
    return expand("page.md", text, {}, Links({}, frozenset(), "rulings.md"))


def test_a_command_shows_what_it_prints() -> None:
    printed = shown("sh", "sonnx --version")
    assert printed == f"``` {{ .text .output }}\nsonnx {sonnx.__version__}\n```"


def test_the_columns_of_a_table_stay_under_each_other_and_other_lines_may_wrap() -> None:
    assert shown("sh", "sonnx rules Clip").startswith("``` { .text .output .columns }\n")
    assert ".columns" not in shown("sh", "sonnx explain clip.min.C1")


def test_no_comment_beside_code_runs_out_of_the_page() -> None:
    root = Path(__file__).parents[2]
    complaints = []
    for path in [*root.glob("docs/*.md"), *root.glob("src/**/page.md")]:
        blocks = re.split(r"^```", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1::2]
        lines = [line for block in blocks for line in block.splitlines()]
        complaints += [f"{path.name}: {line}" for line in lines if "# " in line and len(line) > PAGE_COLUMNS]
    assert not complaints, "\n".join(complaints)


def test_a_command_that_prints_to_the_standard_error_shows_it_too() -> None:
    assert "error: nowhere.onnx: no such file" in shown("sh", "sonnx check nowhere.onnx", "2")


def test_several_commands_are_run_one_after_the_other_and_a_line_may_go_on() -> None:
    printed = shown("sh", "sonnx --version\n\nsonnx \\\n  --version")
    assert printed.count(f"sonnx {sonnx.__version__}") == 2


@pytest.mark.parametrize(
    ("code", "argument"),
    [
        ("sonnx check nowhere.onnx", ""),
        ("sonnx check nowhere.onnx", "1"),
        ("sonnx --version", "2"),
        ("sonnx check nowhere.onnx\nsonnx --version", ""),
    ],
)
def test_a_command_must_end_as_the_page_says(code: str, argument: str) -> None:
    with pytest.raises(DocsError, match=r"`sonnx .*` ends with [02], not [012]"):
        shown("sh", code, argument)


@pytest.mark.parametrize("code", ["ls", "sonnx --version\nls"])
def test_no_other_program_is_run(code: str) -> None:
    with pytest.raises(DocsError, match="only commands of sonnx are run, not ls"):
        shown("sh", code)


def test_a_command_that_crashes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(name: str | None = None) -> None:
        raise RuntimeError("crashed")

    monkeypatch.setattr("sonnx.operators.rulebook.rules", crash)
    with pytest.raises(DocsError, match="crashed"):
        shown("sh", "sonnx rules", "1")


def test_the_output_is_coloured_as_the_page_says() -> None:
    assert shown("python", "print('{}')", "json") == "``` { .json .output }\n{}\n```"


@pytest.mark.parametrize("argument", ["1", "json xml"])
def test_python_has_no_exit_code_and_an_output_one_language(argument: str) -> None:
    with pytest.raises(DocsError, match="takes at most one exit code"):
        shown("python", "print(1)", argument)


def test_an_output_that_would_end_its_own_block_is_refused() -> None:
    with pytest.raises(DocsError, match="the end of a block"):
        shown("python", "print('```')")


def test_blanks_at_the_ends_of_lines_are_left_out() -> None:
    assert shown("python", "print('a  \\n\\nb ')") == "``` { .text .output }\na\n\nb\n```"


def test_a_warning_is_a_fault_of_the_example() -> None:
    with pytest.raises(DocsError, match="the example above it fails: UserWarning: old"):
        shown("python", "import warnings\nwarnings.warn('old')")


def test_the_examples_of_a_page_share_a_folder_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written = "```python\nopen('x.onnx', 'wb').close()\n```\n{{ output }}\n"
    checked = "```sh\nsonnx check x.onnx\n```\n{{ output 2 }}\n"
    expanded = page(written + checked)
    assert expanded.problems == ()
    assert "x.onnx: not an ONNX file: it is empty" in expanded.text
    assert Path.cwd() == tmp_path
    assert list(tmp_path.iterdir()) == []
    assert "no such file" in page(checked).text


def test_the_folder_is_left_where_an_example_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(page("```python\n1 / 0\n```\n{{ output }}").problems) == 1
    assert Path.cwd() == tmp_path
