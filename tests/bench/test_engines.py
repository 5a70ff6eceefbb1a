"""The comparison of engines, on subjects of a few elements."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.engines import plot as drawing
from bench.engines import report, subjects
from bench.engines.bars import RATIOS, Bar
from bench.engines.contest import ENGINES, Contest, Effort, Result, contest, share_of_equal_bits
from bench.engines.engine import Engine, Prepared, UnavailableError
from bench.engines.loops import CHAINS, MANY
from bench.engines.markdown import markdown
from bench.engines.ours import native
from bench.engines.peak import peaks
from bench.engines.rivals import emx, jax, onnxruntime, reference_evaluator
from bench.engines.starts import INSIDE, MANY_EMPTY, MANY_FILLED, Starts, start_bars
from bench.engines.subjects import SUBJECTS, Array, Built, Case, Convolution, Subject, prepare
from bench.measure import CORES, Timing
from onnx import helper
from tests.native.support import functions, planned

import sonnx
from examples import mobilenet_like

QUICK = Effort(rounds=2, sample=0, few=1)
SIZES = Convolution(3, 2, 2, 5, stride=2, pad=1, group=2)


def whole_numbers(rng: np.random.Generator) -> Built:
    """A convolution whose sums are exact in any order, so that all engines owe the same bits."""
    X = rng.integers(-8, 9, (1, 2, 5, 5)).astype(np.float32)
    W = rng.integers(-8, 9, (2, 1, 3, 3)).astype(np.float32)
    B = rng.integers(-8, 9, 2).astype(np.float32)
    node = helper.make_node(
        "Conv",
        ["X", "W", "B"],
        ["Y"],
        strides=[2, 2],
        pads=[1, 1, 1, 1],
        dilations=[1, 1],
        group=2,
        kernel_shape=[3, 3],
        auto_pad="NOTSET",
    )
    return subjects.one_node(node, {"X": X}, {"W": W, "B": B}, (1, 2, 3, 3))


TINY = (
    Subject("tiny-conv", "tiny convolution", "depthwise", whole_numbers),
    Subject("tiny-clip", "tiny Clip", "memory", lambda rng: subjects.clip(rng, (3, 5))),
    Subject("tiny-where", "tiny Where", "memory", lambda rng: subjects.where(rng, (3, 5))),
    Subject("tiny-expand", "tiny Expand", "memory", lambda rng: subjects.expand(rng, (3, 5))),
)
CONV = TINY[0]


needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SONNX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def engine(name: str, threads: int, *ways: Callable[[Case], Prepared], **more: Any) -> Engine:
    return Engine(name, threads, {f"way {k}": way for k, way in enumerate(ways)}, **more)


def answering(array: Array, seconds: float = 0) -> Callable[[Case], Prepared]:
    def outputs() -> list[Array]:
        time.sleep(seconds)
        return [array]

    return lambda _: Prepared(outputs, outputs)


def refusing(_: Case) -> Prepared:
    raise UnavailableError("it has no such operator")


def by_hand(minimum: float, threads: int, name: str = "onnxruntime", setting: str = "") -> Result:
    return Result(
        Engine(name, threads, {}, setting), Timing(minimum, minimum, 9), same_bits={"separate": 1.0}
    )


def test_sizes_and_products_of_a_convolution() -> None:
    assert (SIZES.result, SIZES.products) == (3, 2 * 1 * 9 * 9)
    assert (Convolution(3, 64, 64, 56, 1, 2, 2).result, Convolution(7, 3, 64, 224, 2, 3).result) == (56, 112)
    assert Convolution(3, 64, 64, 56, pad=1).products == 115_605_504


@pytest.mark.parametrize("subject", TINY, ids=lambda one: one.key)
def test_a_subject_conforms_and_has_the_same_data_in_every_run(subject: Subject, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    first, second = prepare(subject, tmp_path), prepare(subject, tmp_path / "again")
    assert sonnx.load(first.path).check() == ()
    assert first.path.read_bytes() == second.path.read_bytes()
    assert all(sonnx.same_bits(first.inputs[name], second.inputs[name]) for name in first.inputs)


def test_the_network_is_built_for_another_size_and_the_example_keeps_its_own(tmp_path: Path) -> None:
    case = prepare(Subject("net", "net", "network", subjects.network(64)), tmp_path)
    graph = sonnx.load(case.path)
    assert graph.check() == ()
    assert [value.type.shape for value in graph.inputs] == [(1, 3, 64, 64)] == [case.inputs["image"].shape]
    assert mobilenet_like.SIZE == 32


def test_all_that_is_asked_for_is_measured() -> None:
    assert len(SUBJECTS) == len({one.key for one in SUBJECTS}) == 12
    names = [(one.name, one.threads) for one in ENGINES]
    assert len(names) == len(set(names))
    asked = {(group, setting, threads) for group, setting, threads in RATIOS if threads <= 2}
    settings = {(one.setting, one.threads) for one in ENGINES}
    assert {(setting, threads) for _, setting, threads in asked} <= settings


@pytest.mark.parametrize(
    ("rival", "package"),
    [
        (onnxruntime(1)["run"], "onnxruntime"),
        (onnxruntime(1)["bound results"], "onnxruntime"),
        (onnxruntime(2)["bound results, no spinning"], "onnxruntime"),
        (reference_evaluator, "onnx"),
        (jax, "jax"),
        pytest.param(emx, "emx_onnx_cgen", marks=needs_compiler),
        pytest.param(native("separate", 1), "sonnx", marks=needs_compiler),
        pytest.param(native("separate", 2), "sonnx", marks=needs_compiler),
    ],
    ids=["run", "bound", "no-spinning", "evaluator", "jax", "emx", "native", "native-2"],
)
@pytest.mark.parametrize(
    "subject",
    [TINY[0], *(pytest.param(one, marks=pytest.mark.long) for one in TINY[1:])],
    ids=lambda one: one.key,
)
def test_every_engine_executes_the_subject(
    subject: Subject, rival: Callable[[Case], Prepared], package: str, tmp_path: Path
) -> None:
    pytest.importorskip(package)
    case = prepare(subject, tmp_path)
    made = rival(case)
    made.run()
    expected = list(sonnx.load(case.path).run(case.inputs).values())
    assert share_of_equal_bits(made.outputs(), expected) == 1


def test_bits_are_compared_not_values() -> None:
    found = np.array([0.0, -0.0, np.nan, 1.0], np.float32)
    wanted = np.array([0.0, 0.0, np.nan, 1.0], np.float32)
    assert share_of_equal_bits([found], [wanted]) == 0.75
    assert share_of_equal_bits([found.reshape(2, 2)], [wanted]) == 0
    assert share_of_equal_bits([found.astype(np.float64)], [wanted]) == 0


def test_an_engine_that_cannot_take_part_says_why() -> None:
    found = contest(CONV, [engine("broken", 1, refusing)], QUICK)
    assert found.results == (Result(found.results[0].engine, reason="it has no such operator"),)
    row = report.rows(found)[0]
    assert (row["reason"], "minimum" in row) == ("it has no such operator", False)


def test_an_engine_is_asked_only_about_its_groups_of_subjects() -> None:
    found = contest(CONV, [engine("of networks", 1, refusing, groups=("network",))], QUICK)
    assert found.results == ()


def test_more_threads_than_cores_are_not_measured() -> None:
    crowd = engine("crowd", len(CORES) + 1, answering(np.zeros(1)))
    assert "fewer than" in contest(CONV, [crowd], QUICK).results[0].reason


def test_of_several_ways_the_fastest_counts(tmp_path: Path) -> None:
    slow, quick = answering(np.zeros(1), 0.02), answering(np.zeros(1))
    (result,) = contest(CONV, [engine("both", 1, slow, quick)], QUICK).results
    assert result.notes is not None
    assert result.notes["way"] == "way 1"
    ways: Any = result.notes["ways"]
    assert ways["way 0"]["minimum"] >= 0.02
    assert result.timing == Timing(**ways["way 1"])


def test_a_slow_engine_may_have_fewer_rounds_only_where_it_says_so() -> None:
    effort = Effort(rounds=4, sample=0, slow=0.001, few=2)
    slow = answering(np.zeros(1), 0.002)
    found = contest(CONV, [engine("patient", 1, slow, patient=True), engine("other", 1, slow)], effort)
    assert [one.timing.rounds for one in found.results if one.timing] == [2, 4]


def test_the_share_of_equal_bits_is_that_of_the_reference_engine(tmp_path: Path) -> None:
    case = prepare(CONV, tmp_path)
    right = sonnx.load(case.path).run(case.inputs)["Y"]
    wrong = right.copy()
    wrong.flat[0] += 1
    found = contest(CONV, [engine("right", 1, answering(right)), engine("wrong", 1, answering(wrong))], QUICK)
    shares = [one.same_bits for one in found.results]
    assert shares == [{"separate": 1, "fused": 1}, {"separate": 17 / 18, "fused": 17 / 18}]


def test_a_ratio_is_to_onnxruntime_with_as_many_threads() -> None:
    ours = [by_hand(3.0, threads, "sonnx separate", "separate") for threads in (1, 2)]
    found = Contest(CONV, (by_hand(4.0, 1), by_hand(2.0, 2), *ours), {})
    assert [found.ratio(one) for one in found.results] == [1.0, 1.0, 0.75, 1.5]
    assert [(bar.value, bar.limit) for bar in found.bars()] == [(0.75, 0.7), (1.5, 0.7)]


def test_without_onnxruntime_there_is_no_ratio() -> None:
    found = Contest(CONV, (by_hand(3.0, 1, "sonnx separate", "separate"),), {})
    assert (found.ratio(found.results[0]), found.bars()) == (None, [])


def test_the_share_of_the_peak_is_of_the_same_mode_on_one_thread() -> None:
    subject = Subject("s", "s", "dense", whole_numbers, products=100)
    results = (by_hand(2.0, 1, "a", "separate"), by_hand(2.0, 1, "b", "fused"), by_hand(1.0, 2, "c", "fused"))
    shares = Contest(subject, results, {"separate": 100.0, "fused": 50.0}).shares_of_peak()
    assert [(bar.value, bar.verdict) for bar in shares] == [(0.5, "MISSED by 37.5%"), (1.0, "ok")]


@pytest.mark.parametrize(
    ("bar", "verdict"),
    [
        (Bar("", 1.1, 1.1), "ok"),
        (Bar("", 1.21, 1.1), "MISSED by 10.0%"),
        (Bar("", 0.8, 0.8, at_least=True), "ok"),
        (Bar("", 0.6, 0.8, at_least=True), "MISSED by 25.0%"),
    ],
)
def test_a_verdict_says_by_how_much_a_bar_was_missed(bar: Bar, verdict: str) -> None:
    assert bar.verdict == verdict


def test_the_compiler_costs_a_difference_of_processes_and_a_start_is_measured_within_one() -> None:
    seconds = {
        "load and check": 0.25,
        "native, filled cache": 0.5,
        "native, empty cache": 1.0,
        MANY_FILLED: 0.5,
        MANY_EMPTY: 4.5,
        "reference": 0.25,
        INSIDE: 0.04,
    }
    times = {name: Timing(value, value, 9) for name, value in seconds.items()}
    found = [(bar.value, bar.limit, bar.verdict) for bar in start_bars(Starts(times, changed=2))]
    assert found == [
        (0.5, 1.0, "ok"),
        (4.0, 3.0, "MISSED by 33.3%"),
        (2, 0, "MISSED"),
        (0.04, 0.05, "ok"),
    ]
    assert start_bars(Starts({})) == []


def test_many_loops_are_as_many_as_their_chains_and_all_different(tmp_path: Path) -> None:
    graph = sonnx.load(prepare(MANY, tmp_path).path)
    assert len(set(CHAINS)) == len(CHAINS) == len(functions(planned(graph))) == 40


@needs_compiler
def test_the_peak_does_at_least_a_round_and_counts_all_its_products(tmp_path: Path) -> None:
    one, many = peaks(tmp_path, 1), peaks(tmp_path, 10_000)
    assert one.keys() == many.keys() == {"separate", "fused"}
    for mode, found in many.items():
        assert found.run() == 0.0
        assert found.products % one[mode].products == 0
        assert 10_000 - one[mode].products < found.products <= 10_000


def test_a_share_short_of_all_never_reads_as_all() -> None:
    shown = [report.percent(share) for share in (1, 1 - 1e-9, 0.5, 0)]
    assert shown == ["all", "99.9%", "50.0%", "0.0%"]


def a_report() -> dict[str, Any]:
    ours = by_hand(3.0, 1, "sonnx separate", "separate")
    found = Contest(CONV, (by_hand(4.0, 1), ours, Result(Engine("JAX", 1, {}), reason="not installed")), {})
    return {
        "rows": report.rows(found),
        "machine": {"processor": "a machine", "compiler": "cc 1", "packages": {"onnxruntime": "1"}},
        "method": {"rounds": 9},
    }


def test_the_table_has_a_line_for_each_engine_and_a_dash_where_there_is_nothing() -> None:
    table = report.times_table(a_report()["rows"])
    assert table.row_count == 3
    columns = {str(column.header): list(column.cells) for column in table.columns}
    assert columns["/ onnxruntime"] == ["1", "0.75", "\N{EN DASH}"]
    assert columns["verdict"] == ["", "MISSED by 7.1%", "\N{EN DASH}"]
    assert columns["same bits"] == ["all", "all", "\N{EN DASH}"]


def test_the_figures_of_a_page_mark_what_was_missed() -> None:
    assert markdown(a_report()).splitlines()[2] == "| tiny convolution | 4e+03 ms | **0.75** |  |  |  |  |"


def test_the_plot_is_written_as_svg_and_png(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    svg, png = drawing.plot(a_report(), tmp_path)
    assert b"<svg" in svg.read_bytes()
    assert png.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_plot_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(drawing.MissingPackageError, match="pip install matplotlib"):
        drawing.draw(a_report())
