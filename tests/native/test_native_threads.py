"""Threads of the runtime: no data race, no lost helper, no lock that outlives a fork."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.operators.compiling import compiler

import sonnx

RUNTIME = Path(sonnx.__file__).parent / "native" / "runtime.c"
DRIVER = """
#include <stdio.h>
static int64_t sums[8];
static void add(const void *parameters, void *const *operands, int64_t task, int64_t rank)
{
    (void)parameters, (void)operands, (void)rank;
    sums[task] += task + 1; /* a task is done by one thread, and calls follow one another */
}
int main(void)
{
    struct call calls[3];
    struct progress progress[3];
    for (int i = 0; i < 3; i++) calls[i] = (struct call){add, NULL, NULL, 8};
    for (int run = 0; run < 4000; run++) {
        const struct run run = {calls, progress, 3, 4};
        if (!sonnx_execute(&run)) return 1;
    }
    for (int i = 0; i < 8; i++) {
        if (sums[i] != 3 * 4000 * (i + 1)) return 2;
    }
    puts("right");
    return 0;
}
"""


def built(folder: Path, *flags: str) -> Path:
    source, program = folder / "driver.c", folder / "driver"
    source.write_text(RUNTIME.read_text(encoding="utf-8") + DRIVER, encoding="utf-8")
    command = [
        compiler(),
        "-std=c99",
        "-O1",
        "-g",
        *flags,
        str(source),
        "-o",
        str(program),
        "-pthread",
        "-lm",
    ]
    empty = folder / "empty.c"
    empty.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    probe = [compiler(), *flags, str(empty), "-o", str(program)]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip(f"this compiler has no {' '.join(flags)}")
    subprocess.run(command, check=True)
    return program


@pytest.mark.sanitizer
def test_threads_share_tasks_without_a_race(tmp_path: Path) -> None:
    program = built(tmp_path, "-fsanitize=thread")
    # Where addresses are too random for the sanitizer, it starts again without that.
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=300)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the thread sanitizer cannot run on this kernel")
    assert done.stderr == ""
    assert (done.returncode, done.stdout) == (0, "right\n")


FORKING = """
import faulthandler, os, sys, threading
from tests.native.support import Conv, defined

graph, arrays = Conv((1, 8, 40, 40), 8, (3, 3)).model("float")
run = graph.compile(threads=int(sys.argv[1]))
expected = defined(graph, arrays)["Y"].tobytes()
stop = threading.Event()

def others():
    while not stop.is_set():
        run(arrays)

busy = [threading.Thread(target=others) for _ in range(2)]
for each in busy:
    each.start()
codes = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(20, exit=True)
        os._exit(0 if run(arrays)["Y"].tobytes() == expected else 3)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for each in busy:
    each.join()
print(codes, run(arrays)["Y"].tobytes() == expected)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_a_process_forked_during_a_run_can_run_too(threads: int) -> None:
    # A process of its own: other libraries in this one may not be forked.
    command = [sys.executable, "-W", "ignore", "-c", FORKING, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "[0, 0, 0, 0, 0] True\n"
