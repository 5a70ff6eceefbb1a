"""What proofs stand on: one table of everything that is taken for granted, and why, and how it is checked.

Reports and the documentation print this table; no other place lists assumptions.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sonnx.prove import eva, mlw, smoke
from sonnx.prove.contracts import ASSUMED, assumed

# What an assumption is about: all proofs, theories, emitted projects, or those projects alone that have such
# a thing: fused sums, square roots, float16, weights, weights that are loaded from a file.
Scope = Literal["all", "theories", "projects", "fused", "library", "half", "weights", "loaded"]


@dataclass(frozen=True)
class Assumption:
    """One thing that is not proved here; `where` has files of the project that check or define it."""

    identifier: str
    scope: Scope
    statement: str
    needed: str
    checked: str
    where: tuple[str, ...]


@dataclass(frozen=True)
class DriverLine:
    """A line of the driver that gives meaning to what contracts name; `scope` says who needs it."""

    line: str
    meaning: str
    scope: Scope = "projects"


DRIVER = "src/sonnx/prove/acsl/ieee.driver"
_THEORY = "src/sonnx/prove/acsl/ieee.mlw"
DRIVER_LINES: tuple[DriverLine, ...] = (
    DriverLine("library ieee: cfloat", "what follows builds on Frama-C's own theory of floats"),
    DriverLine('why3.file += "ieee.mlw";', "the names on the right are Frama-C's, or a small theory's"),
    DriverLine(
        'predicate same_float(float32, float32) = "same_f32";',
        "the same float is Why3's equality, which tells -0 from +0",
    ),
    DriverLine('predicate same_double(float64, float64) = "same_f64";', "the same double is Why3's equality"),
    DriverLine(
        'logic float32 sum_float(float32, float32) = "add_f32";',
        "a sum of floats is Frama-C's, rounded to nearest, ties to even",
    ),
    DriverLine(
        'logic float64 sum_double(float64, float64) = "add_f64";',
        "a sum of doubles is Frama-C's, rounded to nearest, ties to even",
    ),
    DriverLine(
        'logic float32 difference_float(float32, float32) = "sub_f32";',
        "a difference of floats is Frama-C's, rounded to nearest, ties to even",
    ),
    DriverLine(
        'logic float64 difference_double(float64, float64) = "sub_f64";',
        "a difference of doubles is Frama-C's, rounded to nearest, ties to even",
    ),
    DriverLine(
        'logic float32 product_float(float32, float32) = "mul_f32";',
        "a product of floats is Frama-C's, rounded to nearest, ties to even",
    ),
    DriverLine(
        'logic float64 product_double(float64, float64) = "mul_f64";',
        "a product of doubles is Frama-C's, rounded to nearest, ties to even",
    ),
    DriverLine(
        'logic float32 quotient_float(float32, float32) = "div_f32";',
        "a quotient of floats is Frama-C's, rounded to nearest, ties to even",
    ),
    DriverLine(
        'logic float64 quotient_double(float64, float64) = "div_f64";',
        "a quotient of doubles is Frama-C's, rounded to nearest, ties to even",
    ),
    DriverLine(
        'logic float32 opposite_float(float32) = "neg_f32";',
        "the opposite of a float is Frama-C's: another sign, of zeros and infinities too",
    ),
    DriverLine(
        'logic float64 opposite_double(float64) = "neg_f64";',
        "the opposite of a double is Frama-C's: another sign, of zeros and infinities too",
    ),
    DriverLine(
        'logic boolean less_float(float32, float32) = "lt_f32b";',
        "`<` on floats is Frama-C's, false where one is a NaN",
    ),
    DriverLine(
        'logic boolean less_double(float64, float64) = "lt_f64b";',
        "`<` on doubles is Frama-C's, false where one is a NaN",
    ),
    DriverLine(
        'logic boolean less_equal_float(float32, float32) = "le_f32b";',
        "`<=` on floats is Frama-C's, false where one is a NaN",
    ),
    DriverLine(
        'logic boolean less_equal_double(float64, float64) = "le_f64b";',
        "`<=` on doubles is Frama-C's, false where one is a NaN",
    ),
    DriverLine(
        'logic boolean equal_float(float32, float32) = "eq_f32b";',
        "`==` on floats is Frama-C's: true of zeros of both signs, false where one is a NaN",
    ),
    DriverLine(
        'logic boolean equal_double(float64, float64) = "eq_f64b";',
        "`==` on doubles is Frama-C's: true of zeros of both signs, false where one is a NaN",
    ),
    DriverLine(
        'logic boolean nan_float(float32) = "nan_f32b";',
        "a float is a NaN where Why3's `is_nan` says so",
    ),
    DriverLine(
        'logic boolean nan_double(float64) = "nan_f64b";',
        "a double is a NaN where Why3's `is_nan` says so",
    ),
    DriverLine(
        'logic float32 absolute_float(float32) = "absolute_f32";',
        "a float without its sign is Why3's `abs`",
    ),
    DriverLine(
        'logic float64 absolute_double(float64) = "absolute_f64";',
        "a double without its sign is Why3's `abs`",
    ),
    DriverLine(
        'logic float32 root_float(float32) = "sqrt_f32";',
        "the square root of a float is Frama-C's, rounded to nearest, ties to even",
    ),
    DriverLine(
        'logic float64 root_double(float64) = "sqrt_f64";',
        "the square root of a double is Frama-C's, rounded to nearest, ties to even",
    ),
    DriverLine(
        'logic float32 rounded_down_float(float32) = "rounded_down_f32";',
        "a float rounded down is what is left without its fraction, or 1 less where that lies above it",
    ),
    DriverLine(
        'logic integer cut_float(float32) = "cut_f32";',
        "a float without its fraction is Why3's `truncate`, an integer",
    ),
    DriverLine(
        'logic float32 whole_float(integer) = "whole_f32";',
        "an integer as a float is what Frama-C's conversion makes of it",
    ),
    DriverLine(
        'logic float64 rounded_down_double(float64) = "rounded_down_f64";',
        "a double rounded down is what is left without its fraction, or 1 less where that lies above it",
    ),
    DriverLine(
        'logic integer cut_double(float64) = "cut_f64";',
        "a double without its fraction is Why3's `truncate`, an integer",
    ),
    DriverLine(
        'logic float64 whole_double(integer) = "whole_f64";',
        "an integer as a double is what Frama-C's conversion makes of it",
    ),
    DriverLine(
        'logic float32 fused_float(float32, float32, float32) = "fused_f32";',
        "a fused step on floats is Why3's `fma`, rounded once, to nearest, ties to even",
        "fused",
    ),
    DriverLine(
        'logic float64 fused_double(float64, float64, float64) = "fused_f64";',
        "a fused step on doubles is Why3's `fma`, rounded once, to nearest, ties to even",
        "fused",
    ),
)

_TOOLS: tuple[Assumption, ...] = (
    Assumption(
        "tools",
        "all",
        "Frama-C, Why3, cvc4 and z3 are right where they say that a goal is proved",
        "a goal counts as proved when one prover says so; no prover writes a proof that others could check",
        "their versions are printed with every run; what they say in any but the plainest way is no proof; "
        "`false` is given to them in every module and for every contract, and must not be proved",
        ("src/sonnx/prove/modules.py", "src/sonnx/prove/smoke.py", "tests/prove/test_prove_liars.py"),
    ),
    Assumption(
        "float-library",
        "all",
        "Why3's library ieee_float says what IEEE 754 says",
        "floats are axioms of that library; drivers without SMT-LIB's theory of floats are derived from the "
        "installed ones when a run begins, because cvc4 has no such theory and z3 is slow with it",
        "a run ends if anything in the derived drivers still maps floats, or if nothing was left out",
        ("src/sonnx/prove/configuration.py", "tests/prove/test_prove_tools.py"),
    ),
    Assumption(
        "reading",
        "theories",
        "theories define what the Python definitions define",
        "provers read theories, not Python: modules are written from the traced definitions, and goals hold "
        "theories by hand against those for the shapes of cases; nothing proves the program that writes them",
        "examples of cases.toml are goals of the theories, and tests run the definitions on the same cases",
        ("src/sonnx/derive/why3.py", "src/sonnx/derive/why3_tensors.py", "tests/operators/test_cases.py"),
    ),
    Assumption(
        "formats",
        "theories",
        "float16 and bfloat16 are formats of IEEE 754 with 5 and 8 bits of exponent, 11 and 8 of significand",
        "laws on floats suppose `ieee` of shared/floats.mlw; it is proved for 32 and 64 bits, and for every "
        "format of the library in which two values are the infinities, so for others these are a hypothesis",
        "the conversions of float16 are tested on all values and on every boundary between two",
        ("src/sonnx/operators/shared/floats.mlw", "tests/operators/test_half.py"),
    ),
)

_ARITHMETIC: tuple[Assumption, ...] = (
    Assumption(
        "rounding",
        "projects",
        "sums and products on the target round to nearest, ties to even, and keep subnormal numbers",
        "contracts name the operations of IEEE 754 in this mode",
        "the test of every emitted project looks at ties, subnormal numbers and signs of zeros before its "
        "vectors, on the target",
        ("src/sonnx/emit/c/arithmetic.c", "tests/emit/test_emit_build.py"),
    ),
    Assumption(
        "precision",
        "projects",
        "float and double are binary32 and binary64, without excess precision and without reordering",
        "C allows more precise intermediate results, and options allow other orders; contracts do not",
        "`checks.h` ends the compilation where FLT_EVAL_METHOD or the formats are others, or fast-math is "
        "on; the project's test notices reordered sums",
        ("src/sonnx/emit/c/checks.h", "src/sonnx/emit/c/arithmetic.c", "tests/emit/test_emit_models.py"),
    ),
    Assumption(
        "contraction",
        "projects",
        "no product is contracted with a sum",
        "a contracted product is rounded once where a contract says twice",
        "products are statements of their own; the Makefile says -ffp-contract=off, `checks.h` refuses "
        "builds that contract, and the project's test notices the rest",
        ("src/sonnx/emit/c/Makefile", "src/sonnx/emit/c/checks.h", "tests/emit/test_emit_build.py"),
    ),
    Assumption(
        "one-nan",
        "projects",
        "NaNs are one: which NaN an operation gives is not modelled",
        "in the theory a sum or product is a function, also where it is NaN; a processor may give any NaN. A "
        "kernel that moves a float is proved to keep it, as an abstract value without sign and payload",
        "the vectors of every project compare the bits of NaNs that are moved, those of computed ones are "
        "free (D-ALL-4)",
        ("tests/emit/test_emit_project.py", "src/sonnx/emit/vectors.py"),
    ),
    Assumption(
        "zero-literal",
        "projects",
        "the constant 0 of C, converted to a float, is +0",
        "WP says of the constant only that it is a zero, the same one in contract and code; its sign decides "
        "the sign of a sum of zeros",
        "C says so; vectors compare the bits of zeros in padding and in sums without bias",
        ("src/sonnx/derive/plain_expressions.py", "tests/emit/test_emit_models.py"),
    ),
    Assumption(
        "fma",
        "fused",
        "fmaf and fma of the C library round once, as IEEE 754 says",
        "the contract of a fused step is that of these functions, which have no body to be proved",
        "the project's test gives them a product that two roundings would change; a test with a library that "
        "rounds twice sees it fail",
        ("src/sonnx/emit/acsl.py", "src/sonnx/emit/c/arithmetic.c", "tests/emit/test_emit_build.py"),
    ),
    Assumption(
        "library",
        "library",
        "sqrtf, sqrt, fabsf and fabs of the C library are the operations of IEEE 754",
        "the contracts of square roots and magnitudes are those of these functions, which have no body",
        "the project's vectors compare what comes of them, bit for bit",
        ("src/sonnx/emit/acsl.py", "tests/derive/test_plain_c_values.py"),
    ),
)

_CODE: tuple[Assumption, ...] = (
    Assumption(
        "memory",
        "projects",
        "the caller's arrays are apart from the project's static arrays",
        "WP's memory model Typed takes it for granted, and says so in its warning",
        "the arrays are static and no pointer to them leaves the file; outputs are required to be apart from "
        "each other by the contract of the entry point",
        ("src/sonnx/emit/model.py", "src/sonnx/emit/acsl.py"),
    ),
    Assumption(
        "machine",
        "projects",
        "compiler, linker and processor do what C says, and are of the kind that Frama-C takes by default "
        "(x86-64)",
        "proofs are about the text of model.c, not about instructions; sizes of types are exact ones",
        "the project's test runs on the target; tests compile with gcc and clang, under sanitizers, and for "
        "aarch64",
        ("src/sonnx/emit/c/test_model.c", "tests/emit/test_emit_machines.py"),
    ),
    Assumption(
        "composition",
        "projects",
        "the calls of the nodes in the order of the entry point compute the graph",
        "contracts describe each node on its arrays, and the entry point is proved to call them one after "
        "the other with inputs that nobody has overwritten; that this sequence is the graph is the emitter's "
        "table of arrays, and that every order means the same is the theory of graph execution",
        "the vectors compare every output with the definitions, bit for bit",
        ("src/sonnx/emit/acsl.py", "src/sonnx/operators/graph/theory.mlw", "tests/emit/test_emit_models.py"),
    ),
    Assumption(
        "as-emitted",
        "projects",
        "nobody has forged both the C and its contracts",
        "a contract that says little is proved of any code; SHA256SUMS and the form of the sources tell of "
        "slips and clumsy changes, not of forgers",
        "emit the model anew and compare: the same model gives the same bytes",
        ("src/sonnx/prove/forms.py", "tests/prove/test_prove_projects.py"),
    ),
    Assumption(
        "contracts",
        "projects",
        "contracts say what the operators mean, at the shapes of the model",
        "they are derived from the definitions, as the code is: code that says something else is rejected, a "
        "definition that does is not",
        "tests plant faults in kernels and see contracts reject them; no proof ties contracts to theories",
        ("src/sonnx/derive/plain_c.py", "src/sonnx/derive/plain_expressions.py", "tests/prove"),
    ),
    Assumption(
        "eva",
        "projects",
        f"Eva's verdict is for {eva.STATED}",
        "a NaN or an infinity as an input is outside of these ranges; WP's proofs cover them, function by "
        "function",
        "the harness is written from model.h in every run; Eva must reach every function and raise no alarm",
        ("src/sonnx/prove/eva.py",),
    ),
    Assumption(
        "weights",
        "weights",
        "the values in weights.c or weights.bin are those of the model",
        "contracts speak of the arrays of weights, whatever is in them",
        "constants are written as hexadecimal literals or raw bits; vectors compare what comes of them, a "
        "flipped bit fails, and SHA256SUMS has the digest of the file",
        ("src/sonnx/emit/weights.py", "tests/emit/test_emit_project.py"),
    ),
    Assumption(
        "loading",
        "loaded",
        "the function that loads weights.bin decodes its bytes as they were written",
        "it is in weights.c, which has no contracts; WP proves model.c alone",
        "Eva looks for run-time errors in it; it compares size and CRC-32, and tests damage the file",
        ("src/sonnx/emit/c/load.c", "tests/emit/test_emit_project.py"),
    ),
)


def assumptions() -> tuple[Assumption, ...]:
    """All of them, with those that are listed where contracts, theories and contradictions are looked at."""
    return (*_TOOLS, *_ARITHMETIC, *_driver(), *_functions(), *_CODE, *_theories())


def project_assumptions(texts: Mapping[str, str]) -> tuple[Assumption, ...]:
    """Those that apply to an emitted project, given the texts of its files by their names."""
    scopes, trusted = _scopes(texts), assumed(texts["model.c"])
    return tuple(
        each
        for each in assumptions()
        if each.scope in scopes and (each.scope != "half" or each.identifier in map(_half, trusted))
    )


def project_sentences(texts: Mapping[str, str]) -> tuple[str, ...]:
    """The same for a report, a sentence each; the page on trust has the rest."""
    return tuple(map(_sentence, project_assumptions(texts)))


def theory_sentences() -> tuple[str, ...]:
    """What all theories stand on, for a report."""
    return tuple(_sentence(each) for each in assumptions() if each.scope in {"all", "theories"})


def _sentence(assumption: Assumption) -> str:
    return f"[{assumption.identifier}] {assumption.statement}"


def _scopes(texts: Mapping[str, str]) -> frozenset[Scope]:
    found: set[Scope] = {"all", "projects"}
    model = texts["model.c"]
    if "fused_float" in model or "fused_double" in model:
        found.add("fused")
    if re.search(r"\b(?:root|absolute)_(?:float|double)\b", model):
        found.add("library")
    if assumed(model):
        found.add("half")
    if "weights.h" in texts:
        found.add("weights")
    if "_load(const unsigned char *bytes" in texts.get("model.h", ""):
        found.add("loaded")
    return frozenset(found)


def _driver() -> Iterator[Assumption]:
    parts: dict[Scope, tuple[str, str]] = {
        "projects": ("driver", "the same number, operations and comparisons"),
        "fused": ("driver-fused", "fused steps"),
    }
    for scope, (identifier, names) in parts.items():
        lines = [each for each in DRIVER_LINES if each.scope == scope]
        yield Assumption(
            identifier,
            scope,
            f"the operations of IEEE 754 that contracts name are those of Why3's floats: {names}",
            "ACSL's own operators on floats are those of the reals, so contracts name others and a driver "
            "says what they are",
            f"{len(lines)} lines, each listed on the page on trust and compared with the file by a test; the "
            "arithmetic self-test of every project looks at roundings on the target",
            (DRIVER, _THEORY, "tests/prove/test_prove_assumptions.py"),
        )


# Where functions are compared that do not convert.
_CHECKED = dict.fromkeys(("left_over_of_float", "left_over_of_double"), "tests/operators/test_remainders.py")


def _half(function: str) -> str:
    return function.replace("_", "-")


def _functions() -> Iterator[Assumption]:
    for function, reason in ASSUMED.items():
        yield Assumption(
            _half(function),
            "half",
            f"the contract of {function}: {reason}",
            "it works on bits through a union, which WP's memory model cannot follow; its contract is taken "
            "only where the text is the package's, word for word",
            "compiled, and compared with values computed from the bits by definition",
            (
                f"src/sonnx/operators/shared/{function}.c",
                _CHECKED.get(function, "tests/emit/test_emit_half.py"),
            ),
        )


def _theories() -> Iterator[Assumption]:
    for number, ((file, line), reason) in enumerate(sorted(mlw.ASSUMPTIONS.items()), 1):
        yield Assumption(
            f"theory-{number}",
            "theories",
            f"{file} says `{line}`",
            reason,
            "by nobody but the reader",
            (f"src/sonnx/operators/{file}",),
        )
    for number, ((subject, module, goal), reason) in enumerate(sorted(smoke.CONTRADICTORY.items()), 1):
        yield Assumption(
            f"contradictory-{number}",
            "theories",
            f"the premises of {goal} in {subject}, module {module}, contradict each other, as they should",
            reason,
            "by nobody but the reader",
            (f"src/sonnx/operators/{subject}",),
        )
