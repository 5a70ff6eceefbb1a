import os
import re
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from tests.emit.support import Author, files_of
from tests.loops import for_each
from tests.prove.projects import changed, frama_on, needs_frama_c, tiny
from tests.prove.support import QUICK, fake_tools, script

from sonnx.operators import NODE_OPERATORS
from sonnx.prove.contracts import contracts, is_contract, loopholes
from sonnx.prove.eva import analyse, harness
from sonnx.prove.forms import oddities
from sonnx.prove.projects import prove_project, read_project
from sonnx.prove.result import Attempt, Proofs
from sonnx.prove.running import Options
from sonnx.prove.tools import Tool
from sonnx.prove.wp import FramaError, defined_functions, prove_function, short_name

HEAD = "static void node_0_Where_t3(void)"
CONTRACT = (
    "/*@ assigns \\nothing;\n    ensures same_int8_t(\\result, node_0_Where_t3_at(condition, X, Y)); */\n"
)


def written(folder: Path, sources: dict[str, str]) -> Path:
    folder.mkdir()
    sums = [f"{sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sources.items()]
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="ascii")
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def bad(proofs: Proofs) -> set[tuple[str, str]]:
    return {(goal.unit, goal.name) for goal in proofs.bad}


@pytest.mark.prover
@needs_frama_c
def test_an_emitted_project_is_proved_and_left_as_it_is(tmp_path: Path) -> None:
    folder = written(tmp_path / "tiny", tiny("Expand", "int8"))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    proofs = prove_project(folder, options=QUICK)
    assert bad(proofs) == set()
    assert proofs.good
    units = {goal.unit for goal in proofs.goals}
    assert {"node_0_Expand_t2", "copy_in_x0", "random_model_run", "the whole program"} <= units
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.prover
@needs_frama_c
def test_a_contradictory_contract_is_found() -> None:
    wrong = CONTRACT.replace("/*@ ", "/*@ requires condition < 3 && condition > 5;\n    ")
    with frama_on(changed(tiny("Where", "int8"), CONTRACT, wrong)) as frama:
        goals = prove_function(frama, "node_0_Where_t3_element", 1)
    assert any(goal.verdict == "contradiction" and goal.kind == "smoke" for goal in goals)


@pytest.mark.prover
@needs_frama_c
def test_what_frama_c_cannot_read_is_a_clear_error(tmp_path: Path) -> None:
    folder = written(tmp_path / "tiny", changed(tiny("Where", "int8"), HEAD, HEAD.replace(")", ", oops)")))
    with pytest.raises(FramaError, match=r"does not read model\.c: syntax error: .* at token: oops"):
        prove_project(folder, options=QUICK)


@pytest.mark.prover
@needs_frama_c
def test_a_read_beyond_an_array_is_found_by_eva_alone() -> None:
    old = "        t_t3[i] = node_0_Where_t3_element(t_x0[i],"
    new = "        t_t3[i] = node_0_Where_t3_element(t_x0[i + 1],"
    sources = tiny("Where", "int8")
    with frama_on(sources) as frama:
        (good,) = analyse(frama, sources["model.h"], ["model.c"])
    with frama_on(changed(sources, old, new)) as frama:
        (wrong,) = analyse(frama, sources["model.h"], ["model.c"])
    assert (good.good, wrong.good) == (True, False)


@pytest.mark.parametrize(
    "annotation",
    [
        "/*@ axiomatic More { axiom wrong: 1 == 2; } */",
        "/*@ axiomatic Ieee { predicate same_float(float a, float b) = \\true; } */",
        "/*@ axiomatic Ieee { predicate other(float a); } */",
        "/*@ lemma wrong: 1 == 2; */",
        "//@ admit 1 == 2;",
        "//@ ghost int x = 1;",
        "//@ assert \\false;",
        "/*@ inductive p(int a) { case c: p(1); } */",
        "/*@ requires \\false; */",
        "/*@ global invariant x: 1 == 2; */",
    ],
)
def test_an_annotation_that_takes_something_for_granted_is_found(annotation: str) -> None:
    assert list(loopholes(f"int a;\n{annotation}\n"))
    assert next(loopholes(f"int a;\n{annotation}\n"))[0] == 2


@for_each("operator", NODE_OPERATORS)
@for_each("dtype", ["float", "double", "float16"])
def test_an_emitted_project_takes_nothing_for_granted_and_every_function_has_a_contract(
    operator: str, dtype: str
) -> None:
    text = tiny(operator, dtype, "fused")["model.c"]
    assert list(loopholes(text)) == []
    found = contracts(text)
    starts = ("static", "void", "int32_t")  # the last of these begins an entry point with a status
    heads = [line for line in text.split("\n") if line.endswith(")") and line.startswith(starts)]
    assert len(heads) == len(found) > 3
    assert all(is_contract(said, name) for name, said in found.items())
    assert list(oddities(tiny(operator, dtype, "fused"))) == []


