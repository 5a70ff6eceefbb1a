"""The package itself: names that are loaded at first use."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.measured

FIRST = [
    "import sonnx",
    "import sonnx; sonnx.LoadError",
    "import sonnx.load.reader, sonnx",
    "import sonnx.backend, sonnx",
    "from sonnx.load import writer; import sonnx",
]


@pytest.mark.no_cover
@pytest.mark.parametrize("first", FIRST)
def test_the_function_load_is_not_hidden_by_the_folder_of_that_name(first: str) -> None:
    code = f"{first}; print(sonnx.load.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "sonnx.api\n"


def test_importing_the_package_loads_neither_numpy_nor_onnx() -> None:
    code = "import sys, sonnx; print({'numpy', 'onnx'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
