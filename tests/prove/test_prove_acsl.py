from dataclasses import replace

import numpy as np
import pytest
from tests.emit.support import Author, files_of
from tests.prove.projects import tiny

from sonnx.emit.acsl import equal
from sonnx.operators import NODE_OPERATORS
from sonnx.prove.contracts import contracts, lines_of_functions


@pytest.mark.parametrize(("dtype", "real"), [("complex64", "float"), ("complex128", "double")])
def test_complex_numbers_are_compared_part_by_part(dtype: str, real: str) -> None:
    wanted = f"same_{real}(a[k].real, b[k].real) && same_{real}(a[k].imaginary, b[k].imaginary)"
    assert equal(f"struct {dtype}", "a[k]", "b[k]") == wanted
    assert equal(dtype, "a[k]", "b[k]") == wanted
    model = tiny("Where", dtype)["model.c"]
    whole = [line for line in model.splitlines() if f"same_{dtype}(" in line]
    # Nodes may speak of whole numbers, which they take and give by value; copies are behind a pointer.
    assert len(whole) == 4
    assert all("predicate" in line or "node_0_Where_t3_at(" in line for line in whole)
    copied = (
        f"same_{real}(out_t3[k].real, t_t3[k].real) && same_{real}(out_t3[k].imaginary, t_t3[k].imaginary)"
    )
    said = contracts(model)
    assert f"ensures \\forall integer k; 0 <= k < 6 ==> {copied};" in said["copy_out_t3"]
    assert f"ensures \\forall integer k; 0 <= k < 6 ==> {copied};" in said["random_model_run"]


@pytest.mark.parametrize("name", ["float", "double", "int8_t", "uint64_t"])
def test_other_numbers_are_compared_whole(name: str) -> None:
    assert equal(name, "a", "b") == f"same_{name}(a, b)"


@pytest.mark.parametrize("operator", NODE_OPERATORS)
def test_the_line_of_a_function_is_that_of_its_head(operator: str) -> None:
    model = tiny(operator)["model.c"]
    found = lines_of_functions(model)
    assert found.keys() == contracts(model).keys()
    assert len(found) > 3
    for name, line in found.items():
        assert f" {name}(" in f" {model.splitlines()[line - 1]}"
        assert model.splitlines()[line] == "{"


def test_outputs_of_one_type_are_handed_over_step_by_step() -> None:
    author = Author(np.random.default_rng(1))
    for name, dtype in (("a", "float"), ("b", "float"), ("c", "double")):
        author.node("Relu", [author.given_input(dtype, (2,))], dtype, (2,))
        author.types[name] = author.types.pop(author.nodes[-1].outputs[0])
        author.nodes[-1] = replace(author.nodes[-1], outputs=(name,))
    model = files_of(author.finished(), "separate")["model.c"].decode()
    *_, handed = model.partition("    copy_out_a(out_a);\n")
    lines = [line.strip() for line in handed.splitlines()[:5]]
    kept = "//@ assert kept: \\forall integer k; 0 <= k < 2 ==>"
    assert lines == [
        "copy_out_b(out_b);",
        f"{kept} same_float(out_a[k], t_a[k]);",
        "copy_out_c(out_c);",  # of another type in C: it cannot lie where those lie
        "return 0;",
        "}",
    ]