def test_a_contract_says_what_is_assigned_and_ensured() -> None:
    assert is_contract("assigns x; ensures y;", "f")
    assert is_contract("assigns \\nothing;", "f")
    assert is_contract("requires \\valid_read(a); assigns x;", "m_run")
    assert not is_contract("requires \\valid(a); assigns x;", "m_run")
    assert not is_contract("assigns x;", "f")
    assert not is_contract("ensures y;", "f")
    assert not is_contract("", "m_run")


# What would let Frama-C and a compiler see different programs, or prove what nobody claims.
TAMPERED = {
    "two programs": (
        "    if (condition != 0) {",
        "#ifdef __FRAMAC__\n    if (condition != 0) {\n#else\n    {\n#endif",
    ),
    "a macro": ("#define t_t3 buffer_3", "#define t_t3 buffer_3\n#define same_int8_t(a, b) (0 == 0)"),
    "another file": ('#include "checks.h"', '#include "checks.h"\n#include "other.h"'),
    "a line in two": ("    if (condition != 0) {", "    //@ adm\\\nit 0 == 1;\n    if (condition != 0) {"),
    "in a string": (
        "    if (condition != 0) {",
        '    (void)"/*@ //"; /*@ admit 0 == 1; */\n    if (condition != 0) {',
    ),
    "no end": (
        "        loop assigns i, t_t3[0 .. 5];\n        loop variant 6 - i; */",
        "        loop assigns i, t_t3[0 .. 5]; */",
    ),
    "one array": ("#define t_t3 buffer_3", "#define t_t3 buffer_1"),
    "not for Frama-C": (
        "    if (condition != 0) {",
        "#ifndef __FRAMAC__\n    condition = 1;\n#endif\n    if (condition != 0) {",
    ),
    "assembler": ("    if (condition != 0) {", "    __asm__(0);\n    if (condition != 0) {"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_source_of_another_form_is_not_believed(how: str) -> None:
    sources = tiny("Where", "int8")
    assert list(oddities(sources)) == []
    assert list(oddities(changed(sources, *TAMPERED[how])))


@pytest.mark.parametrize("text", ["/*@ axiomatic A { axiom a: 0 == 1; } */", "#define same_int8_t(a, b) 1"])
@pytest.mark.parametrize("name", ["model.h", "checks.h"])
def test_a_header_that_says_something_of_proofs_is_not_believed(name: str, text: str) -> None:
    sources = tiny("Where", "int8")
    assert list(oddities({**sources, name: f"{sources[name]}\n{text}\n"}))


def test_a_file_that_is_not_as_emitted_is_no_project_that_is_proved(tmp_path: Path) -> None:
    proofs = proofs_by(tmp_path, HONEST, sums="")
    assert {name for _, name in bad(proofs)} == {"SHA256SUMS can be read"}
    others = "\n".join(f"{64 * '0'}  {name}" for name in ("model.c", "model.h", "../model.c"))
    (tmp_path / "other").mkdir()
    proofs = proofs_by(tmp_path / "other", HONEST, sums=others)
    wrong = {"model.c", "model.h", "checks.h"}
    assert {name for _, name in bad(proofs)} == {f"{name} against SHA256SUMS" for name in wrong}


def test_a_file_that_is_lost_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path / "lost", {**tiny("Where", "int8"), "weights.c": ""})
    (folder / "weights.c").unlink()
    with pytest.raises(ValueError, match=r"there is no weights\.c, which SHA256SUMS names"):
        read_project(folder)


def test_calls_in_another_order_are_not_believed() -> None:
    sources = tiny("Where", "int8")
    call = re.search(r"^    node_0_\w+\(\);$", sources["model.c"], re.MULTILINE)
    assert call
    swapped = call[0].replace("node_0_", "node_1_")
    found = list(oddities(changed(sources, f"{call[0]}\n    //@ ghost", f"{swapped}\n    //@ ghost")))
    assert [what for _, _, what in found] == ["a call of node 1 without its label"]


@pytest.mark.prover
@needs_frama_c
def test_annotations_of_a_conv_without_terms_are_read(tmp_path: Path) -> None:
    author = Author(np.random.default_rng(1))
    inputs = [author.given_input("float", shape) for shape in ((2, 0, 3, 3), (3, 0, 2, 2), (3,))]
    how = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1, "auto_pad": "NOTSET"}
    author.node("Conv", inputs, "float", (2, 3, 2, 2), **how, kernel_shape=(2, 2))
    files = {
        name: text.decode() for name, text in files_of(author.finished()).items() if name[-2:] in {".c", ".h"}
    }
    with frama_on(files) as frama:
        assert len(defined_functions(frama)) == 5


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is no project that sonnx emit wrote: there is no model\.c"):
        read_project(tmp_path)


