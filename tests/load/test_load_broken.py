"""Files that are no model, or more than anybody could judge: each an error that says so, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto
from tests.budgets import examples
from tests.load.support import clip, found, model, part, read, scalar, value

from sonnx.load.limits import Limits, LoadError
from sonnx.load.reader import from_bytes, from_proto, load
from sonnx.load.wire import has_more_fields, table_of

NOWHERE = Path("/nowhere")
GOOD = model().SerializeToString()
TABLE = table_of(ModelProto.DESCRIPTOR)


def refusal(path: str | Path) -> str:
    with pytest.raises(LoadError) as caught:
        load(path)
    assert caught.value.__cause__ is None
    return str(caught.value)


def refused(content: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(LoadError) as caught:
        from_bytes(content, "net.onnx", NOWHERE, limits)
    return str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.onnx"
    assert refusal(path) == f"{path}: no such file; give the path of an ONNX file"
    assert "no such file" in refusal(path / "deeper")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path}: a folder, not a file; give the path of an ONNX file"


def test_an_empty_file_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "empty.onnx"
    path.touch()
    assert refusal(path) == f"{path}: not an ONNX file: it is empty; export the model again"


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "cannot be read: it is not a plain file" in refusal(tmp_path / "pipe")


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_refused(device: str) -> None:
    assert "cannot be read: it is not a plain file" in refusal(device)


def test_links_in_a_circle_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert "cannot be read" in refusal(tmp_path / "a")


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "\x1b[2J", "a\udc80"])
def test_a_path_that_nobody_could_have_meant_is_printable_in_the_error(tmp_path: Path, name: str) -> None:
    assert refusal(str(tmp_path / name)).isprintable()


def test_a_file_that_may_not_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sonnx.load import reader

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(reader, "open_plain", refuse)
    path = tmp_path / "net.onnx"
    assert refusal(path) == f"{path}: cannot be read: Permission denied; give a file that can be read"


def test_a_file_beyond_protobuf_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.onnx"
    with path.open("wb") as file:
        file.truncate(2**31 + 1)  # a hole: it takes no room on the disk
    assert "2147483649 bytes are more than protobuf can hold" in refusal(path)


@pytest.mark.parametrize(
    "content",
    [
        b"\xff",
        b"hello",
        b"\x00" * 10,
        b"\x80" * 30,
        bytes(range(256)),
        b"PK\x03\x04" * 9,
        b"\x0a\xff\xff\xff\xff\x0f",
        b"{}\n",
    ],
)
def test_garbage_is_no_model(content: bytes) -> None:
    assert refused(content).startswith("net.onnx: not an ONNX ")


def test_every_beginning_of_a_model_is_an_error_or_a_model_with_findings() -> None:
    whole = read(model())
    assert found(whole) == []
    for size in range(1, len(GOOD)):
        try:
            graph = from_bytes(GOOD[:size], "net.onnx", NOWHERE)
        except LoadError:
            continue
        assert found(graph) != [] or graph.nodes == whole.nodes


def test_a_model_without_a_graph_is_no_model() -> None:
    made = model()
    made.ClearField("graph")
    assert refused(made.SerializeToString()) == (
        "net.onnx: not an ONNX model: it holds no graph; export the model again"
    )


def test_an_empty_graph_is_a_finding() -> None:
    made = ModelProto()
    made.graph.SetInParent()
    assert {"graph.D3", "graph.D9"} <= set(found(read(made)))


def test_messages_nested_without_end_are_refused() -> None:
    # node 1, attribute 5, graph 6, node 1, ...: subgraphs in subgraphs.
    content = b""
    for _ in range(3000):
        content = part(1, part(5, part(6, content)))
    assert "no protobuf message" in refused(part(7, content))


@given(st.binary(max_size=200))
@settings(max_examples=examples(200))
def test_no_bytes_raise_anything_else(content: bytes) -> None:
    for made in (content, GOOD[:40] + content, part(7, content), part(7, part(1, content))):
        try:
            found(from_bytes(made, "net.onnx", NOWHERE))
        except LoadError:
            continue


# Limits.


def test_too_many_nodes_are_refused() -> None:
    made = model([clip() for _ in range(11)])
    assert len(from_proto(made, "net.onnx", NOWHERE, Limits(nodes=11)).nodes) == 11
    with pytest.raises(LoadError, match="it has 11 nodes; the limit is 10; split the model"):
        from_proto(made, "net.onnx", NOWHERE, Limits(nodes=10))


def test_nodes_of_functions_count_too() -> None:
    made = model()
    function = made.functions.add(name="F", domain="own")
    function.node.extend([clip() for _ in range(10)])
    with pytest.raises(LoadError, match="it has 11 nodes; the limit is 10"):
        from_proto(made, "net.onnx", NOWHERE, Limits(nodes=10))


def test_too_many_tensors_are_refused() -> None:
    made = model(inputs=[value("x"), value("z")], initializers=[scalar("a", 1.0)])
    made.graph.value_info.append(value("v"))
    made.graph.sparse_initializer.add()
    function = made.functions.add(name="F", domain="own", input=["a", "b"], output=["c"])
    function.value_info.append(value("t"))
    # 2 inputs, 1 output, 3 initializers, 1 sparse one, 1 value, and 4 of the function.
    from_proto(made, "net.onnx", NOWHERE, Limits(tensors=12))
    with pytest.raises(LoadError, match="it has 12 tensors; the limit is 11"):
        from_proto(made, "net.onnx", NOWHERE, Limits(tensors=11))


def test_too_many_functions_are_refused() -> None:
    made = model()
    for _ in range(3):
        made.functions.add()
    with pytest.raises(LoadError, match="it has 3 functions; the limit is 2"):
        from_proto(made, "net.onnx", NOWHERE, Limits(functions=2))


def test_fields_are_counted_in_messages_in_messages() -> None:
    # ir_version, graph; in it a node; in it an input, an output and an attribute; in it a name.
    content = b"\x08\x08" + part(7, part(1, part(1, b"x") + part(2, b"y") + part(5, part(1, b"a"))))
    assert not has_more_fields(content, TABLE, 7)
    assert has_more_fields(content, TABLE, 6)


def test_every_form_of_a_field_counts_once() -> None:
    numbers = b"\x08\xff\xff\x03"  # one number of three bytes
    fixed = b"\x25\x00\x00\x00\x00" + b"\x51" + bytes(8)  # four and eight bytes
    tensor = part(5, numbers + fixed + part(9, bytes(1000)))
    assert not has_more_fields(part(7, tensor), TABLE, 6)
    assert has_more_fields(part(7, tensor), TABLE, 5)


@given(st.binary(max_size=300), st.integers(0, 50))
def test_counting_fields_ends_on_any_bytes(content: bytes, most: int) -> None:
    # A field takes a byte at least; groups, which ONNX has not, are refused however few there are.
    if has_more_fields(content, TABLE, most) and not any(byte & 7 in (3, 4) for byte in content):
        assert len(content) > most


def test_a_group_is_refused_because_what_follows_it_would_go_uncounted() -> None:
    assert has_more_fields(b"\x0b\x0c" + part(7, b""), TABLE, 1000)


def test_a_large_file_of_nothing_but_fields_is_refused_before_it_is_parsed() -> None:
    content = part(7, part(1, b"\x0a\x00" * 600_000))
    limits = Limits(fields=500_000)
    assert refused(content, limits) == (
        "net.onnx: it has more entries than the limit of 500000; split the model"
    )
    assert len(from_bytes(content, "net.onnx", NOWHERE).nodes[0].inputs) == 600_000


def test_large_tensors_are_few_fields() -> None:
    content = part(7, part(5, b"\x08\x01\x10\x01" + part(9, bytes(2**21))))
    with pytest.raises(LoadError):
        from_bytes(content, "net.onnx", NOWHERE, Limits(fields=4))
    assert from_bytes(content, "net.onnx", NOWHERE, Limits(fields=5)).constants


PROGRAM = """
import resource, sys
from pathlib import Path
from sonnx.load.limits import LoadError
from sonnx.load.reader import from_bytes
from tests.load.support import part

