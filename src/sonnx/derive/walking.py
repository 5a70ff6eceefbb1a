"""What walks over definitions have in common: the method `_add` is that of the word `add`."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any


@lru_cache
def methods(walk: type) -> dict[str, Callable[..., Any]]:
    """The method of each word: to look for it by its name each time takes as long as a small array does."""
    return {
        name.removeprefix("_"): method
        for name in dir(walk)
        if name.startswith("_") and not name.startswith("__") and callable(method := getattr(walk, name))
    }
