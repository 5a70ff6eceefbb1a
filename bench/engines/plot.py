"""Draw the times of all engines relative to onnxruntime."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.engines.bars import RIVAL

MODES = {"separate": "#2c6fad", "fused": "#7fb8d9"}
MISSED = "#c0392b"
INK = "#333333"
WIDEST = 1.6  # ratios beyond this are cut off, with their value


class MissingPackageError(Exception):
    """There is no matplotlib; the message says what to install."""


@dataclass(frozen=True)
class Mark:
    """How a rival is drawn."""

    engine: str
    marker: str
    colour: str


MARKS = (
    Mark("JAX", "D", "#8e6bb0"),
    Mark("ONNX reference evaluator", "o", "#7f7f7f"),
    Mark("emx-onnx-cgen", "^", "#d98a2b"),
    Mark("emitted C, plain", "s", "#2f9e69"),
    Mark("emitted C, fast", "P", "#1b6b45"),
)


def plot(report: dict[str, Any], folder: Path) -> list[Path]:
    """Write bench.svg and bench.png: sonnx with one and two threads, and everybody else with one."""
    figure = draw(report)
    paths = [folder / "bench.svg", folder / "bench.png"]
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=130, metadata=metadata)
    return paths


def draw(report: dict[str, Any]) -> Any:
    """The figure; the subjects are the lines that all three panels share."""
    try:
        matplotlib = importlib.import_module("matplotlib")
    except ImportError as error:
        raise MissingPackageError("no plot: matplotlib is missing (pip install matplotlib)") from error
    matplotlib.use("agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    rows = [row for row in report["rows"] if row.get("ratio") is not None]
    titles = list(dict.fromkeys(row["title"] for row in report["rows"]))
    settings = {"font.size": 9, "svg.hashsalt": "sonnx", "axes.edgecolor": INK, "text.color": INK}
    with pyplot.rc_context(settings):
        height = 2.0 + 0.5 * len(titles)
        figure, (one, two, others) = pyplot.subplots(1, 3, figsize=(13, height), sharey=True)
        _native(one, [row for row in rows if row["threads"] == 1], titles)
        _native(two, [row for row in rows if row["threads"] == 2], titles)
        _others(others, [row for row in rows if row["threads"] == 1], titles)
        one.set_title("sonnx native, 1 thread")
        two.set_title("sonnx native, 2 threads")
        others.set_title("other engines, 1 thread, logarithmic")
        one.set_yticks(range(len(titles)), titles)
        one.set_ylim(len(titles) - 0.5, -0.5)
        _words(figure, one, others, report, height)
    return figure


def _native(axes: Any, rows: Sequence[dict[str, Any]], titles: Sequence[str]) -> None:
    """A bar for each accumulation mode; its limit is a black line across, and what lies beyond is red."""
    ours = [row for row in rows if row["setting"] in MODES]
    for row in ours:
        alone = not any(row["title"] == other["title"] and row is not other for other in ours)
        shift = 0 if alone else 0.2 if row["setting"] == "fused" else -0.2
        y = titles.index(row["title"]) + shift
        ratio, limit = row["ratio"], row["limit"]
        axes.barh(y, min(ratio, WIDEST), 0.36, color=MODES[row["setting"]], zorder=2)
        if limit is not None:
            axes.barh(y, max(0, min(ratio, WIDEST) - limit), 0.36, left=limit, color=MISSED, zorder=2)
            axes.plot([limit] * 2, [y - 0.19, y + 0.19], color="black", linewidth=1.8, zorder=4)
        if ratio > WIDEST:
            axes.text(WIDEST + 0.03, y, ">", va="center_baseline", fontsize=9, color=MISSED)
        inside = ratio > 0.2
        colour = "white" if inside and row["setting"] == "separate" else INK
        place = 0.02 if inside else ratio + 0.02
        axes.text(place, y, f"{ratio:.2f}", va="center_baseline", fontsize=7.5, color=colour)
    axes.axvline(1, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=3)
    axes.set_xlim(0, WIDEST + 0.2)
    _plain(axes)


def _others(axes: Any, rows: Sequence[dict[str, Any]], titles: Sequence[str]) -> None:
    """A mark for each rival; limits of emitted C are lines in its colour."""
    axes.set_xscale("log")
    for mark in MARKS:
        own = [row for row in rows if row["engine"] == mark.engine]
        y = [titles.index(row["title"]) for row in own]
        axes.scatter(
            [row["ratio"] for row in own],
            y,
            marker=mark.marker,
            color=mark.colour,
            s=38,
            label=mark.engine,
            zorder=3,
        )
        for place, row in zip(y, own, strict=True):
            if row["limit"] is not None:
                limit = [row["limit"]] * 2
                axes.plot(limit, [place - 0.35, place + 0.35], color=mark.colour, linewidth=1.8, zorder=2)
    axes.axvline(1, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    largest = max([100, *(row["ratio"] for row in rows)])
    axes.set_xlim(0.3, 2 * largest)
    ticks = [tick for tick in (1, 3, 10, 30, 100, 300, 1000) if tick < 2 * largest]
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    _plain(axes)


def _plain(axes: Any) -> None:
    axes.grid(axis="x", color="#dddddd", linewidth=0.7, zorder=0)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel(f"time / time of {RIVAL}")


def _words(figure: Any, one: Any, others: Any, report: dict[str, Any], height: float) -> None:
    """Legends above the panels, the machine below."""
    patches = importlib.import_module("matplotlib.patches")
    lines = importlib.import_module("matplotlib.lines")
    handles = [patches.Patch(color=colour, label=f"{mode} accumulation") for mode, colour in MODES.items()]
    handles.append(patches.Patch(color=MISSED, label="beyond the limit"))
    handles.append(lines.Line2D([], [], color="black", linewidth=1.8, label="limit"))
    handles.append(lines.Line2D([], [], color=INK, linewidth=0.9, linestyle=(0, (4, 3)), label=RIVAL))
    figure.subplots_adjust(left=0.19, right=0.985, top=1 - 1.05 / height, bottom=0.85 / height, wspace=0.07)
    figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.185, 1), ncols=3, frameon=False)
    figure.legend(
        handles=others.get_legend_handles_labels()[0],
        loc="upper left",
        bbox_to_anchor=(0.715, 1),
        ncols=2,
        frameon=False,
        columnspacing=1,
        handletextpad=0.3,
    )
    machine, packages = report["machine"], report["machine"]["packages"]
    figure.text(
        0.985,
        0.1 / height,
        f"{machine['processor']}; {RIVAL} {packages[RIVAL]}; {machine['compiler']}; minimum of "
        f"{report['method']['rounds']} interleaved rounds; shorter is faster",
        ha="right",
        fontsize=7.5,
    )
