"""What emitted sources never hold: by it, Frama-C and a compiler could read different programs.

It keeps slips and clumsy changes out. Whoever forges both C and contracts can only be met by writing the
project anew from its model and comparing.
"""

import re
from collections.abc import Iterator, Mapping

_DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_KNOWN_DIRECTIVE = re.compile(
    r'#include "(?:model|checks|weights)\.h"|#include <math\.h>|#define t_\w+ buffer_\d+'
    r"|#ifn?def __FRAMAC__|#endif"
)
_KNOWN_BLOCK = re.compile(
    r"^#ifdef __FRAMAC__\n/\*@ assigns \\result \\from (?:x, y, z|x);\n"
    r"    ensures same_(float|double)\(\\result, (?:fused_\1\(x, y, z\)|(?:root|absolute)_\1\(x\))\); \*/\n"
    r"extern \1 (?:fmaf?\(\1 x, \1 y, \1 z\)|(?:sqrtf?|fabsf?)\(\1 x\));\n#endif$",
    re.MULTILINE,
)
# Its header says that roots write errno as well.
_NOT_ITS_OWN = "#ifndef __FRAMAC__\n#include <math.h>\n#endif\n"
_ANYWHERE = re.compile(r'\\\n|\?\?|"|\b(?:while|goto|do|asm|__asm__|volatile)\b')
_COMMENT = re.compile(r"/\*(?!@).*?\*/", re.DOTALL)
_HEADER_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?!SONNX_)(\w+)", re.MULTILINE)
_ARRAY = re.compile(r"^#define (t_\w+) (buffer_\d+)$", re.MULTILINE)
_ASSIGNED = re.compile(r"\bassigns ([^;]*);")
_TENSOR = re.compile(r"\bt_\w+\b")
_NODE = re.compile(r"^/\* (?:Node \d+|New node)", re.MULTILINE)
_AFTER_NODES = re.compile(r"\n/\*@ requires \\valid|\nint32_t \w+_run\(")
_HEADERS = ("model.h", "checks.h", "weights.h")
_ENTRY = re.compile(r"^int32_t \w+_run\([^\n]*\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r"^    node_(((?:new_)?\d+)_\w+)\(\);\n(.*)$", re.MULTILINE)
_LABEL = re.compile(r"    //@ ghost after_((?:new_)?\d+(?:_\d+)?): ;")


def oddities(texts: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    """File, line and what is wrong there; nothing for a project as it is emitted."""
    model = texts["model.c"]
    for found in _DIRECTIVE.finditer(model):
        if not _KNOWN_DIRECTIVE.fullmatch(found[0]):
            yield "model.c", _line(model, found.start()), f"a directive of another kind: {found[0].strip()}"
    alone, without = len(_KNOWN_BLOCK.findall(model)), model.count(_NOT_ITS_OWN)
    if (model.count("#ifdef"), model.count("#ifndef"), model.count("#endif")) != (
        alone,
        without,
        alone + without,
    ):
        yield "model.c", 1, "code for Frama-C alone"
    code = _DIRECTIVE.sub(_blank, _COMMENT.sub(_blank, model))
    for found in _ANYWHERE.finditer(code):
        yield "model.c", _line(code, found.start()), f"what plain kernels do not need: {found[0]!r}"
    if code.count("for (") != code.count("loop variant"):
        yield "model.c", 1, "a loop that is not shown to end"
    for name in _HEADERS:
        text = texts.get(name, "")
        for found in re.finditer(r"/\*@|//@", text):
            yield name, _line(text, found.start()), "an annotation in a header"
        for found in _HEADER_DEFINE.finditer(text):
            yield name, _line(text, found.start()), f"a macro: {found[1]}"
    yield from _shared_arrays(model)
    yield from _calls(model)


def _calls(model: str) -> Iterator[tuple[str, int, str]]:
    """Calls of nodes in another order than that of the labels by which assertions know what they made."""
    for entry in _ENTRY.finditer(model):
        for call in _CALL.finditer(entry[1]):
            label = _LABEL.fullmatch(call[3])
            if label is None or not call[1].startswith(f"{label[1]}_"):
                line = _line(model, entry.start(1) + call.start())
                yield "model.c", line, f"a call of node {call[2]} without its label"


def _shared_arrays(model: str) -> Iterator[tuple[str, int, str]]:
    """Nodes that write to an array which they read under another name: their contracts say nothing then."""
    arrays = dict(_ARRAY.findall(model))
    starts = [found.start() for found in _NODE.finditer(model)]
    for start, stop in zip(starts, [*starts[1:], len(model)], strict=False):
        chunk = _AFTER_NODES.split(model[start:stop], maxsplit=1)[0]
        written = {name for clause in _ASSIGNED.findall(chunk) for name in _TENSOR.findall(clause)}
        for name in sorted(set(_TENSOR.findall(chunk)) & arrays.keys()):
            clash = sorted(w for w in written & arrays.keys() if w != name and arrays[w] == arrays[name])
            if clash:
                yield "model.c", _line(model, start), f"{name} and {clash[0]} are one array"


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
