"""No name of a model breaks out of a comment, an identifier, a string, a table or a line."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.emit.support import OPSETS, assert_passes, files_of, make, needs_gcc, written
from tests.loops import for_each

import sonnx
from sonnx.emit.names import prefix, shown, word
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import tensor_type

HOSTILE = (
    "*/ int x; /*",
    "??/",
    "*??/",
    "back\\",
    "\\\n#error",
    'quote" ); exit(1); ("',
    "`tick` | bar |",
    "new\nline\r\u2028\u2029\x0b\x0c",
    "$(shell false) ${x} $$ #",
    "%s%n",
    "\u202e\u2066turned\u2069",
    "\x00\x1b[31m",
    "int",
    "in_x",
    "t_x",
    "while",
    "//@ assert \\false; //",
    "@ ensures \\false;",
    "\ud800 alone",
    "über größe €",
    "_",
    "",
    "1st",
    "x" * 5000,
    "x" * 5000 + "y",
    "a b",
    "a.b",
    "a/b",
    "a_b",
    "a_b_2",
    "</code><script>",
)
FLOAT = tensor_type("float[2]")
PLAIN_ASCII = re.compile(rb"[\t\n -~]*")


def model(names: tuple[str, ...], title: str) -> sonnx.Graph:
    """Clips one after the other, whose tensors, bounds and nodes have these names."""
    bounds = [
        Constant(f"{name}{end}", tensor_type("float[]"), np.full((), end == "+", np.float32))
        for name in names[1:]
        for end in "-+"
    ]
    nodes = [
        Node("Clip", (before, f"{name}-", f"{name}+"), (name,), {}, f"node {name}", version=13)
        for before, name in pairwise(names)
    ]
    inner = tuple(Value(name, FLOAT) for name in names[1:-1])
    return sonnx.Graph.of(
        Graph(
            title,
            (Value(names[0], FLOAT),),
            (Value(names[-1], FLOAT),),
            tuple(nodes),
            tuple(bounds),
            inner,
            opsets=OPSETS,
        )
    )


NAMES = tuple(name for name in HOSTILE if name)


@needs_gcc
def test_hostile_names_of_tensors_nodes_and_constants_change_nothing(tmp_path: Path) -> None:
    done = make(written(tmp_path / "p", model(NAMES, "*/ hostile")))
    assert_passes(done)
    assert done.stdout.count("2 of 2 agree") == 6


@needs_gcc
@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_hostile_names_of_the_model_change_nothing(kernels: str, tmp_path: Path) -> None:
    for number, title in enumerate(("*/ int x; /*\\", "$(shell touch x)\n", "", "torch_jit", "t_x", "int")):
        folder = written(tmp_path / f"p{number}", model(("x", "run", "load"), title), kernels=kernels)  # type: ignore[arg-type]  # one of the two
        assert_passes(make(folder, cflags="-O0"))
        assert not (folder / "x").exists()


@for_each("title", HOSTILE)
def test_files_hold_plain_ascii_and_no_trigraph(title: str) -> None:
    for name, content in files_of(model(NAMES, title)).items():
        assert re.fullmatch(r"[a-z_]+\.[a-z]+|Makefile|README\.md|SHA256SUMS", name)
        if not name.endswith(".bin"):
            assert PLAIN_ASCII.fullmatch(content)
            assert b"??" not in content
            assert b"error;" not in content


def test_comments_open_and_close_as_often_as_without_hostile_names(monkeypatch: pytest.MonkeyPatch) -> None:
    # Names of other lengths break other lines; what that does to a text is tried by itself.
    monkeypatch.setattr("sonnx.emit.model.narrowed", str)
    tame = files_of(model(tuple(f"n{number}" for number in range(len(NAMES))), "tame"))
    wild = files_of(model(NAMES, "*/ /*"))
    for name in ("model.c", "model.h", "weights.c", "weights.h", "test_model.c"):
        for sign in (b"/*", b"*/", b'"', b"\\", b"\n"):
            assert wild[name].count(sign) == tame[name].count(sign), (name, sign)


def test_rows_of_tables_have_as_many_cells_as_without_hostile_names() -> None:
    tame = files_of(model(tuple(f"n{number}" for number in range(len(NAMES))), "tame"))["README.md"]
    wild = files_of(model(NAMES, "a | b"))["README.md"]
    assert [row.count(b"|") for row in wild.split(b"\n")] == [row.count(b"|") for row in tame.split(b"\n")]


@given(st.text(max_size=60))
def test_a_word_is_part_of_an_identifier_and_a_prefix_is_one(name: str) -> None:
    assert re.fullmatch(r"([A-Za-z0-9]+(_[A-Za-z0-9]+)*)?", word(name))
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,19}", prefix(name))
    assert len(word(name)) <= 40


@given(st.text())
def test_a_shown_name_has_nothing_that_c_or_markdown_would_obey(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9 _./:;,()\[\]{}=+#@$%&^~<>!'-]*", shown(name))
    assert len(shown(name)) <= 9 * 100 + 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mobilenet_like", "mobilenet_like"),
        ("torch-jit-export", "model_torch_jit_expo"),
        ("string", "model_string"),
        ("", "model"),
        ("9 lives", "model_9_lives"),
        ("t", "model_t"),
        ("t_x", "model_t_x"),
        ("../../etc/passwd", "etc_passwd"),
    ],
)
def test_prefixes_are_readable_and_keep_away_from_reserved_names(name: str, expected: str) -> None:
    assert prefix(name) == expected
