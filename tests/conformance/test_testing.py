"""The kit in somebody's own tests: parameters, lists of what to skip, a fixture."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from sonnx.conformance.runtimes.child import Child
from sonnx.conformance.testing import cases, parameters

pytest_plugins = ["pytester"]

TESTS = """
import pytest
from sonnx.conformance.testing import parameters, runtime_fixture

runtime = runtime_fixture({runtime!r})

@pytest.mark.parametrize("case", parameters({operators!r}, {types!r}, skip={skip!r}, xfail={xfail!r}))
def test_conforms(case, runtime):
    case.check_in(runtime)
"""


def written(**changes: object) -> str:
    told = {
        "runtime": "reference-evaluator",
        "operators": ["Clip"],
        "types": ["int8"],
        "skip": {},
        "xfail": {},
    }
    return TESTS.format(**(told | changes))


def test_a_case_has_a_name_a_model_and_inputs() -> None:
    case = next(case for case in cases(["Clip"], ["float"]) if case.trial.name == "from-minus-one-to-one")
    assert case.name == "clip/float/from-minus-one-to-one"
    assert list(case.inputs) == ["input", "min", "max"]
    assert [node.op_type for node in onnx.load_model_from_string(case.model()).graph.node] == ["Clip"]


def test_check_accepts_what_is_specified_and_tells_what_is_not() -> None:
    case = next(case for case in cases(["Clip"], ["float"]) if case.trial.name == "from-minus-one-to-one")
    right: Any = ReferenceEvaluator(case.model()).run(None, dict(case.inputs))
    case.check(right)
    wrong = np.where(right[0] == 1, np.float32(7), right[0])
    with pytest.raises(
        AssertionError, match=r"clip/float/from-minus-one-to-one departs.*\n.*D-CLIP"
    ) as found:
        case.check([wrong])
    assert "specified 0x1p+0 (0x3f800000), found 0x1.cp+2 (0x40e00000)" in str(found.value)
    with pytest.raises(AssertionError, match="2 outputs"):
        case.check([right[0], right[0]])


def test_every_case_is_a_test_of_its_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(written())
    number = sum(1 for _ in cases(["Clip"], ["int8"]))
    assert number > 100
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "-q").assert_outcomes(passed=number)


def test_departures_fail_and_known_ones_are_skipped_or_expected(pytester: pytest.Pytester) -> None:
    changes = {"operators": ["Where"], "types": ["string"]}
    pytester.makepyfile(written(**changes))
    told = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-q", "--tb=line").parseoutcomes()
    assert told["failed"] > 10  # NumPy's strings end before their last NULs
    pytester.makepyfile(written(**changes, skip={"where/string/*": "strings are not moved yet"}))
    skipped = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-q")
    skipped.assert_outcomes(skipped=told["failed"] + told["passed"])


def test_what_is_mended_is_told(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(written(xfail={"clip/int8/by-hand-*": "not yet", "clip/int8/million*": "none"}))
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "-q").stdout.fnmatch_lines(
        ["*no case is called*million*"]
    )
    pytester.makepyfile(written(xfail={"clip/int8/shape-scalar": "not yet"}))
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "-q").stdout.fnmatch_lines(
        ["*XPASS(strict)*not yet*"]
    )


def test_what_a_runtime_does_not_support_is_skipped(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(written(runtime="native", operators=["xla.Collapse"], types=["bool"]))
    told = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-q").parseoutcomes()
    assert set(told) == {"skipped"}


def test_sums_must_have_the_same_bits_with_and_without_constants() -> None:
    found = []
    with Child("tests.conformance.campaign_support:TwoMinded") as child:
        for case in cases(["Conv"], ["float"]):
            if case.trial.name.startswith("sum-one"):
                try:
                    case.check_in(child)
                except AssertionError as error:
                    found.append(str(error))
    assert found
    assert all("whether operands are inputs of the model or constants" in text for text in found)


def test_a_list_of_patterns_is_a_file_with_reasons(tmp_path: Path) -> None:
    listed = tmp_path / "skips.txt"
    listed.write_text("# what we know\n\nclip/int8/random-*   # no time\nclip/int8/shape-* # ranks\n")
    made = parameters(["clip"], ["int8"], skip=listed)
    marked = {each.id: each.marks for each in made if each.marks}
    assert {name.split("/")[2].split("-")[0] for name in marked} == {"random", "shape"}
    assert marked["clip/int8/random-0"][0].kwargs == {"reason": "no time"}
    listed.write_text("clip/int8/random-*\n")
    with pytest.raises(ValueError, match="say why"):
        parameters(["clip"], ["int8"], skip=listed)


def test_an_unknown_operator_is_named() -> None:
    with pytest.raises(ValueError, match=r"no operator Clap; there are Clip, .*no type floot") as found:
        parameters(["Clap"], ["floot"])
    assert str(found.value).endswith("; did you mean Clip, float?")
