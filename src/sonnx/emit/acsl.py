"""ACSL in emitted C: what contracts speak of, declared where it is used, and the contract of the entry.

IEEE operations are declared here and given their meaning by the driver with which proofs are made; ACSL's own
operators on floats are those of the reals.
"""

import re
from collections.abc import Sequence
from itertools import combinations
from math import prod

from sonnx.derive.c_types import same
from sonnx.emit.layout import Layout, Port
from sonnx.emit.types import c_type

_REALS = ("float", "double")
_WHOLE = ("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t")
_COMPLEX = {"complex64": "float", "complex128": "double"}

# Operations of IEEE 754 with names of their operands, and comparisons, which are values so that contracts can
# be functions.
_OPERATIONS = {
    "sum": "ab",
    "difference": "ab",
    "product": "ab",
    "quotient": "ab",
    "fused": "abc",
    "opposite": "a",
    "absolute": "a",
    "root": "a",
    "rounded_down": "a",
    "left_over": "ab",
}
_COMPARISONS = {"less": "ab", "less_equal": "ab", "equal": "ab", "nan": "a"}


def _parameters(real: str, names: str) -> str:
    return ", ".join(f"{real} {name}" for name in names)


# Each declaration with the word that must occur for a project to need it.
_IEEE = {
    f"{kind}_{real}": f"{text} {kind}_{real}({_parameters(real, names)});"
    for real in _REALS
    for kind, text, names in (
        ("same", "predicate", "ab"),
        *((kind, f"logic {real}", names) for kind, names in _OPERATIONS.items()),
        *((kind, "logic boolean", names) for kind, names in _COMPARISONS.items()),
    )
}
_WHOLE_NUMBERS = {
    f"{name}_{real}": text.format(real)
    for real in _REALS
    for name, text in (
        ("cut", "logic integer cut_{0}({0} a);"),
        ("whole", "logic {0} whole_{0}(integer a);"),
    )
}
_HALF = {
    "value_of_half": "logic float value_of_half(integer half);",
    "nearest_half": "logic uint16_t nearest_half(float value);",
    "value_of_bfloat16": "logic float value_of_bfloat16(integer bits);",
    "nearest_bfloat16": "logic uint16_t nearest_bfloat16(float value);",
    "beside_double": "logic float beside_double(double value);",
}
# Functions of <math.h> that round once: the operations that they are, and their names in C.
_LIBRARY = {"fused": "fma", "root": "sqrt", "absolute": "fabs"}
_DECLARED = """\
#ifdef __FRAMAC__
/*@ assigns \\result \\from {given};
    ensures same_{real}(\\result, {kind}_{real}({given})); */
extern {real} {name}({parameters});
#endif"""
NOTHING = "\\nothing"
_ANNOTATION = re.compile(r"^[ \t]*(?:/\*@.*?\*/|//@[^\n]*)\n", re.MULTILINE | re.DOTALL)


def declarations(begin: str, texts: Sequence[str]) -> str:
    """What the annotations in these texts name, declared; nothing where they name nothing."""
    words = set(re.findall(r"\w+", "\n".join(texts)))
    for name, real in _COMPLEX.items():
        words |= {f"same_{real}"} if f"same_{name}" in words else set()
    called = [(kind, real) for real in _REALS for kind in _LIBRARY if _function(kind, real) in words]
    words |= {f"{word}_{real}" for kind, real in called for word in ("same", kind)}
    axioms = [text for name, text in (_IEEE | _WHOLE_NUMBERS | _HALF).items() if name in words]
    parts = []
    if axioms:
        inner = "\n      ".join(axioms)
        comment = (
            "/* Operations of IEEE 754 as functions, and what it is to be the same number, bit for bit. */"
        )
        parts.append(f"{comment}\n/*@ axiomatic Ieee {{\n      {inner}\n    }} */")
    same = [f"predicate same_{name}(integer a, integer b) = a == b;" for name in _WHOLE]
    same += [
        f"predicate same_{name}(struct {begin}_{name} a, struct {begin}_{name} b) =\n"
        f"      same_{real}(a.real, b.real) && same_{real}(a.imaginary, b.imaginary);"
        for name, real in _COMPLEX.items()
    ]
    parts += [f"/*@ {text} */" for text in same if text.split("(")[0].split()[1] in words]
    return "\n".join([*parts, *(_declared(kind, real) for kind, real in called)])


def _function(kind: str, real: str) -> str:
    return _LIBRARY[kind] + ("f" if real == "float" else "")


def _declared(kind: str, real: str) -> str:
    """A function of <math.h> with its contract; nobody proves it."""
    names = "xyz"[: len(_OPERATIONS[kind])]
    return _DECLARED.format(
        given=", ".join(names),
        real=real,
        kind=kind,
        name=_function(kind, real),
        parameters=_parameters(real, names),
    )


def without_annotations(text: str) -> str:
    """C without its annotations, for functions on arrays that contracts do not speak of."""
    return _ANNOTATION.sub("", text)