def test_fast_kernels_are_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "fast", {**tiny("Where", "int8"), "kernels.h": ""})
    with pytest.raises(
        ValueError, match="fast kernels, which carry no contracts; emit it with --kernels plain"
    ):
        read_project(folder)


def test_a_source_that_is_not_ascii_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "other", {**tiny("Where", "int8"), "checks.h": "é"})
    with pytest.raises(ValueError, match="not what sonnx emit writes"):
        read_project(folder)


def test_eva_gets_every_input_in_its_stated_range() -> None:
    text = harness(tiny("Conv", "double")["model.h"])
    assert "in_x0[i] = Frama_C_double_interval(-DBL_MAX, DBL_MAX);" in text
    assert "random_model_run(in_x0, in_x1, in_x2, out_t3);" in text
    assert "Frama_C_make_unknown((char *)in_x0, sizeof in_x0);" in harness(tiny("Where", "int8")["model.h"])


@pytest.mark.parametrize("header", ["", "int32_t x_run(float *a);", "void x_run(float a[2]);"])
def test_an_entry_point_of_another_form_is_refused(header: str) -> None:
    with pytest.raises(FramaError, match=r"model\.h declares"):
        harness(header)


def test_names_of_goals_lose_what_all_have() -> None:
    assert short_name("typed_ieee_node_0_f_element_ensures", "node_0_f_element") == "ensures"
    assert short_name("typed_f_assert_rte_index_bound_2", "f") == "assert_rte_index_bound_2"


METRICS = """[kernel] Parsing model.c (with preprocessing)
[metrics] Defined functions (1)
  =====================
   node_0 (0 call);

  Specified-only functions (0)
"""
HONEST = "[wp] 1 goal scheduled\n[wp] [Qed] Goal typed_ieee_node_0_ensures : Valid (1ms)\n"
EVA = "  1 functions analyzed (out of 1): 100% coverage.\n  0 alarms generated by the analysis.\n"


def proofs_by(
    folder: Path,
    wp: str,
    eva: str = EVA,
    end: str = "exit 0",
    sums: str | None = None,
    contract: str = "ensures \\result == 1;",
    options: Options = QUICK,
    metrics: str = METRICS,
) -> Proofs:
    """What is believed of a made-up Frama-C that prints these texts."""
    tools = fake_tools(folder, "")
    text = f"""#!/bin/sh
case "$*" in
*-metrics*) cat <<'END'
{metrics}
END
{end if metrics != METRICS else ""}
;;
*-eva*) cat <<'END'
{eva}
END
;;
*) cat <<'END'
{wp}
END
{end}
;;
esac
"""
    found = Tool("frama-c", script(folder / "frama-c", text), "25.0")
    sources = {
        "model.c": f"/*@ {contract and 'assigns x;'} {contract} */\nstatic int node_0(void)\n{{\n}}\n",
        "model.h": "int32_t x_run(void);\n",
        "checks.h": "",
    }
    project = written(folder / "project", sources)
    if sums is not None:
        (project / "SHA256SUMS").write_text(sums)
    replaced = type(tools)(tools.why3, tools.z3, tools.cvc4, found)
    return prove_project(project, options=options, tools=replaced)


def test_what_frama_c_says_plainly_is_believed(tmp_path: Path) -> None:
    proofs = proofs_by(tmp_path, HONEST)
    assert bad(proofs) == set()
    assert {(goal.unit, goal.name, goal.prover) for goal in proofs.goals} == {
        ("node_0", "ensures", "Qed"),
        ("the whole program", "no run-time error", "Eva"),
    }


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[wp] [Qed] Goal typed_ieee_node_0_ensures : Valid (1ms)\n",
        HONEST.replace("1 goal", "2 goals"),
        HONEST.replace("1 goal", "No goals"),
        HONEST.replace("Valid", "Validated"),
        HONEST.replace("Goal", "Goals"),
        HONEST.replace("[Qed]", "[Cached]").replace(": Valid (1ms)", ""),
        HONEST + "[wp] [Failed] Goal typed_ieee_node_0_assigns\n  z3new 5.4.0: Timeout (10s)\n",
        HONEST.replace("1 goal", "2 goals")
        + "[wp] [Failed] Smoke-test typed_node_0_wp_smoke\n  Qed: Valid\n",
        HONEST + "[wp] model.c:1: Warning: Missing RTE guards\n",
        HONEST + "[kernel:annot:missing-spec] model.c:1: Warning: Neither code nor specification for f\n",
    ],
)
def test_what_frama_c_does_not_say_plainly_is_not_believed(tmp_path: Path, said: str) -> None:
    assert not proofs_by(tmp_path, said).good


