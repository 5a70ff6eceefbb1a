"""The page on speed has figures, and says which bars are missed."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "speed.md").read_text(encoding="utf-8")


def test_every_subject_has_its_figures() -> None:
    table = PAGE.partition("## Figures")[2]
    rows = re.findall(
        r"^\| (?:Conv|depthwise|Clip|Where|Expand|MobileNet)[^|]*\|(.*)\|$", table, re.MULTILINE
    )
    assert len(rows) == 12
    assert all(re.search(r"\d\.\d", row) for row in rows)
