"""The laws of a theory, read off its text: a page of their own, and a section on the operator's page."""

import re
from collections.abc import Iterable

from docs.markup import block, code, escape, prose
from sonnx.prove.mlw import Law, Module, Theory

# They lie beside the operators' pages; search finds the operators, not every law.
_HEAD = "---\nsearch:\n  exclude: true\n---\n\n"
_COMMENT_END = "*)"
_STARTS = re.compile(
    r"\s*(?:\(\*|(?:let |rec |ghost )*(?:lemma|goal|function|predicate|constant|clone|use|end)\b)"
)


def laws_path(subject: str) -> str:
    """Where the laws of a theory are printed: `onnx/clip` has `operators/clip-laws.md`."""
    return f"operators/{subject.removeprefix('onnx/').replace('/', '-')}-laws.md"


def count(theory: Theory) -> int:
    """How many laws a theory states."""
    return sum(len(module.laws) for module in theory.modules)


def laws_page(title: str, theory: Theory) -> str:
    """Print every law of a theory, with its comment and its statement."""
    parts = [f"{_HEAD}# Laws: {escape(title)}", _about(theory)]
    for module in theory.modules:
        if module.laws:
            parts.append(f"## {code(module.name)} {{ #{_anchor(module)} }}")
            parts += [_law(theory, module, law) for law in module.laws]
    return "\n\n".join(parts) + "\n"


def laws_section(theory: Theory, root: str) -> str:
    """Say on an operator's page how many laws there are, and where; `root` leads to the start of the site."""
    page = laws_path(theory.subject).removeprefix("operators/")
    counted = [(module, len(module.laws)) for module in theory.modules if module.laws]
    listed = ", ".join(
        f"[{code(module.name)}]({page}#{_anchor(module)}) ({laws})" for module, laws in counted
    )
    return (
        f"\n## Laws\n\nA theory in Why3 states [{count(theory)} laws]({page}) of what this page defines: "
        f"{listed}. [Trust]({root}trust.md) says which are proved and what that stands on.\n"
    )


def _about(theory: Theory) -> str:
    file, command = f"src/sonnx/operators/{theory.file}", f"sonnx prove --operators {theory.subject}"
    return (
        f"The {count(theory)} laws that {code(file)} states; {code(command)} proves them, and "
        "[Trust](../trust.md) says what that stands on. A law that begins with `let lemma` has a proof in "
        "the file, which guides the provers."
    )


def _anchor(module: Module) -> str:
    return f"module-{module.name.lower()}"


def _law(theory: Theory, module: Module, law: Law) -> str:
    lines = theory.text.split("\n")
    said = prose(comment(lines, law.line))
    stated = block("\n".join(statement(lines, law.line, module.last)))
    name = f"<strong>{escape(law.name)}</strong>"
    return f"<div><p>{name}{': ' if said else ''}{said}</p>{stated}</div>"


def comment(lines: list[str], line: int) -> str:
    """The comment above a law; laws that follow each other without a blank line share one."""
    above = line - 2
    while above >= 0 and lines[above].strip() and not lines[above].rstrip().endswith(_COMMENT_END):
        above -= 1
    if above < 0 or not lines[above].strip():
        return ""
    first = above
    while first > 0 and "(*" not in lines[first]:
        first -= 1
    text = " ".join(part.strip() for part in lines[first : above + 1])
    return text[text.index("(*") + 2 : -len(_COMMENT_END)].strip()


def statement(lines: list[str], line: int, last: int) -> Iterable[str]:
    """The lines of a law, without the proof that may follow."""
    end = line
    while end < last - 1 and lines[end].strip() and not _ends(lines[end]):
        end += 1
    found = lines[line - 1 : end]
    indent = len(found[0]) - len(found[0].lstrip())
    return [text[indent:].rstrip() if text[:indent].isspace() else text.strip() for text in found]


def _ends(text: str) -> bool:
    return text.strip().startswith("=") or _STARTS.match(text) is not None
