"""A small site, complete and in order, for tests to break in one place each."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

os.environ["NO_MKDOCS_2_WARNING"] = "1"

from docs.build import Inputs, Places, build
from docs.folders import Folder, folders
from docs.markup import rulings_in
from docs.matrix import Evidence, read_evidence
from tests.docs.support import Site

from sonnx.sources import Own, Sources

HOSTILE = "</div><script>alert(1)</script> *a* | `b`"
GENERAL = "# General rules\n\nNothing is silent (D-ALL-2, D-ALL-3, D-ALL-4).\n\n{{ rules }}\n"
CLIP = """Clip limits.

## Definition

Write $X$ for `input`. Rulings: D-CLIP-1, D-CLIP-2, D-CLIP-3, D-CLIP-4, D-CLIP-5.

$$Y[i] = \\begin{cases} X[i] & \\text{if } X[i] \\le M \\\\ M & \\text{otherwise} \\end{cases}$$

{{ figure clip-curve }}
"""
GRAPH = """# Graphs

Rulings: D-ALL-3, D-GRAPH-1, D-GRAPH-2, D-GRAPH-3, D-GRAPH-4.

{{ figure graph-orders }}

{{ figure graph-function }}

{{ figure graph-normalize }}

{{ rules }}
"""
PAGES = {
    "index.md": """# Start

[Clip](operators/clip.md)

```python
print(6 * 7)
```

{{ output }}

{{ operators }}
""",
    "models.md": "# Models\n\n{{ rewritings }}\n\n{{ older }}\n\n"
    "## ONNX backend\n\n```sh\nsonnx --version\n```\n\n{{ output }}\n",
    "emit.md": "# C\n",
    "proofs.md": "# Proofs\n",
    "conformance.md": "# Conformance\n",
    "trust.md": "# Trust\n\n{{ assumptions }}\n\n{{ driver }}\n\n{{ matrix }}\n\n{{ standing }}\n\n"
    "{{ tools }}\n",
    "speed.md": "# Speed\n",
    "xla.md": "# XLA\n",
    "rules.md": "# All rules\n\n{{ rules }}\n",
    "sources.md": "# Sources\n\n{{ documents }}\n\n{{ clauses }}\n\n{{ own }}\n",
    "platforms.md": "# Platforms\n",
    "glossary.md": "# Glossary\n",
}


@pytest.fixture(scope="session")
def evidence() -> Evidence:
    """What the project has, counted once: it takes seconds."""
    return read_evidence()


@pytest.fixture(autouse=True)
def _few_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real reports, and short ones: `make docs` makes those of the site."""
    monkeypatch.setattr("docs.verdicts._TYPES", ("bool",))
    monkeypatch.setattr("docs.verdicts._EXAMPLES", 0)


@pytest.fixture(scope="session")
def small(evidence: Evidence) -> Inputs:
    """The general rules and Clip, with stand-ins for their pages."""
    found = {folder.name: folder for folder in folders()}
    pages: tuple[Folder, ...] = (
        replace(found["general"], page=GENERAL),
        replace(found["clip"], page=CLIP),
    )
    return Inputs(pages, PAGES, "# Changes\n\n- see [the license](LICENSE)\n", evidence, placed(pages))


def placed(pages: Sequence[Folder]) -> Sources:
    """A place for every rule and ruling of these folders."""
    rules = tuple(rule.identifier for folder in pages for rule in folder.rules)
    texts = [folder.page or "" for folder in pages] + [
        rule.ruling for folder in pages for rule in folder.rules
    ]
    return Sources((), (Own("all of it", "a test", rules, rulings_in(" ".join(texts))),))


@pytest.fixture(scope="session")
def with_graphs(small: Inputs) -> Inputs:
    """The same, and the rules on graphs."""
    graph = replace(folders()[0], page=GRAPH)
    pages = (graph, *small.folders)
    return replace(small, folders=pages, origins=placed(pages))


@pytest.fixture(scope="session")
def site(with_graphs: Inputs, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """What is built of that, once for all who only look at it; a case of Clip holds markup."""
    graph, general, clip = with_graphs.folders
    first, *others = clip.cases
    marked = replace(clip, cases=(replace(first, name=f"x {HOSTILE}", source=HOSTILE), *others))
    root = tmp_path_factory.mktemp("site")
    places = Places(sources=root / "docs", site=root / "site")
    inputs = replace(with_graphs, folders=(graph, general, marked))
    return Site(inputs, places.site, build(inputs, places))


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Places to write to that nobody else uses."""
    return Places(sources=tmp_path / "docs", site=tmp_path / "site")
