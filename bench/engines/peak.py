"""The machine's peak of multiply-adds, as contestants in the very rounds whose times it is compared with."""

import ctypes
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.engines.shared_library import shared_library

SOURCE = Path(__file__).with_name("peak.c")


@dataclass(frozen=True)
class Peak:
    """`run` does `products` multiply-adds in registers."""

    run: Callable[[], object]
    products: int


def peaks(folder: Path, products: int) -> dict[str, Peak]:
    """For both modes of accumulation; each does about as many products as asked for."""
    source = folder / SOURCE.name
    shutil.copy(SOURCE, source)
    library = shared_library(source)
    library.products_of_one_round.restype = ctypes.c_long
    each: int = library.products_of_one_round()
    rounds = max(1, products // each)
    for entry in (library.separate, library.fused):
        entry.argtypes, entry.restype = [ctypes.c_long], ctypes.c_float
    return {
        "separate": Peak(lambda: library.separate(rounds), rounds * each),
        "fused": Peak(lambda: library.fused(rounds), rounds * each),
    }
