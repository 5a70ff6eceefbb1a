"""Let all engines run a subject in turn, and compare times and bits."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sonnx
from bench.engines.bars import RATIOS, RIVAL, SHARE_OF_PEAK, Bar
from bench.engines.engine import Engine, Prepared, UnavailableError
from bench.engines.ours import emitted, native
from bench.engines.peak import Peak, peaks
from bench.engines.rivals import emx, jax, onnxruntime, reference_evaluator
from bench.engines.subjects import PEAK_SUBJECT, Array, Case, Group, Subject, prepare
from bench.measure import CORES, Contestant, Timing, everyone_restored, interleaved, pin, repetitions

Tick = Callable[[], None]
SUMS: tuple[Group, ...] = (
    "dense",
    "depthwise",
    "network",
    "residual",
)  # where the mode of accumulation matters
BY_ELEMENT: tuple[Group, ...] = ("memory", "chain", "small", "small chain")
ENGINES: tuple[Engine, ...] = (
    *(Engine(RIVAL, threads, onnxruntime(threads), groups=(*SUMS, *BY_ELEMENT)) for threads in (1, 2)),
    *(
        Engine(f"sonnx {mode}", threads, {"": native(mode, threads)}, mode, groups=groups)
        for threads in (1, 2)
        for mode, groups in (("separate", (*SUMS, *BY_ELEMENT)), ("fused", SUMS))
    ),
    Engine("emitted C, fast", 1, {"": emitted("fast")}, "fast", groups=("network",)),
    Engine("emitted C, plain", 1, {"": emitted("plain")}, "plain", patient=True, groups=("network",)),
    *(Engine("JAX", threads, {"": jax}, patient=True) for threads in (1, 2)),
    Engine("ONNX reference evaluator", 1, {"": reference_evaluator}, patient=True),
    Engine("emx-onnx-cgen", 1, {"": emx}, patient=True),
)


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds, seconds of one sample, and what counts as slow for a patient engine."""

    rounds: int = 15
    sample: float = 0.025
    slow: float = 0.1
    few: int = 3
    seed: int = 5


@dataclass(frozen=True)
class Result:
    """Of one engine on one subject: its times, or the reason why there are none.

    `same_bits` is the share of elements whose bits are those of the reference engine, by accumulation mode.
    """

    engine: Engine
    timing: Timing | None = None
    repetitions: int = 0
    same_bits: dict[str, float] | None = None
    notes: dict[str, object] | None = None
    reason: str = ""


@dataclass(frozen=True)
class Contest:
    """What came out for one subject; `peak` is the machine's multiply-adds a second, by accumulation mode."""

    subject: Subject
    results: tuple[Result, ...]
    peak: dict[str, float]

    def ratio(self, result: Result) -> float | None:
        """Minimum time over that of onnxruntime with as many threads."""
        rival = next(
            (
                other.timing
                for other in self.results
                if other.engine.name == RIVAL and other.engine.threads == result.engine.threads
            ),
            None,
        )
        return result.timing.minimum / rival.minimum if result.timing and rival else None

    def bar(self, result: Result) -> Bar | None:
        ratio = self.ratio(result)
        limit = RATIOS.get((self.subject.group, result.engine.setting, result.engine.threads))
        if ratio is None or limit is None:
            return None
        return Bar(f"{self.subject.title}: {result.engine.key} / {RIVAL}", ratio, limit)

    def shares_of_peak(self) -> list[Bar]:
        return [
            Bar(
                f"{self.subject.title}: {one.engine.key}, share of the peak",
                self.subject.products / one.timing.minimum / self.peak[one.engine.setting],
                SHARE_OF_PEAK,
                at_least=True,
            )
            for one in self.results
            if one.timing and one.engine.threads == 1 and one.engine.setting in self.peak
        ]

    def bars(self) -> list[Bar]:
        return [bar for bar in map(self.bar, self.results) if bar] + self.shares_of_peak()


@dataclass(frozen=True)
class Entry:
    """An engine that takes part, called in one of its ways."""

    engine: Engine
    way: str
    contestant: Contestant
    prepared: Prepared


