"""The figures as a table for a page."""

from typing import Any

from bench.engines.bars import RIVAL

OURS = ("sonnx separate", "sonnx fused")
HEADER = (
    f"| subject | {RIVAL}, 1 thread | separate | fused | {RIVAL}, 2 threads | separate | fused |\n"
    "|---|---:|---:|---:|---:|---:|---:|"
)


def markdown(report: dict[str, Any]) -> str:
    """Milliseconds of onnxruntime and the ratios of sonnx to it, a line a subject; missed bars are bold."""
    found = {
        (row["title"], row["engine"], row["threads"]): row for row in report["rows"] if "reason" not in row
    }
    lines = [HEADER]
    for title in dict.fromkeys(row["title"] for row in report["rows"]):
        cells = [title]
        for threads in (1, 2):
            rival = found.get((title, RIVAL, threads))
            cells.append("" if rival is None else f"{rival['minimum'] * 1e3:.3g} ms")
            cells += [_ratio(found.get((title, engine, threads))) for engine in OURS]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _ratio(row: dict[str, Any] | None) -> str:
    if row is None or row["ratio"] is None:
        return ""
    mark = "**" if row["verdict"] not in (None, "ok") else ""
    return f"{mark}{row['ratio']:.2f}{mark}"
