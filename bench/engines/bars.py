"""What is asked for, and whether it was reached."""

from collections.abc import Mapping
from dataclasses import dataclass

RIVAL = "onnxruntime"

# Largest time / time of onnxruntime with as many threads: by group of subjects, setting and threads.
RATIOS: Mapping[tuple[str, str, int], float] = {
    ("dense", "fused", 1): 1.05,
    ("dense", "separate", 1): 1.10,
    ("dense", "fused", 2): 1.15,
    ("dense", "separate", 2): 1.20,
    **{("depthwise", mode, threads): 0.70 for mode in ("separate", "fused") for threads in (1, 2)},
    **{("memory", "separate", threads): 0.80 for threads in (1, 2)},
    **{("network", mode, threads): 1.00 for mode in ("separate", "fused") for threads in (1, 2)},
    ("chain", "separate", 1): 0.40,
    ("small", "separate", 1): 1.00,
    ("small chain", "separate", 1): 0.60,
    ("network", "plain", 1): 40,
    ("network", "fast", 1): 1.3,
}
# What an Add and a Relu behind a Conv may add to its ratio.
RESIDUAL_BEYOND = 0.03
SHARE_OF_PEAK = 0.80
COMPILE_SECONDS = 1.0
# Of forty loops that differ.
COMPILE_MANY_SECONDS = 3.0
CACHED_SECONDS = 0.050


@dataclass(frozen=True)
class Bar:
    """A figure and its limit: the most it may be, or (`at_least`) the least."""

    what: str
    value: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def reached(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def verdict(self) -> str:
        """`ok`, or by how much of the limit it was missed."""
        if self.reached:
            return "ok"
        if not self.limit:
            return "MISSED"
        return f"MISSED by {abs(self.value / self.limit - 1):.1%}"

    def row(self) -> dict[str, object]:
        return {
            "what": self.what,
            "value": self.value,
            "limit": self.limit,
            "unit": self.unit,
            "sense": "at least" if self.at_least else "at most",
            "verdict": self.verdict,
        }
