"""Elements in files of their own: only from the model's folder, and only as many as are asked for."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, StringStringEntryProto, TensorProto, external_data_helper, helper, save_model
from tests.load.support import clip, found, model, read_file, scalar

from sonnx.load.limits import Limits
from sonnx.load.reader import from_proto, load
from sonnx.model.graph import Constant

CONTENT = bytes(range(64))


def outside(location: str, **entries: str) -> TensorProto:
    """Six floats that lie in another file."""
    proto = TensorProto(
        name="c", data_type=TensorProto.FLOAT, dims=[2, 3], data_location=TensorProto.EXTERNAL
    )
    for key, text in {"location": location, **entries}.items():
        proto.external_data.append(StringStringEntryProto(key=key, value=text))
    return proto


def constant(proto: TensorProto, folder: Path) -> Constant:
    graph = read_file(model(initializers=[proto]), folder)
    held = graph.constants[-1]
    assert ("graph.D15" in found(graph)) == bool(held.problem)
    assert (held.data is None) == bool(held.problem)
    return held


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "deep").mkdir(parents=True)
    for file in (home / "w.bin", home / "deep" / "w.bin", tmp_path / "secret.bin"):
        file.write_bytes(CONTENT)
    return home


def test_the_whole_file_is_read_where_nothing_else_is_said(folder: Path) -> None:
    (folder / "w.bin").write_bytes(CONTENT[:24])
    assert constant(outside("w.bin"), folder).data.tobytes() == CONTENT[:24]


def test_a_larger_file_is_read_from_its_beginning(folder: Path) -> None:
    assert constant(outside("w.bin"), folder).data.tobytes() == CONTENT[:24]


@pytest.mark.parametrize("offset", [0, 7, 40])
def test_elements_are_read_from_their_offset(folder: Path, offset: int) -> None:
    held = constant(outside("w.bin", offset=str(offset), length="24"), folder)
    assert held.data.tobytes() == CONTENT[offset : offset + 24]
    assert held.data.dtype == np.dtype(np.float32)


@pytest.mark.parametrize("location", ["deep/w.bin", "./w.bin", "deep//w.bin", "deep/./w.bin"])
def test_files_in_the_folder_and_below_are_allowed(folder: Path, location: str) -> None:
    assert constant(outside(location), folder).data.tobytes() == CONTENT[:24]


def test_the_checksum_of_the_whole_file_is_accepted(folder: Path) -> None:
    digest = hashlib.sha1(CONTENT, usedforsecurity=False).hexdigest().upper()
    held = constant(outside("w.bin", offset="8", length="24", checksum=digest), folder)
    assert held.data.tobytes() == CONTENT[8:32]


def test_what_onnx_writes_is_read(folder: Path) -> None:
    array = np.arange(300, dtype=np.float32)
    made = model(initializers=[helper.make_tensor("c", TensorProto.FLOAT, [300], array.tobytes(), raw=True)])
    save_model(made, folder / "net.onnx", save_as_external_data=True, location="net.data", size_threshold=100)
    assert external_data_helper.uses_external_data(load_proto(folder).graph.initializer[2])
    assert load(folder / "net.onnx").data["c"].tobytes() == array.tobytes()


def load_proto(folder: Path) -> ModelProto:
    return onnx.load(folder / "net.onnx", load_external_data=False)


BAD_PLACES = {
    "": "names no file",
    "a\0b": "names no file",
    "/etc/passwd": "must be a path inside the model's folder",
    "../secret.bin": "must be a path inside the model's folder",
    "deep/../../secret.bin": "must be a path inside the model's folder",
    "deep/../w.bin": "must be a path inside the model's folder",
    "..\\secret.bin": "must be a path inside the model's folder",
    "C:secret.bin": "must be a path inside the model's folder",
    "none.bin": "there is no file 'none.bin' beside the model",
    "w.bin/x": "there is no file 'w.bin/x' beside the model",
    "x" * 5000: "there is no file",
    "\x1b[2J": "there is no file '\\x1b[2J' beside the model",
    ".": "cannot be read: Is a directory",
    "deep": "cannot be read: Is a directory",
}


@pytest.mark.parametrize("location", BAD_PLACES)
def test_a_place_where_no_data_may_lie_is_a_finding(folder: Path, location: str) -> None:
    held = constant(outside(location), folder)
    assert BAD_PLACES[location] in held.problem
    assert held.problem.isprintable()
    assert len(held.problem) < 300


def test_a_link_to_a_file_outside_is_refused(folder: Path) -> None:
    (folder / "link.bin").symlink_to("../secret.bin")
    assert "leads out of the model's folder" in constant(outside("link.bin"), folder).problem


def test_a_link_of_a_folder_to_outside_is_refused(folder: Path) -> None:
    (folder / "sub").symlink_to("..")
    assert "leads out of the model's folder" in constant(outside("sub/secret.bin"), folder).problem


def test_a_link_through_a_link_to_outside_is_refused(folder: Path) -> None:
    (folder / "deep" / "up").symlink_to("../sub")
    (folder / "sub").symlink_to("../")
    assert "leads out of the model's folder" in constant(outside("deep/up/secret.bin"), folder).problem


def test_a_neighbour_whose_name_begins_alike_is_outside(folder: Path) -> None:
    neighbour = folder.with_name("home-of-another")
    neighbour.mkdir()
    (neighbour / "w.bin").write_bytes(CONTENT)
    (folder / "link.bin").symlink_to(neighbour / "w.bin")
    assert "leads out of the model's folder" in constant(outside("link.bin"), folder).problem


def test_a_link_inside_the_folder_is_followed(folder: Path) -> None:
    (folder / "link.bin").symlink_to("deep/w.bin")
    assert constant(outside("link.bin"), folder).data.tobytes() == CONTENT[:24]


def test_links_in_a_circle_are_no_file(folder: Path) -> None:
    (folder / "a.bin").symlink_to("b.bin")
    (folder / "b.bin").symlink_to("a.bin")
    assert "there is no file" in constant(outside("a.bin"), folder).problem


def test_a_model_in_a_linked_folder_finds_its_data(folder: Path) -> None:
    linked = folder.with_name("linked")
    linked.symlink_to(folder)
    assert constant(outside("w.bin"), linked).data.tobytes() == CONTENT[:24]


def test_a_pipe_is_refused_and_nobody_waits_for_it(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert constant(outside("pipe"), folder).problem == "'pipe' cannot be read: it is not a plain file"


def test_a_device_is_refused() -> None:
    # In a process of its own: a device that gives zeros without end would fill the memory.
    program = (
        "from pathlib import Path; from sonnx.load.external import *; from sonnx.load.limits import *\n"
        "try: read_external(Path('/dev'), {'location': 'zero'}, 10**6, Budget(Limits()))\n"
        "except ExternalError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "'zero' cannot be read: it is not a plain file\n"


def test_a_file_that_may_not_be_read_is_a_finding(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sonnx.load import external

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(external, "open_plain", refuse)
    assert constant(outside("w.bin"), folder).problem == "'w.bin' cannot be read: Permission denied"


BAD_ENTRIES = {
    "offset past the end": ({"offset": "41"}, "'w.bin' has 64 bytes, needed are 65"),
    "offset far past the end": ({"offset": "9" * 18}, "needed are"),
    "offset of many digits": ({"offset": "9" * 5000}, "is no count of bytes"),
    "negative offset": ({"offset": "-8"}, "offset '-8' is no count of bytes"),
    "offset in other digits": ({"offset": "٣"}, "is no count of bytes"),
    "offset empty": ({"offset": ""}, "offset '' is no count of bytes"),
    "offset with a sign": ({"offset": "+8"}, "is no count of bytes"),
    "length too small": ({"length": "23"}, "length 23 does not match the 24 bytes of its type and shape"),
    "length too large": ({"length": "25"}, "length 25 does not match the 24 bytes of its type and shape"),
    "length no number": ({"length": "0x18"}, "length '0x18' is no count of bytes"),
    "wrong checksum": ({"checksum": "0" * 40}, "'w.bin' has another SHA-1 than the stated"),
    "garbage checksum": ({"checksum": "\x1b"}, "another SHA-1 than the stated '\\x1b'"),
}


@pytest.mark.parametrize("name", BAD_ENTRIES)
def test_entries_that_do_not_fit_are_a_finding(folder: Path, name: str) -> None:
    entries, words = BAD_ENTRIES[name]
    assert words in constant(outside("w.bin", **entries), folder).problem


def test_files_are_hashed_once_and_only_as_far_as_the_limit_of_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[int] = []
    plain = hashlib.file_digest

    def counted(file: Any, digest: Any) -> Any:
        hashed.append(os.fstat(file.fileno()).st_size)
        return plain(file, digest)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    (folder / "hole.bin").touch()
    os.truncate(folder / "hole.bin", 2**40)  # it takes no room on the disk, and hours to be read
    digest = hashlib.sha1(CONTENT, usedforsecurity=False).hexdigest()
    places = ["w.bin", "w.bin", "hole.bin", "deep/w.bin"]
    made = model(initializers=[outside(place, checksum=digest) for place in places])
    one, two, hole, other = read_file(made, folder).constants[-4:]
    assert one.data.tobytes() == two.data.tobytes() == other.data.tobytes() == CONTENT[:24]
    assert hole.problem.startswith("'hole.bin' is too large for its SHA-1: the limit of 2 GiB")
    assert hashed == [64, 64]


def test_the_time_for_digests_is_limited_over_all_files(folder: Path) -> None:
    digest = hashlib.sha1(CONTENT, usedforsecurity=False).hexdigest()
    made = model(initializers=[outside(place, checksum=digest) for place in ("w.bin", "deep/w.bin")])
    # Both files have 64 bytes, the tensors 24 each and lo and hi 4 each.
    first, second = from_proto(made, "net.onnx", folder, Limits(tensor_bytes=127)).constants[-2:]
    assert first.data is not None
    assert "is too large for its SHA-1" in second.problem
    assert not from_proto(made, "net.onnx", folder, Limits(tensor_bytes=128)).constants[-1].problem


def test_an_entry_written_twice_is_a_finding(folder: Path) -> None:
    proto = outside("w.bin", offset="0")
    proto.external_data.append(StringStringEntryProto(key="offset", value="8"))
    assert constant(proto, folder).problem == "its external data has 'offset' more than once"


def test_no_location_is_a_finding(folder: Path) -> None:
    proto = outside("w.bin")
    del proto.external_data[:]
    assert constant(proto, folder).problem == "location '' names no file"


def test_elements_here_and_there_are_a_finding(folder: Path) -> None:
    proto = outside("w.bin")
    proto.raw_data = CONTENT[:24]
    assert "several places: raw_data, external_data" in constant(proto, folder).problem


def test_strings_cannot_lie_outside(folder: Path) -> None:
    proto = outside("w.bin")
    proto.data_type = TensorProto.STRING
    assert "type string cannot be written in external_data" in constant(proto, folder).problem


def test_a_claim_above_the_limit_opens_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sonnx.load import external

    def opened(_: Path) -> None:
        raise AssertionError("opened")

    monkeypatch.setattr(external, "open_plain", opened)
    proto = outside("w.bin")
    del proto.dims[:]
    proto.dims.append(2**30)
    assert "would exceed the limit of 2 GiB" in constant(proto, folder).problem


def test_external_data_of_an_attribute_is_held_to_the_same_rules(folder: Path) -> None:
    node = helper.make_node("Constant", [], ["lo"], value=outside("../secret.bin"))
    made = model([node, clip()])
    del made.graph.initializer[:]
    made.graph.initializer.append(scalar("hi", 6.0))
    held = read_file(made, folder).nodes[0].attributes["value"]
    assert held.data is None
    assert "must be a path inside the model's folder" in held.problem
