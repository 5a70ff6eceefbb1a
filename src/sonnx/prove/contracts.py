"""Reads annotations of emitted C: that every function has a contract, and none takes things for granted."""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

_ANNOTATION = re.compile(r"/\*@(.*?)\*/|//@([^\n]*)", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*")
# A function as the emitter writes it: its contract, then its head on one line, then the body.
_FUNCTION = re.compile(r"/\*@((?:(?!\*/).)*)\*/\n(?:static )?[\w ]*?\*?(\w+)\([^\n;]*\)\n\{", re.DOTALL)
_BODY = re.compile(r"\n\{\n(.*?)\n\}\n", re.DOTALL)
_CALL = re.compile(r"\b(\w+)\s*\(")
_ANY_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NO_CALLS = frozenset({"for", "if", "return", "sizeof", "switch", "while"})
# What ACSL has for assuming instead of proving, or what no emitted annotation has.
_LOOPHOLES = re.compile(
    r"\b(axiom|admit|inductive|lemma|invariant(?=\s+\w+\s*:)|model|volatile|import|terminates|decreases"
    r"|behavior|assumes|breaks|continues|returns|exits|calls|extended)\b|\\false"
)
_GHOST = re.compile(r"\bghost\b(?!\s+\w+\s*:\s*;\s*$)")
_DECLARED = re.compile(r"axiomatic\s+(\w+)\s*\{(.*)\}", re.DOTALL)
_OPERATION = re.compile(
    r"predicate same_(float|double)\(\1 a, \1 b\)"
    r"|logic (float|double) (?:sum|difference|product|quotient|left_over)_\2\(\2 a, \2 b\)"
    r"|logic (float|double) fused_\3\(\3 a, \3 b, \3 c\)"
    r"|logic (float|double) (?:opposite|absolute|root|rounded_down)_\4\(\4 a\)"
    r"|logic boolean (?:less|less_equal|equal)_(float|double)\(\5 a, \5 b\)"
    r"|logic boolean nan_(float|double)\(\6 a\)"
    r"|logic integer cut_(float|double)\(\7 a\)"
    r"|logic (float|double) whole_\8\(integer a\)"
    r"|logic float value_of_(?:half\(integer half|bfloat16\(integer bits)\)"
    r"|logic uint16_t nearest_(?:half|bfloat16)\(float value\)"
    r"|logic float beside_double\(double value\)"
)
# Functions whose contract stands without proof, where they are written as the package has them.
ASSUMED: Mapping[str, str] = {
    "float_of_half": "the value of a float16 is what `value_of_half` names; tested on all 65,536 values",
    "half_of_float": "the nearest float16 is what `nearest_half` names; tested on every boundary between two",
    "float_of_bfloat16": "what `value_of_bfloat16` names; tested on all 65,536 values",
    "bfloat16_of_float": "what `nearest_bfloat16` names; tested on every boundary between two",
    "odd_float": "what `beside_double` names; tested around boundaries between floats",
    "left_over_of_float": "what `left_over_float` names; tested against fractions",
    "left_over_of_double": "what `left_over_double` names; tested against fractions",
}


def loopholes(text: str) -> Iterator[tuple[int, str]]:
    """The lines and words by which annotations would take something for granted."""
    for found in _ANNOTATION.finditer(text):
        inner = _COMMENT.sub("", found[1] if found[1] is not None else found[2])
        line = text.count("\n", 0, found.start()) + 1
        yield from ((line, word[0]) for word in _LOOPHOLES.finditer(inner))
        yield from ((line, "ghost") for _ in _GHOST.finditer(inner.strip()))
        declared = _DECLARED.search(inner)
        if declared:
            parts = [" ".join(part.split()) for part in declared[2].split(";")]
            yield from ((line, part) for part in parts if part and not _OPERATION.fullmatch(part))


def contracts(text: str) -> dict[str, str]:
    """The contract of every function that is defined and has one."""
    return {found[2]: " ".join(_COMMENT.sub("", found[1]).split()) for found in _FUNCTION.finditer(text)}


def lines_of_functions(text: str) -> dict[str, int]:
    """The line on which the head of every function with a contract stands."""
    return {found[2]: text.count("\n", 0, found.end()) for found in _FUNCTION.finditer(text)}


def called_functions(text: str) -> dict[str, frozenset[str]]:
    """What the body of every function with a contract calls; rather a name too many than one too few."""
    found = {}
    for head in _FUNCTION.finditer(text):
        body = _BODY.match(text, head.end() - 2)
        if body:
            found[head[2]] = frozenset(_CALL.findall(_ANY_COMMENT.sub(" ", body[1]))) - _NO_CALLS
    return found


def texts_of_functions(text: str) -> dict[str, str]:
    """Every function with a contract, contract and body."""
    found = {}
    for head in _FUNCTION.finditer(text):
        body = _BODY.match(text, head.end() - 2)
        found[head[2]] = text[head.start() : body.end() if body else head.end()]
    return found


def lengths_of_functions(text: str) -> dict[str, int]:
    """How long every function with a contract is, with that, in characters: a guess at how hard it is."""
    return {name: len(said) for name, said in texts_of_functions(text).items()}


def is_contract(text: str, function: str) -> bool:
    """Whether a contract says what is written and what holds then.

    Who writes nothing need not ensure anything, nor an entry point that hands nothing over.
    """
    idle = text == "assigns \\nothing;" or (function.endswith("_run") and "\\valid(" not in text)
    return "assigns " in text and ("ensures " in text or idle)


def assumed(text: str) -> dict[str, str]:
    """The functions whose contract stands without proof, and why; only if they are ours, word for word."""
    shared = files("sonnx.operators") / "shared"
    return {
        name: reason
        for name, reason in ASSUMED.items()
        if (shared / f"{name}.c").read_text(encoding="utf-8").rstrip() in text
    }