def equal(name: str, one: str, other: str) -> str:
    """That two elements of a C type are one and the same; parts of a struct are compared one by one.

    Provers find that a part behind a pointer was not written to, and seldom that a whole struct was not.
    """
    real = _COMPLEX.get(name.removeprefix("struct "))
    if real is None:
        return f"{same(name)}({one}, {other})"
    return " && ".join(f"same_{real}({one}.{part}, {other}.{part})" for part in ("real", "imaginary"))


def entry(layout: Layout) -> list[str]:
    """The contract of the entry point: which memory it needs and writes, and that it hands over the results.

    What is in them is said by the contracts of the nodes, in the order of the calls.
    """
    filled = [port for port in layout.outputs if port.elements]
    clauses = [f"requires \\valid_read({_whole(port, ' + ')});" for port in layout.inputs if port.elements]
    clauses += [f"requires \\valid({_whole(port, ' + ')});" for port in filled]
    clauses += [
        f"requires \\separated({_whole(one, ' + ')}, {_whole(other, ' + ')});"
        for one, other in combinations(filled, 2)
    ]
    sizes = enumerate(layout.memory.slots.sizes)
    written = [f"buffer_{number}[0 .. {elements - 1}]" for number, (_, elements) in sizes]
    written += [_whole(port) for port in filled]
    clauses.append(f"assigns {', '.join(written) or NOTHING};")
    clauses += _returned(layout)
    done = "\\result == 0 ==> " if layout.fails else ""
    for port in filled:
        name, count, held = port.kind.name, port.elements, f"{port.parameter}[k]"
        clauses.append(f"ensures {done}{_equal(name, count, held, f'{layout.arrays[port.tensor]}[k]')};")
        if layout.fails:
            before = f"\\old({held})"
            clauses.append(f"ensures \\result != 0 ==> {_equal(name, count, held, before)};")
    return ["/*@ " + "\n    ".join(clauses) + " */"]


def _returned(layout: Layout) -> list[str]:
    """What is returned, and what holds then: which node met an element for which it is not defined."""
    values = dict.fromkeys([0, *([-1] if layout.loaded else []), *(each.status for each in layout.guarded)])
    clauses = ["ensures " + " || ".join(f"\\result == {value}" for value in values) + ";"]
    if layout.loaded:
        clauses.append(f"ensures \\result == -1 <==> !{layout.prefix}_loaded;")
    for value in values:
        met = [f"({each.outside})" for each in layout.guarded if each.status == value]
        clauses += [f"ensures \\result == {value} ==> {' || '.join(met)};"] if met else []
    return clauses


def _whole(port: Port, joint: str = "") -> str:
    """All elements of a parameter: as a set of places, or, joined by a sum, of addresses."""
    places = f"0 .. {port.elements - 1}"
    return f"{port.parameter}{joint}({places})" if joint else f"{port.parameter}[{places}]"


def steps(layout: Layout) -> list[str]:
    """The calls of all nodes; before each, that what it reads is still what was made for it.

    Tensors share arrays: an assertion fails where one was overwritten before its last use.
    """
    made: dict[str, str] = dict.fromkeys((port.tensor for port in layout.inputs), "given")
    lines = []
    for port in layout.inputs if layout.kernels is None else ():
        if port.elements:
            pair = f"{layout.arrays[port.tensor]}[k]", f"\\at({port.parameter}[k], Pre)"
            lines.append(f"    //@ assert given: {_equal(port.kind.name, port.elements, *pair)};")
    lines += ["    //@ ghost given: ;"] if made else []
    for function in layout.functions:
        reads = {name for _, node in function.nodes for name in node.inputs if name}
        lines += _kept(layout, reads, made)
        label = f"after_{function.nodes[-1][0].label}"
        if function.guard:
            lines += [f"    if ({function.guard}() != 0) {{", f"        return {function.status};", "    }"]
        lines += [f"    {function.name}();", f"    //@ ghost {label}: ;"]
        made |= dict.fromkeys(function.makes, label)
    return lines + _kept(layout, {port.tensor for port in layout.outputs}, made)


def handed_over(layout: Layout, number: int) -> list[str]:
    """What an output leaves as it was when it is copied: those of its C type that were copied before.

    Said step by step, since provers do not find their way through many outputs at once.
    """
    port = layout.outputs[number]
    before = [each for each in layout.outputs[:number] if each.elements and each.kind.name == port.kind.name]
    if layout.kernels is not None or not port.elements:
        return []
    pairs = [(each, f"{each.parameter}[k]", f"{layout.arrays[each.tensor]}[k]") for each in before]
    return [f"    //@ assert kept: {_equal(each.kind.name, each.elements, *pair)};" for each, *pair in pairs]


def _kept(layout: Layout, names: set[str], made: dict[str, str]) -> list[str]:
    found = []
    for name in sorted(names & made.keys() & layout.arrays.keys()):
        kind, array = layout.graph.types[name], layout.arrays[name]
        elements = prod(kind.sizes or ())
        if elements:
            then = f"\\at({array}[k], {made[name]})"
            text = _equal(c_type(kind, name).name, elements, f"{array}[k]", then)
            found.append(f"    //@ assert kept: {text};")
    return found


def _equal(kind: str, elements: int, one: str, other: str) -> str:
    return f"\\forall integer k; 0 <= k < {elements} ==> {equal(kind, one, other)}"
