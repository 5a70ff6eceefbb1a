"""Which tests run in which tier, what is measured, where compiled kernels are kept meanwhile."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from pathlib import Path

import pytest
from hypothesis import settings
from tests import budgets

TESTS = Path(__file__).parent
# Markers of tests that only `make test-all` runs; pyproject.toml says what they mean.
DEEP = ("browser", "emulator", "fuzz", "long", "mutant", "prover", "sanitizer")
COVERED = ("sonnx.operators.", "sonnx.numeric.", "sonnx.check.", "sonnx.terms.", "sonnx.derive.")
UNMEASURED_BEFORE = pytest.StashKey[bool]()


# Programs started in the background of a shell are deaf to interrupts, and so are those that they start; here
# they must hear them.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Modules and thousands of collected tests stay to the end: whoever looks for garbage need not look at them.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from here on, in what tests make."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _kernels_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    root = tmp_path_factory.getbasetemp()
    # Workers of one session share what they compile.
    shared = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SONNX_CACHE_DIR", str(shared / "kernels"))
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which tests: those of `make test`, those that `make test-all` runs beyond them, or all."""
    parser.addoption("--tier", choices=("quick", "deep", "all"), default="quick", help="see CONTRIBUTING.md")


def pytest_configure(config: pytest.Config) -> None:
    """Tell the budgets of drawn examples before any test is read."""
    budgets.deep = config.getoption("--tier") != "quick"
    settings.register_profile("tier", max_examples=budgets.examples(100), deadline=None)
    settings.load_profile("tier")


def pytest_report_header(config: pytest.Config) -> str:
    """Say what is left out."""
    told = {
        "quick": "--tier all runs the others too",
        "deep": "what the quick tier leaves out, and deep budgets",
    }
    tier = str(config.getoption("--tier"))
    return f"tier: {tier} ({told.get(tier, 'everything, with deep budgets')})"


def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Forget what covered modules keep where a measured test follows one that is not: it fills it again."""
    measured = not item.get_closest_marker("no_cover")
    if measured and item.config.stash.get(UNMEASURED_BEFORE, False):
        for name, module in list(sys.modules.items()):
            if name.startswith(COVERED):
                for kept in vars(module).values():
                    if isinstance(kept, _lru_cache_wrapper):
                        kept.cache_clear()
    item.config.stash[UNMEASURED_BEFORE] = not measured


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is of another tier; begin with what takes long; measure what is marked so."""
    tier = config.getoption("--tier")
    out = [item for item in items if tier != "all" and not _is_of(tier, item)]
    config.hook.pytest_deselected(items=out)
    gone = set(out)
    items[:] = [item for item in items if item not in gone]
    items.sort(key=lambda item: not item.get_closest_marker("prover"))
    for item in items:
        if not item.get_closest_marker("measured"):
            item.add_marker("no_cover")


def _is_of(tier: str, item: pytest.Item) -> bool:
    """Drawn and thinned examples are of both tiers, with more of them in the deep one."""
    deep = any(item.get_closest_marker(name) for name in DEEP)
    test = getattr(item, "obj", None)
    drawn = getattr(test, "drawn", getattr(test, "is_hypothesis_test", False))
    more = drawn or item.get_closest_marker("thinned")
    return not deep if tier == "quick" else bool(deep or more)
