"""Python that shows a departure or a crash again, to be sent to whoever makes the runtime.

Nothing of a runtime's is written but in comments, on one line, and as literals.
"""

from collections.abc import Iterable, Mapping
from math import isfinite
from string import Template
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from sonnx.conformance.campaign import twin
from sonnx.conformance.reporting.arrays import decimal_text
from sonnx.conformance.reporting.facts import one_line, operator_name, runtime_name
from sonnx.conformance.result import Cell, Departure, Report, Stop
from sonnx.conformance.runtimes.question import NEWEST_OPSET, model_bytes, question
from sonnx.conformance.subjects import SUBJECTS
from sonnx.load.types import TO_ONNX
from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.arrays import Array, held_type
from sonnx.vocabulary.trial import Trial

# Operands beyond these are made by the kit again, where a vector of it has them.
_MOST_BYTES = 2**11
_FEW = 4
_LEVELS = {
    "none": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}

_SHOWN = '''

def shown(array):
    """Type, shape, and every element with its bits."""
    array = np.asarray(array)
    flat = array.reshape(-1)
    bits = [flat[place : place + 1].tobytes()[::-1].hex() for place in range(flat.size)]
    if array.dtype == object:
        elements = [ascii(element) for element in flat]
    else:
        elements = [f"{element} (0x{raw})" for element, raw in zip(flat, bits)]
    return f"{array.dtype}{list(array.shape)} {', '.join(elements)}"

'''

_BY_MODEL = Template('''

def run(constants):
    """Ask the runtime; these operands are constants of the model, the others are its inputs."""
    given = {name: array for name, array in operands.items() if name not in constants}
    node = $node
    graph = helper.make_graph(
        [node],
        "$name",
        [helper.make_tensor_value_info(name, types[name], array.shape) for name, array in given.items()],
        [$outputs],
        [
            $tensor
            for name in constants
        ],
    )
    opsets = [helper.make_opsetid("", $opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=$ir_version)
    $running


''')
_TENSOR = "helper.make_tensor(name, types[name], operands[name].shape, operands[name].tobytes(), raw=True)"
_STRINGS = """helper.make_tensor(
                name,
                types[name],
                operands[name].shape,
                [text.encode() for text in operands[name].reshape(-1)]
                if types[name] == TensorProto.STRING
                else operands[name].tobytes(),
                raw=types[name] != TensorProto.STRING,
            )"""
_ONNXRUNTIME = Template("""options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.$level
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, options, providers=[$provider])
    $run""")
_BFLOAT16 = '''

def taken(array):
    """What onnxruntime takes; its interface with NumPy has no bfloat16."""
    values = onnxruntime.OrtValue
    if array.dtype != ml_dtypes.bfloat16:
        return values.ortvalue_from_numpy(array)
    return values.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), TensorProto.BFLOAT16)


def made(value):
    """What it makes, bit for bit."""
    if value.data_type() != "tensor(bfloat16)":
        return value.numpy()
    held = np.empty(tuple(value.shape()), np.uint16)
    ctypes.memmove(held.ctypes.data, value.data_ptr(), held.nbytes)
    return held.view(ml_dtypes.bfloat16)

'''
_RUN_BFLOAT16 = """values = {name: taken(array) for name, array in given.items()}
    return [made(value) for value in session.run_with_ort_values(None, values)]"""

_BY_KIT = Template('''

def run(constants):
    """Ask the runtime; these operands are constants of the model, the others are its inputs."""
    return ask($runtime, $operator, operands, $attributes, constants$options)


''')

