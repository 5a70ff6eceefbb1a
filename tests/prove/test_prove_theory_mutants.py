"""One wrong definition per theory: a law of it must fail then. That it holds else, `make prove` shows."""

import re
import tempfile
from pathlib import Path

import pytest
from tests.prove.support import installed_tools, needs_provers

from sonnx.definitions import definitions
from sonnx.prove.configuration import write_configuration
from sonnx.prove.mlw import subject_of
from sonnx.prove.running import run_tool
from sonnx.prove.theories import operators_sources

pytestmark = [pytest.mark.prover, needs_provers]

# File, text and its wrong twin; file, module and law that fails then.
MUTANTS = {
    "shared/tensor": (
        "shared/tensor.mlw",
        "0 <= k < d /\\",
        "0 <= k <= d /\\",
        "",
        "Tensor",
        "example_too_large",
    ),
    "shared/elementwise": (
        "shared/elementwise.mlw",
        "match x.shape with Nil -> x.value Nil |",
        "match x.shape with Nil -> x.value i |",
        "",
        "Element",
        "element_of_equal",
    ),
    "shared/ordered": (
        "shared/ordered.mlw",
        "(forall x y. less_equal x y <-> less x y \\/ equal x y)",
        "(forall x y. less_equal x y <-> less x y)",
        "",
        "OrderedInt",
        "integers_are_ordered",
    ),
    "shared/floats": (
        "shared/floats.mlw",
        "lt minus_infinity plus_zero /\\ lt plus_zero plus_infinity",
        "lt plus_infinity plus_zero /\\ lt plus_zero plus_infinity",
        "",
        "FormatFloat",
        "infinities_are_ends",
    ),
    "onnx/bitwise_and": (
        "onnx/bitwise_and/definition.mlw",
        "  bits_and a b",
        "  bits_and a a",
        "onnx/bitwise_and/laws.mlw",
        "BitwiseAnd8",
        "commutative",
    ),
    "onnx/bitwise_or": (
        "onnx/bitwise_or/definition.mlw",
        "  bits_or a b",
        "  bits_or a a",
        "onnx/bitwise_or/laws.mlw",
        "BitwiseOr8",
        "commutative",
    ),
    "onnx/bitwise_xor": (
        "onnx/bitwise_xor/definition.mlw",
        "  bits_xor a b",
        "  bits_xor b b",
        "onnx/bitwise_xor/laws.mlw",
        "BitwiseXor8",
        "twice",
    ),
    "onnx/bitwise_not": (
        "onnx/bitwise_not/definition.mlw",
        "  bits_not x",
        "  x",
        "onnx/bitwise_not/laws.mlw",
        "BitwiseNot8",
        "de_morgan",
    ),
    "onnx/floor": (
        "onnx/floor/definition.mlw",
        "from_int (floor x)",
        "from_int (ceil x)",
        "onnx/floor/laws.mlw",
        "FloorReal",
        "not_above",
    ),
    "onnx/ceil": (
        "onnx/ceil/definition.mlw",
        "from_int (floor x)",
        "from_int (ceil x)",
        "onnx/ceil/laws.mlw",
        "CeilReal",
        "not_below",
    ),
    "onnx/round": (
        "onnx/round/definition.mlw",
        "then negate",
        "then",
        "onnx/round/laws.mlw",
        "RoundReal",
        "near_above",
    ),
    "onnx/clip": (
        "onnx/clip/definition.mlw",
        "else if less max min then max",
        "else if less max min then min",
        "onnx/clip/laws.mlw",
        "ClipInt",
        "minimum_of_maximum",
    ),
    "onnx/relu": (
        "onnx/relu/definition.mlw",
        "if less x zero then zero",
        "if less zero x then zero",
        "onnx/relu/laws.mlw",
        "ReluReal",
        "maximum_with_zero",
    ),
    "onnx/max": (
        "onnx/max/definition.mlw",
        "else if less b a then a",
        "else if less a b then a",
        "onnx/max/laws.mlw",
        "MaxReal",
        "maximum",
    ),
    "onnx/add": (
        "onnx/add/definition.mlw",
        "    plus a b",
        "    plus a a",
        "onnx/add/laws.mlw",
        "AddReal",
        "commutative",
    ),
    "onnx/abs": (
        "onnx/abs/definition.mlw",
        "    absolute x",
        "    x",
        "onnx/abs/laws.mlw",
        "AbsReal",
        "never_below",
    ),
    "onnx/leaky_relu": (
        "onnx/leaky_relu/definition.mlw",
        "then times alpha x",
        "then times alpha alpha",
        "onnx/leaky_relu/laws.mlw",
        "LeakyReluReal",
        "nothing",
    ),
    "onnx/min": (
        "onnx/min/definition.mlw",
        "else if less a b then a",
        "else if less b a then a",
        "onnx/min/laws.mlw",
        "MinReal",
        "minimum",
    ),
    "onnx/neg": (
        "onnx/neg/definition.mlw",
        "    negate x",
        "    x",
        "onnx/neg/laws.mlw",
        "NegReal",
        "opposite",
    ),
    "onnx/prelu": (
        "onnx/prelu/definition.mlw",
        "if less x zero then times",
        "if less zero x then times",
        "onnx/prelu/laws.mlw",
        "PreluReal",
        "of_one_slope",
    ),
    "onnx/sign": (
        "onnx/sign/definition.mlw",
        "else if less input zero then minus_one",
        "else if less input zero then one",
        "onnx/sign/laws.mlw",
        "SignReal",
        "sign_and_magnitude",
    ),
    "onnx/sub": (
        "onnx/sub/definition.mlw",
        "    minus a b",
        "    minus b a",
        "onnx/sub/laws.mlw",
        "SubReal",
        "sum_with_opposite",
    ),
    "onnx/thresholded_relu": (
        "onnx/thresholded_relu/definition.mlw",
        "if less alpha x then x",
        "if less x alpha then x",
        "onnx/thresholded_relu/laws.mlw",
        "ThresholdedReluReal",
        "relu",
    ),
    "onnx/mean": (
        "onnx/mean/definition.mlw",
        "over (plus data_0 data_1) two",
        "over (plus data_0 data_0) two",
        "onnx/mean/laws.mlw",
        "MeanReal",
        "commutative",
    ),
    "onnx/mul": (
        "onnx/mul/definition.mlw",
        "    times a b",
        "    times a a",
        "onnx/mul/laws.mlw",
        "MulReal",
        "commutative",
    ),
    "onnx/sum": (
        "onnx/sum/definition.mlw",
        "    plus data_0 data_1",
        "    plus data_0 data_0",
        "onnx/sum/laws.mlw",
        "SumReal",
        "of_both",
    ),
    "onnx/hard_sigmoid": (
        "onnx/hard_sigmoid/definition.mlw",
        "else if less one (plus (times alpha x) beta) then one",
        "else if less one (plus (times alpha x) beta) then zero",
        "onnx/hard_sigmoid/laws.mlw",
        "HardSigmoidReal",
        "limited_line",
    ),
    "onnx/hard_swish": (
        "onnx/hard_swish/definition.mlw",
        "then zero else if less one",
        "then one else if less one",
        "onnx/hard_swish/laws.mlw",
        "HardSwishReal",
        "of_its_parts",
    ),
    "onnx/reciprocal": (
        "onnx/reciprocal/definition.mlw",
        "over one x",
        "over x one",
        "onnx/reciprocal/laws.mlw",
        "ReciprocalReal",
        "is_inverse",
    ),
    "onnx/sqrt": (
        "onnx/sqrt/definition.mlw",
        "    root x",
        "    root (root x)",
        "onnx/sqrt/laws.mlw",
        "SqrtReal",
        "is_undone",
    ),
    "onnx/where": (
        "shared/elementwise.mlw",
        "= b <> 0",
        "= b = 1",
        "onnx/where/laws.mlw",
        "Examples",
        "example_bytes",
    ),
    "xla/clamp": (
        "xla/clamp/definition.mlw",
        "signed_minimum (signed_maximum operand min) max",
        "signed_maximum (signed_minimum operand min) max",
        "xla/clamp/laws.mlw",
        "ClampInt",
        "agrees_with_clip",
    ),
    "shared/shapes": (
        "shared/shapes.mlw",
        "if size = target then i else 0",
        "if size = 1 then i else 0",
        "",
        "Repeat",
        "read_inside",
    ),
    "shared/common_shape": (
        "shared/common_shape.mlw",
        "fits s (common s t) /\\ fits t (common s t)",
        "fits s (common s t) \\/ fits t (common s t)",
        "",
        "TwoShapes",
        "c1_by_axis",
    ),
    "onnx/broadcast": (
        "onnx/broadcast/theory.mlw",
        "(fun a -> full x2.shape a) 0",
        "(fun a -> full x1.shape a) 0",
        "",
        "Recursive",
        "binary_agrees'vc",
    ),
    "onnx/expand": (
        "onnx/expand/theory.mlw",
        "    fits x.shape (common x.shape wanted) /\\ fits wanted (common x.shape wanted)",
        "    fits wanted (common x.shape wanted)",
        "",
        "Expand",
        "reads_inside",
    ),
    "xla/broadcast": (
        "xla/broadcast/theory.mlw",
        "fun a -> if 0 <= a < r then i a else 0",
        "fun a -> if 0 <= a <= r then i a else 0",
        "",
        "Broadcast",
        "reads_inside",
    ),
    "xla/collapse": (
        "xla/collapse/theory.mlw",
        "index_of (part s lo k) (i lo) (a - lo) else",
        "index_of (part s lo k) (i lo) (lo + k - 1 - a) else",
        "",
        "Cases",
        "first_two'vc",
    ),
    "xla/concatenate": (
        "xla/concatenate/theory.mlw",
        ": index = changed i d (i d - start x d m)",
        ": index = changed i d (i d - start x d (m + 1))",
        "",
        "Concatenate",
        "reads_inside'vc",
    ),
    "graph": (
        "graph/theory.mlw",
        "| Cons i r -> Step (g.node i) (listed g r)",
        "| Cons i r -> listed g r",
        "",
        "Graphs",
        "listed_makes'vc",
    ),
    "shared/execution": (
        "shared/execution.mlw",
        "(forall t. among t n.makes -> not made_by t r) /\\ made_once r",
        "made_once r",
        "",
        "Execution",
        "defined_stays'vc",
    ),
    "shared/inlining": (
        "shared/inlining.mlw",
        "| Tensor t r -> Tensor (name t) (renamed name r)",
        "| Tensor t r -> Tensor t (renamed name r)",
        "",
        "Inlining",
        "read_shown'vc",
    ),
    "shared/orders": (
        "shared/orders.mlw",
        "    | Cons i r -> ready n needs past i /\\ drawn n needs (Cons i past) r",
        "    | Cons i r -> 0 <= i < n /\\ not mem i past /\\ drawn n needs (Cons i past) r",
        "",
        "Drawing",
        "drawn_is_forward'vc",
    ),
    "shared/sliding": (
        "shared/sliding.mlw",
        "a.dilation * (a.kernel - 1) + 1",
        "a.dilation * a.kernel",
        "",
        "Axis",
        "example_dilation",
    ),
    "shared/sums": (
        "shared/sums.mlw",
        "else sum f a (b - 1) +. f (b - 1)",
        "else sum f a (b - 1) +. f b",
        "",
        "RealSum",
        "sum_last",
    ),
    "onnx/less": (
        "onnx/less/definition.mlw",
        "if less a b then 1 else 0",
        "if not (less b a) then 1 else 0",
        "onnx/less/laws.mlw",
        "Less",
        "irreflexive",
    ),
    "onnx/equal": (
        "onnx/equal/definition.mlw",
        "if equal a b then 1 else 0",
        "if equal a a then 1 else 0",
        "onnx/equal/laws.mlw",
        "EqualReal",
        "exactly_one",
    ),
    "onnx/less_or_equal": (
        "onnx/less_or_equal/definition.mlw",
        "if less_equal a b then 1 else 0",
        "if less_equal b a then 1 else 0",
        "onnx/less_or_equal/laws.mlw",
        "LessOrEqual",
        "less_or_equal",
    ),
    "onnx/greater": (
        "onnx/greater/definition.mlw",
        "if less b a then 1 else 0",
        "if less a b then 1 else 0",
        "onnx/greater/laws.mlw",
        "Greater",
        "less_exchanged",
    ),
    # The opposite of Less is another operator wherever a NaN is compared.
    "onnx/greater_or_equal": (
        "onnx/greater_or_equal/laws.mlw",
        "forall a b. not (is_nan a) -> not (is_nan b) ->",
        "forall a b.",
        "",
        "GreaterOrEqual",
        "opposite_of_less",
    ),
    "onnx/and_": (
        "onnx/and_/definition.mlw",
        "holds a /\\ holds b",
        "holds a \\/ holds b",
        "onnx/and_/laws.mlw",
        "And",
        "de_morgan",
    ),
    "onnx/or_": (
        "onnx/or_/definition.mlw",
        "holds a \\/ holds b",
        "holds a",
        "onnx/or_/laws.mlw",
        "Or",
        "commutative",
    ),
    "onnx/xor": (
        "onnx/xor/definition.mlw",
        "not (holds a) /\\ holds b",
        "holds b",
        "onnx/xor/laws.mlw",
        "Xor",
        "one_and_not_both",
    ),
    "onnx/not_": (
        "onnx/not_/definition.mlw",
        "if not (holds x) then 1 else 0",
        "if not (holds x) then 1 else x",
        "onnx/not_/laws.mlw",
        "Not",
        "byte",
    ),
    "onnx/is_nan": (
        "onnx/is_nan/definition.mlw",
        "if is_nan x then 1 else 0",
        "if is_nan x then 0 else 1",
        "onnx/is_nan/laws.mlw",
        "IsNan",
        "no_number",
    ),
    "shared/sequential": (
        "shared/sequential.mlw",
        "nan s \\/ spoils x w -> nan (step m s x w)",
        "nan s \\/ finite x -> nan (step m s x w)",
        "",
        "SumFloat",
        "steps_keep_nan",
    ),
    "onnx/conv": (
        "onnx/conv/theory.mlw",
        "= v o +. tap_sum g x w b o m n",
        "= tap_sum g x w b o m n",
        "",
        "ConvReal",
        "zero_kernel'vc",
    ),
}


