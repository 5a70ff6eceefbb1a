"""A small site, complete and in order, for tests to break in one place each."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

os.environ["NO_MKDOCS_2_WARNING"] = "1"

from docs.build import Inputs, Places
from docs.folders import Folder, folders

GENERAL = "# General rules\n\nNothing is silent (D-ALL-2, D-ALL-3, D-ALL-4).\n\n{{ rules }}\n"
CLIP = """# Clip

{{ signature }}

{{ types }}

Write $X$ for `input`. Rulings: D-CLIP-1, D-CLIP-2, D-CLIP-3, D-CLIP-4, D-CLIP-5.

$$Y[i] = \\begin{cases} X[i] & \\text{if } X[i] \\le M \\\\ M & \\text{otherwise} \\end{cases}$$

{{ figure clip-curve }}

{{ figure clip-nan-bounds }}

## Rules

{{ rules }}

## Examples

{{ examples }}
"""
INDEX = """# Start

[Clip](operators/clip.md)

```python
print(6 * 7)
```

{{ output }}

{{ operators }}
"""


@pytest.fixture
def small() -> Inputs:
    """The general rules and Clip, with stand-ins for their pages."""
    found = {folder.name: folder for folder in folders()}
    pages: tuple[Folder, ...] = (
        replace(found["general"], page=GENERAL),
        replace(found["clip"], page=CLIP),
    )
    return Inputs(pages, INDEX, "# Changes\n\n- see [the license](LICENSE)\n")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Places to write to that nobody else uses."""
    return Places(sources=tmp_path / "docs", site=tmp_path / "site")