_BY_VECTOR = Template('''import numpy as np

from sonnx.conformance import ask
from sonnx.conformance.subjects import SUBJECTS
from sonnx.model.dtype import DType

dtype = DType("$dtype")
subject = next(subject for subject in SUBJECTS if subject.identifier == "$operator")
# Too large to be written out here.
trial = next(trial for trial in subject.trials(dtype, $seed) if trial.name == $source)
$shown

def different(right, array):
    """Which elements have other bits."""
    if right.dtype == object:
        return right.reshape(-1) != array.reshape(-1)
    raw = [np.frombuffer(one.tobytes(), np.uint8).reshape(one.size, one.itemsize) for one in (right, array)]
    return (raw[0] != raw[1]).any(axis=1)


def run(constants):
    """Ask the runtime; these operands are constants of the model, the others are its inputs."""
    return ask($runtime, "$operator", trial.inputs, trial.attributes, constants$options)


found = run(trial.constants)
specified = $specified
for right, array in zip(map(np.asarray, specified), map(np.asarray, found)):
    print(f"specified {right.dtype}{list(right.shape)}, found {array.dtype}{list(array.shape)}")
    if (right.dtype, right.shape) == (array.dtype, array.shape):
        for place in np.flatnonzero(different(right, array))[:10]:
            one, other = right.reshape(-1)[place], array.reshape(-1)[place]
            print(f"place {place}: specified {shown(one)}, found {shown(other)}")
''')


def snippet(report: Report, departure: Departure) -> str:
    """Python that asks for a departure of a report again, and prints what is specified and what is found.

    For a runtime that takes ONNX models nothing else is needed but that and the package onnx; others are
    asked by this kit. Raises ValueError where the report has no such departure.
    """
    for cell in report.cells:
        if any(departure is each for each in cell.departures):
            return departure_snippet(report, cell, departure)
    raise ValueError("the report has no such departure")


def departure_snippet(report: Report, cell: Cell, departure: Departure) -> str:
    """The same, where the cell is known."""
    subject = f"{operator_name(cell.operator)} on {cell.dtype}"
    about = (
        f"{runtime_name(report)}: {subject} departs from the specification.",
        f"{departure.identifier}: {departure.clause}",
    )
    twins = bool(departure.against)
    return _written(
        report, cell, departure.trial, about, departure.source, {} if twins else departure.expected, twins
    )


def crash_snippet(report: Report, cell: Cell, stop: Stop) -> str:
    """Python that asks again what had no result."""
    what = "crashes" if stop.verdict == "crashes" else "is not supported"
    about = (
        f"{runtime_name(report)}: {operator_name(cell.operator)} on {cell.dtype} {what}.",
        *([stop.said] if stop.said else []),
    )
    return _written(report, cell, stop.trial, about, stop.source)


def _written(
    report: Report,
    cell: Cell,
    trial: Trial,
    about: Iterable[str],
    source: str,
    specified: Mapping[str, Array] | None = None,
    twins: bool = False,
) -> str:
    """The whole script: what is found, beside what is specified or what is found without constants."""
    # A script is looked after by the folder that it lies in, and not by the one where it is started.
    own = (
        [f"Save this beside {report.asked.partition(':')[0]}, or install that."]
        if ":" in report.asked
        else []
    )
    head = "".join(f"# {one_line(line, 200)}\n" for line in (*about, *own))
    size = sum(array.nbytes for array in (*trial.inputs.values(), *(specified or {}).values()))
    if size > _MOST_BYTES and source != "search":
        return head + _by_vector(report, cell, source, twins)
    models = _takes_models(report) and question(cell.operator, trial).has_model
    by = _by_model if models else _by_kit
    return f"{head}{by(report, cell, trial, specified or {})}{_ending(cell, trial, specified or {}, twins)}"


def _takes_models(report: Report) -> bool:
    """Tell whether a runtime is given models: by name, or as a backend in words that Python can import."""
    asked = report.asked
    if asked in ("onnxruntime", "reference-evaluator"):
        return True
    module, colon, attribute = asked.partition(":")
    return (
        report.takes_models
        and bool(colon)
        and all(p.isidentifier() for p in (*module.split("."), *attribute.split(".")))
    )


