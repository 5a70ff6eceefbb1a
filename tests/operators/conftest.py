"""Lets test files here import their common parts as `tests.operators.support`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