def test_goals_of_a_function_have_the_line_of_its_head(tmp_path: Path) -> None:
    more = "ensures \\result == 1;\n    ensures \\result > 0;\n   "
    proofs = proofs_by(tmp_path, HONEST + "[wp] model.c:1: Warning: Missing RTE guards\n", contract=more)
    model = (tmp_path / "project" / "model.c").read_text(encoding="utf-8").splitlines()
    assert model[3] == "static int node_0(void)"
    assert {(goal.unit, goal.name): goal.place for goal in proofs.goals} == {
        ("node_0", "ensures"): "project/model.c:4",
        ("node_0", "Frama-C can do its work"): "project/model.c:4",
        ("the whole program", "no run-time error"): "project/model.c",
    }


def test_reports_on_a_project_have_the_digests_of_its_files(tmp_path: Path) -> None:
    proofs = proofs_by(tmp_path, HONEST)
    names = ("model.c", "model.h", "checks.h")
    files = {name: (tmp_path / "project" / name).read_bytes() for name in names}
    assert dict(proofs.sources) == {name: sha256(content).hexdigest() for name, content in files.items()}


def test_what_a_prover_says_that_broke_down_is_told(tmp_path: Path) -> None:
    said = """[wp] 1 goal scheduled
[wp] [Failed] Goal typed_ieee_node_0_ensures
  Qed: Unknown
  z3nofp 4.8.12: Failed Unknown   error (0.5s)
  cvc4nofp 1.8: Timeout (Qed:3ms) (10s)
"""
    (goal,) = [goal for goal in proofs_by(tmp_path, said).bad if goal.name == "ensures"]
    assert goal.verdict == "timeout"
    assert goal.attempts == (
        Attempt("Qed", "unknown"),
        Attempt("z3nofp 4.8.12", "failed", 0.5, "Failed Unknown error (0.5s)"),
        Attempt("cvc4nofp 1.8", "timeout", 10.0),
    )


SYNTAX = """[kernel] Parsing model.c (with preprocessing)
[kernel] model.c:40:
  syntax error:
  Location: line 40, between columns 28 and 34, before or at token: oops
  38    int a;
  39    int b;
  40    static void f(void, oops)
[kernel] Frama-C aborted: invalid user input.
"""


def test_an_error_in_the_source_is_told_in_the_words_of_frama_c(tmp_path: Path) -> None:
    with pytest.raises(FramaError) as problem:
        proofs_by(tmp_path, HONEST, end="exit 1", metrics=SYNTAX)
    assert str(problem.value) == (
        "Frama-C does not read model.c: syntax error: Location: line 40, between columns 28 and 34, "
        "before or at token: oops 38 int a; 39 int b;"
    )


def test_a_frama_c_that_says_nothing_is_told_by_how_it_ended(tmp_path: Path) -> None:
    with pytest.raises(FramaError, match=r"^Frama-C does not read model\.c: exit code 3$"):
        proofs_by(tmp_path, HONEST, end="exit 3", metrics="")


@pytest.mark.parametrize("end", ["exit 1", "kill -9 $$"])
def test_a_frama_c_that_ends_badly_is_not_believed(tmp_path: Path, end: str) -> None:
    assert not proofs_by(tmp_path, HONEST, end=end).good


@pytest.mark.parametrize(
    "said",
    [
        "",
        EVA.replace("0 alarms", "1 alarm"),
        EVA.replace("0 alarms", "12 alarms"),
        EVA.replace("out of 1", "out of 2"),
        EVA.replace("analysis", "analyst"),
    ],
)
def test_what_eva_does_not_say_plainly_is_not_believed(tmp_path: Path, said: str) -> None:
    assert bad(proofs_by(tmp_path, HONEST, said)) == {("the whole program", "no run-time error")}


def test_a_function_without_a_contract_is_not_proved(tmp_path: Path) -> None:
    proofs = proofs_by(tmp_path, HONEST, contract="")
    assert ("node_0", "there is a contract") in bad(proofs)


def test_results_are_kept_and_a_change_is_proved_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SONNX_CACHE_DIR", os.fspath(tmp_path / "cache"))

    def cached(
        place: str, said: str, contract: str = "ensures \\result == 1;", seconds: int = 2
    ) -> list[bool]:
        (tmp_path / place).mkdir()
        options = Options(seconds=seconds, cache=True)
        return [
            goal.cached
            for goal in proofs_by(tmp_path / place, said, contract=contract, options=options).goals
        ]

    assert not any(cached("first", HONEST))
    assert all(cached("second", HONEST))
    assert all(cached("longer", HONEST, seconds=9))
    assert not any(cached("third", HONEST, "ensures \\result == 2;"))
