"""Definitions as plain C, compiled and run: for tests of that walk."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from sonnx.derive.c_types import C_TYPES
from sonnx.derive.plain_c import plain
from sonnx.emit.acsl import declarations
from sonnx.emit.template import shared
from sonnx.model.dtype import ALL, DType
from sonnx.model.tensor_type import TensorType
from sonnx.terms.tracing import Definition
from sonnx.vocabulary.operator import Attribute, Contract, Operand, Operator
from sonnx.vocabulary.plain import PlainRequest, PlainText

Array = Any

STRICT = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-ffp-contract=off"]
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="neither gcc nor clang is installed")
HELD = {dtype: str(dtype) for dtype in C_TYPES} | {
    DType.FLOAT: "float32",
    DType.DOUBLE: "float64",
    DType.BFLOAT16: "uint16",
}


def stand_in(definition: Definition | None, inputs: Mapping[str, str], outputs: Sequence[str]) -> Operator:
    """An operator that nobody has; operands of the type bool are truths, unless all are."""
    only = all(dtype == "bool" for dtype in inputs.values())
    operands = tuple(
        Operand(name, name, "", (DType.BOOL,) if dtype == "bool" and not only else ALL)
        for name, dtype in inputs.items()
    )
    made = tuple(Operand(name, name, "", ALL) for name in outputs)
    mode = Attribute("accumulate", "string", "", mode=True)
    return Operator(Contract("OfNobody", (1,), "", operands, made, (mode,), (), lambda _call: {}), definition)


def tensor(dtype: str, shape: Sequence[int]) -> TensorType:
    return TensorType(DType(dtype), tuple(shape))


def written(
    definition: Definition,
    inputs: Mapping[str, tuple[str, Sequence[int]]],
    outputs: Mapping[str, tuple[str, Sequence[int]]],
    function: str = "node_0_it",
    **attributes: Any,
) -> PlainText:
    """The plain C of a node with these operands; arrays are called as operands, behind `t_`."""
    operator = stand_in(definition, {name: dtype for name, (dtype, _) in inputs.items()}, tuple(outputs))
    given = {name: tensor(*kind) for name, kind in inputs.items()}
    made = {name: tensor(*kind) for name, kind in outputs.items()}
    filled = [name for name, kind in (given | made).items() if prod(kind.sizes or ())]
    request = PlainRequest(
        function, given, made, attributes, {}, {name: f"t_{name}" for name in filled}, "net"
    )
    return plain(operator, request)


def program(
    texts: Mapping[str, PlainText],
    inputs: Mapping[str, tuple[str, Sequence[int]]],
    outputs: Mapping[str, tuple[str, Sequence[int]]],
) -> str:
    """A program that reads operands from its input, calls functions, and writes results to its output."""
    helpers = list(dict.fromkeys(name for text in texts.values() for name in text.helpers))
    headers = ["<stdint.h>", "<stdio.h>", *(name for name in helpers if name.startswith("<"))]
    parts = [f"#include {name}" for name in headers]
    parts += [
        f"struct net_{name} {{\n    {real} real;\n    {real} imaginary;\n}};"
        for name, real in (("complex64", "float"), ("complex128", "double"))
    ]
    code = [shared(f"{name}.c") for name in helpers if not name.startswith("<")]
    words = {name: word for text in texts.values() for name, word in text.words.items()}
    code += [*words.values(), *(text.text for text in texts.values())]
    parts.append(declarations("net", code))
    kinds = {name: (C_TYPES[DType(dtype)], max(prod(shape), 1)) for name, (dtype, shape) in inputs.items()}
    made = {name: (C_TYPES[DType(dtype)], max(prod(shape), 1)) for name, (dtype, shape) in outputs.items()}
    parts += [
        f"static {kind.spelled('net')} t_{name}[{count}];" for name, (kind, count) in (kinds | made).items()
    ]
    read = "".join(
        f"    if (fread(t_{name}, sizeof t_{name}[0], {count}, stdin) != {count}) {{ return 1; }}\n"
        for name, (_, count) in kinds.items()
    )
    called = "".join(f"    {function}();\n" for function in texts)
    write = "".join(
        f"    fwrite(t_{name}, sizeof t_{name}[0], {count}, stdout);\n" for name, (_, count) in made.items()
    )
    main = f"int main(void)\n{{\n{read}{called}{write}    return 0;\n}}\n"
    return "\n".join([*parts, *code, main])


def executed(source: str, given: bytes, compiler: str) -> bytes:
    """What a program writes, compiled without a warning."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "it.c").write_text(source, encoding="ascii")
        command = [compiler, *STRICT, "it.c", "-o", "it", "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, f"{done.stderr}\n{source}"
        ran = subprocess.run([folder / "it"], input=given, capture_output=True, check=True, timeout=60)
        return ran.stdout


def run_c(
    definition: Definition,
    operands: Mapping[str, Array],
    types: Mapping[str, str],
    result: tuple[str, Sequence[int]],
    compiler: str = "gcc",
    **attributes: Any,
) -> Array:
    """What a definition gives on arrays when its plain C is compiled and run."""
    (found,) = run_each([definition], operands, types, result, compiler, **attributes)
    return found


def run_each(
    definitions: Sequence[Definition],
    operands: Mapping[str, Array],
    types: Mapping[str, str],
    result: tuple[str, Sequence[int]],
    compiler: str = "gcc",
    **attributes: Any,
) -> Sequence[Array]:
    """What each of several definitions gives on the same arrays, compiled as one program."""
    inputs = {name: (types[name], array.shape) for name, array in operands.items()}
    outputs = {f"Z{number}": result for number in range(len(definitions))}
    texts = {
        function: written(definition, inputs, {f"Z{number}": result}, function, **attributes)
        for number, definition in enumerate(definitions)
        for function in [f"node_{number}_it"]
    }
    given = b"".join(
        (array if array.size else np.zeros(1, array.dtype)).tobytes() for array in operands.values()
    )
    made = executed(program(texts, inputs, outputs), given, compiler)
    return list(np.frombuffer(made, HELD[DType(result[0])]).reshape(-1, *result[1]))
