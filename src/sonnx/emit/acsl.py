"""ACSL in emitted C: what contracts speak of, declared where it is used, and the contract of the entry.

IEEE operations are declared here and given their meaning by the driver with which proofs are made; ACSL's own
operators on floats are those of the reals.
"""

import re
from collections.abc import Sequence
from itertools import combinations
from math import prod

from sonnx.emit.layout import Layout, Port
from sonnx.emit.types import c_type

_REALS = ("float", "double")
_WHOLE = ("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t")
_COMPLEX = {"complex64": "float", "complex128": "double"}

# Each declaration with the words of which one must occur for a project to need it.
_IEEE = {
    f"{kind}_{real}": text.format(kind=kind, real=real)
    for real in _REALS
    for kind, text in {
        "same": "predicate same_{real}({real} a, {real} b);",
        "sum": "logic {real} sum_{real}({real} a, {real} b);",
        "product": "logic {real} product_{real}({real} a, {real} b);",
        "fused": "logic {real} fused_{real}({real} a, {real} b, {real} c);",
    }.items()
}
_HALF = {
    "value_of_half": "logic float value_of_half(uint16_t half);",
    "nearest_half": "logic uint16_t nearest_half(float value);",
}
_FUSED = """\
#ifdef __FRAMAC__
/*@ assigns \\result \\from x, y, z;
    ensures same_{real}(\\result, fused_{real}(x, y, z)); */
extern {real} {name}({real} x, {real} y, {real} z);
#endif"""
_FMA = {"float": "fmaf", "double": "fma"}
NOTHING = "\\nothing"
_ANNOTATION = re.compile(r"^[ \t]*(?:/\*@.*?\*/|//@[^\n]*)\n", re.MULTILINE | re.DOTALL)


def declarations(begin: str, texts: Sequence[str]) -> str:
    """What the annotations in these texts name, declared; nothing where they name nothing."""
    words = set(re.findall(r"\w+", "\n".join(texts)))
    for name, real in _COMPLEX.items():
        words |= {f"same_{real}"} if f"same_{name}" in words else set()
    for real in _REALS:
        words |= {f"same_{real}"} if f"fused_{real}" in words else set()
    axioms = [text for name, text in (_IEEE | _HALF).items() if name in words]
    parts = []
    if axioms:
        inner = "\n      ".join(axioms)
        comment = (
            "/* Operations of IEEE 754 as functions, and what it is to be the same number, bit for bit. */"
        )
        parts.append(f"{comment}\n/*@ axiomatic Ieee {{\n      {inner}\n    }} */")
    same = [f"predicate same_{name}({name} a, {name} b) = a == b;" for name in _WHOLE]
    same += [
        f"predicate same_{name}(struct {begin}_{name} a, struct {begin}_{name} b) =\n"
        f"      same_{real}(a.real, b.real) && same_{real}(a.imaginary, b.imaginary);"
        for name, real in _COMPLEX.items()
    ]
    parts += [f"/*@ {text} */" for text in same if text.split("(")[0].split()[1] in words]
    parts += [_FUSED.format(real=real, name=_FMA[real]) for real in _REALS if f"fused_{real}" in words]
    return "\n".join(parts)


def without_annotations(text: str) -> str:
    """C without its annotations, for functions on arrays that contracts do not speak of."""
    return _ANNOTATION.sub("", text)


def same(name: str) -> str:
    """The predicate that two elements of a C type are one and the same."""
    return f"same_{name.removeprefix('struct ')}"


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
    if layout.loaded:
        clauses.append(f"ensures \\result == ({layout.prefix}_loaded ? 0 : 1);")
    done = "\\result == 0 ==> " if layout.loaded else ""
    for port in filled:
        made = f"{layout.arrays[port.tensor]}[k]"
        clauses.append(
            f"ensures {done}{_equal(port.kind.name, port.elements, f'{port.parameter}[k]', made)};"
        )
    return ["/*@ " + "\n    ".join(clauses) + " */"]


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
        label = f"after_{function.nodes[-1][0]}"
        lines += [f"    {function.name}();", f"    //@ ghost {label}: ;"]
        made |= dict.fromkeys(function.makes, label)
    return lines + _kept(layout, {port.tensor for port in layout.outputs}, made)


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
