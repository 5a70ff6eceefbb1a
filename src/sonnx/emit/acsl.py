"""ACSL in emitted C: what contracts speak of, declared where a project uses it, and the contract of the entry.

IEEE operations are declared here and given their meaning by the driver with which proofs are made; ACSL's own
operators on floats are those of the reals.
"""

import re
from collections.abc import Sequence

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
/*@ assigns \\nothing;
    ensures same_{real}(\\result, fused_{real}(x, y, z)); */
extern {real} {name}({real} x, {real} y, {real} z);
#endif"""
_FMA = {"float": "fmaf", "double": "fma"}
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
        comment = "/* Operations of IEEE 754 as functions, and what it is to be the same number, bit for bit. */"
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