def contest(
    subject: Subject,
    engines: Sequence[Engine] = ENGINES,
    effort: Effort | None = None,
    tick: Tick = lambda: None,
) -> Contest:
    """Measure one subject; its files live in a temporary folder."""
    effort = effort or Effort()
    engines = [engine for engine in engines if subject.group in engine.groups]
    with tempfile.TemporaryDirectory(prefix="sonnx-bench-") as name, everyone_restored():
        folder = Path(name)
        case = prepare(subject, folder)
        expected = references(case)
        entries, reasons = _enter_all(engines, case, effort)
        peak = peaks(folder, subject.products) if subject.key == PEAK_SUBJECT else {}
        contestants = {name: entry.contestant for name, entry in entries.items()}
        contestants |= _peak_contestants(peak)
        times = interleaved(contestants, effort.rounds, seed=effort.seed, tick=tick)
        results = [_result(engine, entries, times, expected, reasons) for engine in engines]
    speeds = {mode: one.products / times[f"peak {mode}"].minimum for mode, one in peak.items()}
    return Contest(subject, tuple(results), speeds)


def references(case: Case) -> dict[str, list[Array]]:
    """What the reference engine computes, by accumulation mode."""
    graph = sonnx.load(case.path)
    modes: Sequence[Any] = ("separate", "fused") if case.subject.group in SUMS else ("separate",)
    return {mode: list(graph.run(case.inputs, accumulate=mode).values()) for mode in modes}


def share_of_equal_bits(outputs: Sequence[Array], expected: Sequence[Array]) -> float:
    """The share of elements with the same bits; outputs of another shape or type have none."""
    equal = 0
    for found, wanted in zip(outputs, expected, strict=True):
        if found.shape == wanted.shape and found.dtype == wanted.dtype:
            bits = f"u{wanted.dtype.itemsize}"
            same = np.ascontiguousarray(found).view(bits) == np.ascontiguousarray(wanted).view(bits)
            equal += int(np.count_nonzero(same))
    return equal / max(1, sum(wanted.size for wanted in expected))


def _enter_all(
    engines: Sequence[Engine], case: Case, effort: Effort
) -> tuple[dict[str, Entry], dict[str, str]]:
    """Everybody who can take part, and for each other the reason why not."""
    entries, reasons = {}, {}
    for engine in engines:
        for way, prepare_way in engine.ways.items():
            try:
                entries[f"{engine.key}: {way}"] = _enter(engine, way, prepare_way, case, effort)
            except UnavailableError as error:
                reasons[engine.key] = str(error)
    return entries, reasons


def _enter(
    engine: Engine, way: str, prepare_way: Callable[[Case], Prepared], case: Case, effort: Effort
) -> Entry:
    if len(CORES) < engine.threads:
        raise UnavailableError(f"this machine has fewer than {engine.threads} cores")
    pin(CORES)  # a library that starts now may count them
    made = prepare_way(case)
    count, seconds = repetitions(made.run, effort.sample)
    few = effort.few if engine.patient and seconds > effort.slow else None
    return Entry(engine, way, Contestant(made.run, CORES[-engine.threads :], count, few), made)


def _result(
    engine: Engine,
    entries: dict[str, Entry],
    times: dict[str, Timing],
    expected: dict[str, list[Array]],
    reasons: dict[str, str],
) -> Result:
    """What the fastest way of the engine reached."""
    own = {name: entry for name, entry in entries.items() if entry.engine == engine}
    if not own:
        return Result(engine, reason=reasons[engine.key])
    best = min(own, key=lambda name: times[name].minimum)
    entry = own[best]
    outputs = entry.prepared.outputs()
    bits = {mode: share_of_equal_bits(outputs, wanted) for mode, wanted in expected.items()}
    notes = dict(entry.prepared.notes)
    if entry.way:
        notes |= {"way": entry.way, "ways": {one.way: asdict(times[name]) for name, one in own.items()}}
    return Result(engine, times[best], entry.contestant.repetitions, bits, notes)


def _peak_contestants(peak: dict[str, Peak]) -> dict[str, Contestant]:
    """In samples as short as one run of the subject: a peak is what nobody disturbed."""
    return {f"peak {mode}": Contestant(one.run, CORES[-1:], 2) for mode, one in peak.items()}