empty = lambda field: part(field, b"") * (2**18 // len(part(field, b"")))
graph = lambda content: part(7, content)
node = lambda content: graph(part(1, content))
attribute = lambda content: node(part(5, content))
tensor = lambda content: graph(part(5, content))
function = lambda content: graph(b"") + part(25, content)
typed = lambda content: graph(part(11, part(2, part(1, content))))
FILES = {
    "model": [empty(field) + graph(b"") for field in (7, 8, 14, 20, 25, 26)],
    "graph": [graph(empty(field)) for field in (1, 5, 11, 12, 13, 14, 15, 16)],
    "node": [node(empty(field)) for field in (1, 2, 5, 9, 10)],
    "attribute": [attribute(empty(field)) for field in (5, 6, 9, 10, 11, 15, 22, 23)],
    "tensor": [tensor(empty(field)) for field in (6, 13, 16)],
    "packed": [tensor(b"\\x10" + bytes([kind]) + b"\\x08\\x80\\x80\\x10" + part(field, bytes(2**18)))
               for kind, field in ((7, 7), (13, 11), (6, 5), (9, 5), (10, 5))],
    "two letters": [tensor(b"\\x10\\x08\\x08\\x80\\x80\\x04" + part(6, b"ab") * 2**16)],
    "function": [function(empty(field)) for field in (4, 5, 6, 7, 9, 11, 12)],
    "shape": [typed(b"\\x08\\x01" + part(2, empty(1)))],
}
pages = int(Path("/proc/self/statm").read_text().split()[0])
size = pages * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 100 * 2**20,) * 2)
for name, files in FILES.items():
    for content in files:
        assert 2**18 - 10 < len(content) < 2**18 + 2**10, (name, len(content))
        try:
            from_bytes(content, "net.onnx", Path("/nowhere"))
        except LoadError as error:
            assert "limit" in str(error), error
print("bounded")
"""


def test_a_small_file_needs_little_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout, done.stderr) == ("bounded\n", "")
