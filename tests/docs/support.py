"""What tests of the built site share."""

from dataclasses import dataclass
from pathlib import Path

from docs.build import Inputs


@dataclass(frozen=True)
class Site:
    """A site that was built: of what, where it is, and what was wrong."""

    inputs: Inputs
    root: Path
    problems: tuple[str, ...]
