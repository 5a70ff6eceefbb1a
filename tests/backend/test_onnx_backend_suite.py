"""ONNX's own backend tests, unmodified, through `sonnx.backend`; every one that is left out is accounted for.

Left out are: expansions of operators into others (`_expanded`: these are made of operators that the profile
does not have), Conv with one or three spatial axes (conv.X.C1), and other operators whose tests merely sound
alike (ConvTranspose, ConvInteger, QLinearConv, DeformConv, CausalConvWithState; Shape, which clips an index).
"""

import re
import unittest
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.backend.test import BackendTest
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

import sonnx
from sonnx.backend import SonnxBackend, SonnxRep

RUN = [
    "test_Conv2d",
    "test_Conv2d_depthwise",
    "test_Conv2d_depthwise_padded",
    "test_Conv2d_depthwise_strided",
    "test_Conv2d_depthwise_with_multiplier",
    "test_Conv2d_dilated",
    "test_Conv2d_groups",
    "test_Conv2d_groups_thnn",
    "test_Conv2d_no_bias",
    "test_Conv2d_padding",
    "test_Conv2d_strided",
    "test_basic_conv_with_padding",
    "test_basic_conv_without_padding",
    "test_clip",
    "test_clip_default_inbounds",
    "test_clip_default_int8_inbounds",
    "test_clip_default_int8_max",
    "test_clip_default_int8_min",
    "test_clip_default_max",
    "test_clip_default_min",
    "test_clip_example",
    "test_clip_inbounds",
    "test_clip_min_greater_than_max",
    "test_clip_outbounds",
    "test_clip_splitbounds",
    "test_constant",
    "test_conv_with_autopad_same",
    "test_conv_with_strides_and_asymmetric_padding",
    "test_conv_with_strides_no_padding",
    "test_conv_with_strides_padding",
    "test_expand_dim_changed",
    "test_expand_dim_unchanged",
    "test_expand_shape_model1",
    "test_expand_shape_model2",
    "test_expand_shape_model3",
    "test_expand_shape_model4",
    "test_operator_clip",
    "test_operator_conv",
    "test_where_example",
    "test_where_long_example",
]

OTHER_SPATIAL_AXES = [
    "test_Conv1d",
    "test_Conv1d_dilated",
    "test_Conv1d_groups",
    "test_Conv1d_pad1",
    "test_Conv1d_pad1size1",
    "test_Conv1d_pad2",
    "test_Conv1d_pad2size1",
    "test_Conv1d_stride",
    "test_Conv3d",
    "test_Conv3d_dilated",
    "test_Conv3d_dilated_strided",
    "test_Conv3d_groups",
    "test_Conv3d_no_bias",
    "test_Conv3d_stride",
    "test_Conv3d_stride_padding",
]

SOUND_ALIKE = {"CausalConvWithState", "ConvInteger", "ConvTranspose", "DeformConv", "QLinearConv", "Shape"}
OURS = {"Clip", "Conv", "Where", "Expand", "Constant"}
KINDS = ("node", "real", "simple", "pytorch-converted", "pytorch-operator")


@dataclass
class Case:
    """One of ONNX's tests: its model and how often its data lets the model run."""

    name: str
    model: onnx.ModelProto
    runs: int

    @property
    def operators(self) -> set[str]:
        return {node.op_type for node in self.model.graph.node}

    @property
    def convolves_an_image(self) -> bool:
        """Every Conv has a kernel of rank 4; in ONNX's tests kernels are inputs of the graph."""
        shapes = {value.name: value.type.tensor_type.shape for value in self.model.graph.input}
        kernels = [node.input[1] for node in self.model.graph.node if node.op_type == "Conv"]
        return all(len(shapes[name].dim) == 4 for name in kernels)


@dataclass
class Recorder(unittest.TestResult):
    """What became of each test."""

    passed: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    def addSuccess(self, test: Any) -> None:  # noqa: N802  unittest's name
        self.passed.append(test._testMethodName)

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802  unittest's name
        self.left[test._testMethodName] = reason

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802  unittest's name
        self.wrong[test._testMethodName] = str(err[1])

    addError = addFailure  # noqa: N815  unittest's name


# ONNX makes all its tests of single nodes where one is asked for, which takes many seconds; what it has as
# files is run and refused in small by the quick tests below, and by those of the interface.
with_all_of_onnx = pytest.mark.long


@pytest.fixture(scope="module")
def collected() -> None:
    """Let ONNX make its tests of single nodes, all of them; that takes some seconds, so once."""
    with warnings.catch_warnings():
        # Its tests of Cast, ReduceMax and others divide by zero and overflow on purpose while they are made.
        made = r"onnx\.backend\.test\.case\.node\..*"
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=made)
        load_model_tests(kind="node")


@pytest.fixture(scope="module")
def cases(collected: None) -> list[Case]:
    return list(installed())


def installed() -> Iterator[Case]:
    """Every test that the installed onnx has."""
    root = Path(onnx.__file__).parent.parent
    for kind in KINDS:
        for found in load_model_tests(kind=kind):
            if found.model is not None:
                yield Case(found.name, found.model, len(found.data_sets or ()))
                continue
            folder = Path(found.model_dir) if found.model_dir else None
            path = folder / "model.onnx" if folder else root / str(found.url)
            sets = len(list(folder.glob("test_data_set*"))) if folder else 1
            yield Case(found.name, onnx.load(path, load_external_data=False), sets)