def is_proved(sources: dict[str, str], file: str, module: str, law: str) -> bool:
    """Whether every part of a law is proved by some prover, in a second each."""
    tools = installed_tools()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in sources.items():
            target = folder / "theories" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        configuration = write_configuration(folder, tools)
        command: list[str | Path] = [
            tools.why3.path,
            "prove",
            "-C",
            configuration.path,
            "-L",
            folder / "theories",
            "-a",
            "split_vc",
        ]
        proved: dict[int, bool] = {}
        for prover in ("cvc4nofp", "z3new"):
            if prover not in configuration.provers:
                continue
            what: list[str | Path] = [folder / "theories" / file, "-T", module, "-G", law]
            ran = run_tool([*command, "-t", "1", "-P", prover, *what], seconds=120, folder=folder)
            answers = re.findall(r"^Prover result is: (\w+)", ran.out, re.MULTILINE)
            assert answers, ran.err
            proved |= {part: proved.get(part, False) or said == "Valid" for part, said in enumerate(answers)}
            if all(proved.values()):
                return True
        return False


# A test each: they take seconds, which workers share.
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_definition_loses_a_law(mutant: str) -> None:
    changed, old, new, file, module, law = MUTANTS[mutant]
    sources = operators_sources() | definitions()
    assert sources[changed].count(old) == 1, "the place must be there, and once"
    sources[changed] = sources[changed].replace(old, new)
    assert not is_proved(sources, file or changed, module, law)


def test_every_theory_has_a_mutant() -> None:
    named = {subject_of(file) for file in operators_sources()}
    assert named == set(MUTANTS)
