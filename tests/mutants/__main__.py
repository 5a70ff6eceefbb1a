"""What the suite is worth: how many of the drawn mutants die of it.

    python -m tests.mutants draw      80 mutants from the seed, into drawn.json
    python -m tests.mutants reach     run a tier once with probes: which test comes to which mutant
    python -m tests.mutants judge     every mutant against the tests of a tier that come to it

A mutant of Python meets the tests that evaluate what it changes, the quickest first, until one fails or
hangs. Mutants of kernels and theories, which no probe sees, meet the folders that compile or prove them.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from tempfile import gettempdir
from typing import Any
from xml.etree import ElementTree

from tests.mutants.drawing import Mutant, drawn
from tests.mutants.trees import make_tree, put_probes, run_tests

HERE = Path(__file__).parent
DRAWN = HERE / "drawn.json"
NUMBER, SEED = 80, 20261118
# Where what is not Python is tried.
FOLDERS = {
    "kernels": ("tests/native/", "tests/emit/", "tests/operators/", "tests/conformance/", "tests/prove/"),
    "theories": ("tests/prove/",),
}
TARGETS = {"quick": "test", "deep": "deep-tests", "all": "test-all"}
LIVES = "lives"
# Only a hang takes as long.
SECONDS = 1500.0


def main() -> int:
    """Draw, reach or judge; ends with 1 where a mutant that died before lives now."""
    parser = argparse.ArgumentParser(description="Judge the suite by drawn mutants.")
    parser.add_argument("what", choices=("draw", "reach", "judge"))
    parser.add_argument("--tier", choices=("quick", "deep", "all"), default="quick")
    parser.add_argument("--work", type=Path, default=Path(gettempdir()) / "sonnx-mutants", metavar="FOLDER")
    parser.add_argument("--record", action="store_true", help="keep in drawn.json which test killed each")
    arguments = parser.parse_args()
    if arguments.what == "draw":
        DRAWN.write_text(
            json.dumps([{**asdict(mutant), "killed": {}} for mutant in drawn(NUMBER, SEED)], indent=1)
        )
        return 0
    arguments.work.mkdir(parents=True, exist_ok=True)
    entries = json.loads(DRAWN.read_text())
    mutants = [Mutant(**{k: v for k, v in entry.items() if k != "killed"}) for entry in entries]
    if arguments.what == "reach":
        return _reach(mutants, arguments.work, arguments.tier)
    return _judge(entries, mutants, arguments)


def _reach(mutants: Sequence[Mutant], work: Path, tier: str) -> int:
    python = make_tree(work / "probed")
    put_probes(work / "probed", mutants)
    found = work / f"reached-{tier}.tsv"
    found.unlink(missing_ok=True)
    command = [os.fspath(python), "-m", "pytest", "-n", "2", "--dist", "worksteal", "-q", f"--tier={tier}"]
    command += [f"--junitxml={work / f'times-{tier}.xml'}", "-p", "no:cacheprovider", "-p", "no:cov"]
    environment = {**os.environ, "SONNX_REACHED": os.fspath(found)}
    return subprocess.run(command, cwd=work / "probed", env=environment, check=False).returncode


def _times(path: Path) -> dict[str, float]:
    """Seconds of every test that passed, by its identifier."""
    times = {}
    for case in ElementTree.parse(path).iter("testcase"):
        if not len(case) or case[0].tag in ("system-out", "properties"):
            name = case.attrib["classname"].replace(".", "/") + ".py::" + case.attrib["name"]
            times[name] = float(case.attrib["time"])
    return times


def _meeting(mutant: Mutant, reached: set[str], times: Mapping[str, float]) -> Iterator[list[str]]:
    """The tests that a mutant meets, the quickest first: some of few files, then all that fit a time."""
    # A mutant that no probe has seen may be reached where tests start programs of their own.
    unseen = () if reached else (f"tests/{mutant.layer}/", "tests/report/")
    folders = FOLDERS.get(mutant.layer, unseen)
    chosen = (
        [name for name in times if name.startswith(folders)] if folders else sorted(reached & times.keys())
    )
    chosen.sort(key=lambda name: times[name])
    files = list(dict.fromkeys(name.partition("::")[0] for name in chosen[:200]))[:4]
    yield [name for name in chosen if name.startswith(tuple(files))][:80]
    yield list(_within(chosen, times))


def _within(names: Sequence[str], times: Mapping[str, float], seconds: float = 80.0) -> Iterator[str]:
    """As many of the tests as fit into a time; it is the same for every tier."""
    for name in names:
        seconds -= times[name] + 0.005
        if seconds < 0:
            return
        yield name


def _judge(entries: list[dict[str, Any]], mutants: Sequence[Mutant], arguments: argparse.Namespace) -> int:
    work, tier = arguments.work, arguments.tier
    reached = defaultdict(set)
    for line in (work / f"reached-{tier}.tsv").read_text().splitlines():
        number, _, test = line.partition("\t")
        reached[int(number)].add(test)
    times = _times(work / f"times-{tier}.xml")
    trees: SimpleQueue[tuple[Path, Path]] = SimpleQueue()
    for k in range(2):
        trees.put((make_tree(work / f"tree{k}"), work / f"tree{k}"))

    def verdict(k: int) -> tuple[str, str]:
        python, tree = trees.get()
        path = tree / mutants[k].path
        source = path.read_text()
        changed = mutants[k].applied(source)
        try:
            if changed is None:
                return "gone", ""
            path.write_text(changed)
            found = ("lives", "")
            for tests in _meeting(mutants[k], reached[k], times):
                if found[0] == "lives":
                    found = run_tests(python, tree, tests, SECONDS, [f"--tier={tier}"])
        finally:
            path.write_text(source)
            trees.put((python, tree))
        print(k, mutants[k].layer, mutants[k].path, mutants[k].line, *found, flush=True)
        return found

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(verdict, range(len(mutants))))
    return _compared(entries, found, f"make {TARGETS[tier]}", arguments.record)


def _compared(
    entries: list[dict[str, Any]], found: Sequence[tuple[str, str]], command: str, record: bool
) -> int:
    """Say how many die, and which died before and live now; 1 where there is one."""
    dead = [kind in ("dies", "hangs") for kind, _ in found]
    lost = [
        entry
        for entry, dies in zip(entries, dead, strict=True)
        if not dies and entry["killed"].get(command, LIVES) != LIVES
    ]
    for entry in lost:
        print("died before:", entry["path"], entry["text"].strip(), "by", entry["killed"][command])
    print(Counter(kind for kind, _ in found), f"{sum(dead)} of {len(dead)} die in `{command}`")
    if record:
        for entry, dies, (kind, test) in zip(entries, dead, found, strict=True):
            entry["killed"][command] = (test or kind) if dies else LIVES
        DRAWN.write_text(json.dumps(entries, indent=1) + "\n")
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