@pytest.fixture(scope="module")
def outcome(collected: None) -> tuple[Recorder, Counter[str]]:
    """ONNX's runner on this backend, with the tests of RUN included; and how often each ran the model."""
    recorder, runs, original = Recorder(), Counter[str](), SonnxRep.run
    with pytest.MonkeyPatch.context() as patch:

        def counted(self: SonnxRep, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
            answer = original(self, inputs, **kwargs)
            runs["all"] += 1
            return answer

        patch.setattr(SonnxRep, "run", counted)
        tests = BackendTest(SonnxBackend, __name__)
        for name in RUN:
            tests.include(f"^{re.escape(name)}_cpu$")
        tests.test_suite.run(recorder)
    return recorder, runs


@with_all_of_onnx
def test_exactly_these_tests_of_onnx_run_and_pass(outcome: tuple[Recorder, Counter[str]]) -> None:
    recorder, _ = outcome
    assert recorder.wrong == {}
    assert sorted(recorder.passed) == [f"{name}_cpu" for name in RUN]


@with_all_of_onnx
def test_no_test_is_skipped_but_by_our_own_list_or_for_another_device(
    outcome: tuple[Recorder, Counter[str]],
) -> None:
    recorder, _ = outcome
    assert not {f"{name}_cpu" for name in RUN} & recorder.left.keys()
    reasons = {"no matched include pattern", "Backend doesn't support device CUDA"}
    assert set(recorder.left.values()) <= reasons


# One of each sort that the profile lacks, and an operator of it: on ordinary types, on types or sequences
# that nobody here has, with a state, with branches, and expansions into others.
LACKING = {
    "test_acos": "Acos",
    "test_adagrad": "Adagrad",
    "test_affine_grid_2d_expanded": "If",
    "test_argmax_default_axis_example": "ArgMax",
    "test_if": "If",
    "test_optional_get_element_sequence": "OptionalGetElement",
    "test_sequence_insert_at_back": "SequenceInsert",
    "test_sequence_map_add_2_sequences": "SequenceMap",
}


@with_all_of_onnx
def test_tests_of_operators_that_the_profile_lacks_are_skipped_and_say_so(collected: None) -> None:
    recorder, tests = Recorder(), BackendTest(SonnxBackend, __name__)
    for name in LACKING:
        tests.include(f"^{re.escape(name)}_cpu$")
    tests.test_suite.run(recorder)
    assert recorder.wrong == {}
    assert recorder.passed == []
    reasons = {name: recorder.left[f"{name}_cpu"] for name in LACKING}
    assert {name: text for name, text in reasons.items() if f"({LACKING[name]})" not in text} == {}
    assert all("graph.D" in text for text in reasons.values())


@with_all_of_onnx
def test_each_of_them_really_ran_a_model(outcome: tuple[Recorder, Counter[str]], cases: list[Case]) -> None:
    _, runs = outcome
    expected = {case.name: case.runs for case in cases if case.name in RUN}
    assert min(expected.values()) >= 1
    assert runs["all"] == sum(expected.values())


@with_all_of_onnx
def test_the_list_is_all_that_onnx_has_for_these_operators(cases: list[Case]) -> None:
    ours = [case for case in cases if case.operators and case.operators <= OURS]
    assert sorted(case.name for case in ours if case.convolves_an_image) == RUN
    assert sorted(case.name for case in ours if not case.convolves_an_image) == OTHER_SPATIAL_AXES


@with_all_of_onnx
def test_what_merely_sounds_alike_is_another_operator_or_an_expansion(cases: list[Case]) -> None:
    alike = re.compile("clip|conv|where|expand", re.IGNORECASE)
    rest = [case for case in cases if alike.search(case.name.replace("_expanded", ""))]
    rest = [case for case in rest if case.name not in RUN and case.name not in OTHER_SPATIAL_AXES]
    plain = [case for case in rest if "_expanded" not in case.name]
    assert {operator for case in plain for operator in case.operators} == SOUND_ALIKE
    assert all(case.operators - OURS for case in rest)


@with_all_of_onnx
def test_other_numbers_of_spatial_axes_are_refused_not_miscomputed(cases: list[Case]) -> None:
    refused = [case for case in cases if case.name in OTHER_SPATIAL_AXES]
    assert len(refused) == len(OTHER_SPATIAL_AXES)
    for case in refused:
        assert not SonnxBackend.is_compatible(case.model), case.name
        with pytest.raises(sonnx.RuleError) as caught:
            SonnxBackend.run_model(case.model, [_zeros(case.model.graph.input[0])])
        assert "conv.X.C1" in {finding.rule for finding in caught.value.findings}, case.name


# Tests that lie as files beside the package, one of each kind.
IN_FILES = (
    "pytorch-converted/test_Conv2d",
    "pytorch-operator/test_operator_clip",
    "simple/test_expand_shape_model1",
)


@pytest.mark.parametrize("name", IN_FILES)
def test_what_onnx_has_as_files_runs_and_passes(name: str) -> None:
    folder = Path(onnx.__file__).parent / "backend/test/data" / name
    model = onnx.load(folder / "model.onnx")
    inputs, expected = (
        [
            onnx.numpy_helper.to_array(onnx.load_tensor(path))
            for path in sorted((folder / "test_data_set_0").glob(f"{kind}_*.pb"))
        ]
        for kind in ("input", "output")
    )
    assert SonnxBackend.is_compatible(model)
    found = SonnxBackend.run_model(model, inputs)
    assert expected
    # ONNX's own comparison, with its own tolerances.
    Runner.assert_similar_outputs(expected, found, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("name", ["test_Conv1d", "test_Conv3d"])
def test_of_those_in_files_other_numbers_of_axes_are_refused(name: str) -> None:
    folder = Path(onnx.__file__).parent / "backend/test/data/pytorch-converted" / name
    assert not SonnxBackend.is_compatible(onnx.load(folder / "model.onnx"))


def _zeros(value: onnx.ValueInfoProto) -> Any:
    kind = value.type.tensor_type
    shape = [axis.dim_value for axis in kind.shape.dim]
    return np.zeros(shape, onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
