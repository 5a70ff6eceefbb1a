"""Every kernel of Conv, emitted and run under sanitizers: nothing is read or written beside an array."""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.emit.support import needs_gcc, written
from tests.native.test_native_conv import SHAPES

pytestmark = [pytest.mark.sanitizer, needs_gcc, pytest.mark.measured]

FLAGS = ("-std=c99", "-g", "-O1", "-ffp-contract=off", "-Wno-psabi", "-fsanitize=address,undefined")
STOP = ("-fno-sanitize-recover=all",)
# What takes the sanitized program seconds, and no other way through the kernels.
LARGE = {
    name for name, (_, case) in SHAPES.items() if case.X[1] * case.X[2] * case.X[3] * case.outputs > 40_000
}


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


def compiled(folder: Path, objects: Path) -> Iterator[str]:
    """Object files of a project; kernels that another project has too are compiled once."""
    headers = b"".join(path.read_bytes() for path in sorted(folder.glob("*.h")))
    for source in sorted(folder.glob("*.c")):
        content = source.read_bytes() + (b"" if "conv_" in source.name else headers)
        target = objects / f"{hashlib.sha256(content).hexdigest()}.o"
        if not target.exists():
            part = target.with_suffix(f".{os.getpid()}.part")
            command = ["gcc", *FLAGS, *STOP, "-c", str(source), "-o", str(part)]
            subprocess.run(command, check=True, timeout=300)
            part.rename(target)
        yield str(target)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", sorted(set(SHAPES) - LARGE))
def test_no_kernel_of_conv_reaches_beside_an_array(name: str, tmp_path: Path, objects: Path) -> None:
    graph, _ = SHAPES[name][1].model("float")
    folder = written(tmp_path / "project", graph, kernels="fast")
    program = tmp_path / "program"
    link = ["gcc", *FLAGS, *STOP, *compiled(folder, objects), "-lm", "-o", str(program)]
    subprocess.run(link, check=True, timeout=300)
    done = subprocess.run(
        [str(program)], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "all bits agree" in done.stdout