def _by_model(report: Report, cell: Cell, trial: Trial, specified: Mapping[str, Array]) -> str:
    """By a model of one node and the runtime's own functions."""
    asked = question(cell.operator, twin(trial))
    model = onnx.load_model_from_string(model_bytes(asked, report.options.get("opset", NEWEST_OPSET)))
    outputs = [kind.dtype for kind in asked.outputs.values()]
    bfloat16 = DType.BFLOAT16 in (*map(held_type, (*asked.operands.values(), *specified.values())), *outputs)
    special = bfloat16 and report.asked == "onnxruntime"
    strings = any(held_type(array) is DType.STRING for array in asked.operands.values())
    types = ", ".join(
        f'"{name}": {_element_type(TO_ONNX[held_type(array)])}' for name, array in asked.operands.items()
    )
    return "\n".join(
        [
            *_imports(report.asked, bfloat16),
            *_operands(asked.operands),
            f"types = {{{types}}}",
            _SHOWN.rstrip() + (_BFLOAT16.rstrip() if special else ""),
            _BY_MODEL.substitute(
                node=_node(model.graph.node[0]),
                name=model.graph.name,
                outputs=", ".join(map(_value_info, model.graph.output)),
                tensor=_STRINGS if strings else _TENSOR,
                opset=model.opset_import[0].version,
                ir_version=model.ir_version,
                running=_running(report, special),
            ),
        ]
    )


def _imports(asked: str, bfloat16: bool) -> list[str]:
    lines = ["import ctypes", ""] if bfloat16 and asked == "onnxruntime" else []
    lines += ["import ml_dtypes"] if bfloat16 else []
    lines.append("import numpy as np")
    if asked == "onnxruntime":
        lines.append("import onnxruntime")
    elif asked != "reference-evaluator":
        lines.append(f"import {asked.partition(':')[0]}")
    lines.append("from onnx import TensorProto, helper")
    if asked == "reference-evaluator":
        lines.append("from onnx.reference import ReferenceEvaluator")
    return [*lines, ""]


def _node(node: Any) -> str:
    told = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    names = [_literal(node.op_type), _literal(list(node.input)), _literal(list(node.output))]
    if not told:
        return f"helper.make_node({', '.join(names)})"
    arguments = [*names, *(f"{name}={_literal(value)}" for name, value in told.items())]
    return "\n        ".join(["helper.make_node(", *(f"{each}," for each in arguments)]) + "\n    )"


def _value_info(value: Any) -> str:
    tensor = value.type.tensor_type
    shape = [dim.dim_value for dim in tensor.shape.dim]
    return (
        f"helper.make_tensor_value_info({_literal(value.name)}, {_element_type(tensor.elem_type)}, {shape})"
    )


def _element_type(number: int) -> str:
    return f"TensorProto.{TensorProto.DataType.Name(number)}"


def _running(report: Report, bfloat16: bool) -> str:
    """The runtime's own way of running a model."""
    if report.asked == "reference-evaluator":
        return "return ReferenceEvaluator(model).run(None, given)"
    if report.asked != "onnxruntime":
        backend, device = report.asked.replace(":", "."), _literal(report.options.get("device", "CPU"))
        return f"return {backend}.prepare(model, {device}).run(list(given.values()))"
    return _ONNXRUNTIME.substitute(
        level=_LEVELS.get(str(report.options.get("level")), _LEVELS["all"]),
        provider=_literal(report.options.get("provider", "CPUExecutionProvider")),
        run=_RUN_BFLOAT16 if bfloat16 else "return session.run(None, given)",
    )


def _by_kit(report: Report, cell: Cell, trial: Trial, specified: Mapping[str, Array]) -> str:
    """By this kit, which knows how to ask the runtime."""
    arrays = (*trial.inputs.values(), *specified.values())
    return "\n".join(
        [
            *(["import ml_dtypes"] if DType.BFLOAT16 in map(held_type, arrays) else []),
            *("import numpy as np", "", "from sonnx.conformance import ask", ""),
            *_operands(trial.inputs),
            _SHOWN.rstrip(),
            _BY_KIT.substitute(
                runtime=_literal(report.asked),
                operator=_literal(cell.operator),
                attributes=_literal(dict(trial.attributes)),
                options=_options(report),
            ),
        ]
    )


def _by_vector(report: Report, cell: Cell, source: str, twins: bool) -> str:
    """By a vector of this kit, whose operands are too large to be written out."""
    subject = next(subject for subject in SUBJECTS if subject.identifier == cell.operator)
    mode = repr("separate" if report.sums == "free" else report.sums) if subject.enclose else ""
    return _BY_VECTOR.substitute(
        shown=_SHOWN.rstrip(),
        dtype=cell.dtype,
        operator=cell.operator,
        seed=report.seed,
        source=_literal(source),
        runtime=_literal(report.asked),
        options=_options(report),
        specified="run(())" if twins else f"subject.specified(trial, dtype).results({mode}).values()",
    )


def _options(report: Report) -> str:
    named = {name: value for name, value in report.options.items() if name.isidentifier()}
    return "".join(f", {name}={_literal(value)}" for name, value in named.items())


def _literal(value: Any) -> str:
    """A value of Python's own types as a literal; anything else as its text."""
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{_literal(str(key))}: {_literal(entry)}" for key, entry in value.items()) + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, bytes):
        return _quoted(value.decode("utf-8", "replace"))
    if isinstance(value, float) and not isfinite(value):
        return f'float("{value}")'
    return repr(value) if isinstance(value, bool | int | float | None) else _quoted(str(value))


def _quoted(text: str) -> str:
    """A literal of a text, in pure ASCII."""
    literal = ascii(text)
    return literal if {"'", '"'} & set(text) else f'"{literal[1:-1]}"'


def _ending(cell: Cell, trial: Trial, specified: Mapping[str, Array], twins: bool) -> str:
    """Run it, and print."""
    constants = sorted(question(cell.operator, trial).constants)
    if twins:
        inputs = sorted(question(cell.operator, twin(trial)).constants)
        lines = [
            f"for held, given in zip(run({_literal(constants)}), run({_literal(inputs)})):",
            '    print("operands as constants:", shown(held))',
            '    print("operands as inputs:   ", shown(given))',
        ]
    else:
        lines = ["specified = {", *_entries(specified), "}"] if specified else []
        lines += ["for name, array in specified.items():"] if specified else []
        lines += ['    print(f"specified {name}: {shown(array)}")'] if specified else []
        lines += [f"for number, array in enumerate(run({_literal(constants)})):"]
        lines += ['    print(f"found output {number}: {shown(array)}")']
    return "\n".join(lines) + "\n"


def _operands(operands: Mapping[str, Array]) -> list[str]:
    return ["# Exactly these bits.", "operands = {", *_entries(operands), "}"]


def _entries(arrays: Mapping[str, Array]) -> list[str]:
    return [f"    {_literal(name)}: {_array(array)},{_comment(array)}" for name, array in arrays.items()]


def _comment(array: Array) -> str:
    """What the bits of a few floats mean."""
    flat = array.reshape(-1)
    if array.dtype.kind not in "fcV" or not 0 < flat.size <= _FEW:
        return ""
    return "  # " + ", ".join(decimal_text(element, held_type(array)) for element in flat)


def _array(array: Array) -> str:
    """An expression that makes the array from its exact bits."""
    dtype, shape = held_type(array), list(array.shape)
    flat = np.ascontiguousarray(array).reshape(-1)
    if dtype is DType.STRING:
        return f"np.array([{', '.join(_quoted(str(text)) for text in flat)}], object).reshape({shape})"
    if dtype is DType.BOOL:  # whose bytes need not be 0 and 1
        return f"np.array({flat.view(np.uint8).tolist()}, np.uint8).view(np.bool_).reshape({shape})"
    if dtype in INTEGERS:
        return f"np.array({flat.tolist()}, np.{flat.dtype}).reshape({shape})"
    size = flat.dtype.itemsize // 2 if flat.dtype.kind == "c" else flat.dtype.itemsize
    bits = ", ".join(f"0x{int(raw):0{2 * size}x}" for raw in flat.view(f"u{size}"))
    held = "ml_dtypes.bfloat16" if dtype is DType.BFLOAT16 else f"np.{flat.dtype}"
    return f"np.array([{bits}], np.uint{8 * size}).view({held}).reshape({shape})"
