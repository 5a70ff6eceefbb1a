"""Plain C99 with its ACSL contract, from the definition of an operator: to be read and proved.

An element of the result is a function of its own. Its contract is the definition as it was traced, written as
a logic function; its body is the definition as it is executed, without what shapes decide. One flat loop
calls it for every element.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from sonnx.derive.c_types import C_TYPES, place, same
from sonnx.derive.conversion_steps import by_steps
from sonnx.derive.plain_domains import Scan, scan
from sonnx.derive.plain_expressions import CWriter, LogicWriter
from sonnx.derive.plain_folds import Steps, fold_in, logic, loops, steps_of
from sonnx.derive.plain_pieces import Piece
from sonnx.derive.plain_statements import Body, Names, comment, head, index_type, said_of
from sonnx.derive.plain_terms import NoPlainError, Setting, Writer, plainly, word_name
from sonnx.derive.ranges import fold_ranges, simplified, without_empty
from sonnx.derive.tracing import element_type, traced
from sonnx.model.dtype import DType
from sonnx.terms.tensors import Made
from sonnx.terms.term import Sort, Term
from sonnx.terms.tracing import Element, Trace
from sonnx.terms.walking import parts
from sonnx.terms.words import Named
from sonnx.vocabulary.operator import Operator, operand_names
from sonnx.vocabulary.plain import PlainRequest, PlainText

# Operators on bits whose operands Frama-C sorts.
_SORTED = frozenset({"bits_and", "bits_or", "bits_xor"})
_PAD = " " * 4
_LOGIC = " " * 6
_WIDTH = 110


def plain(operator: Operator, request: PlainRequest) -> PlainText:
    """The C of a node with its contract; raises NoPlainError where there is none."""
    if operator.definition is None:
        raise NoPlainError(f"{operator.name} has no C: no definition says what it would be made of")
    found = traced(operator, request.inputs, request.attributes, request.constants)
    element = element_type(operator, request.inputs)
    names = operand_names(operator.contract.outputs, len(found.made))
    # What has no name, and what has no element, is nothing to be made.
    wanted = [
        (name, made)
        for name, made in zip(names, found.made, strict=True)
        if name in request.outputs and 0 not in made.shape
    ]
    several = len(wanted) > 1
    written = []
    for name, made in wanted:
        function = f"{request.function}_{name}" if several else request.function
        if found.element is None:
            written.append(_of_tensors(request, found, element, name, made, function))
        else:
            shorter = said_of(operator.definition.executed) if _is_shorter(found.element) else []
            written.append(_of_elements(operator, request, found, element, name, function, shorter))
    texts = [each.text for each in written]
    if several:
        texts.append(_one_by_one(request.function, written))
    words = {name: text for each in written for name, text in each.words.items()}
    helpers = {name for each in written for name in each.helpers}
    text = "\n".join([*said_of(operator.definition.function), "\n\n".join(texts)])
    # An operator on elements makes one output.
    guard = written[0].guard if written else None
    said = ("", "") if guard is None else (guard.name, guard.outside)
    return PlainText(text, tuple(sorted(helpers)), words, *said)


@dataclass(frozen=True)
class _Written:
    """The functions that make one output, and what they assign and ensure."""

    function: str
    text: str
    assigns: str
    ensures: str
    words: dict[str, str]
    helpers: set[str]
    guard: Scan | None = None


def _one_by_one(function: str, written: Sequence[_Written]) -> str:
    """The function that makes one output after the other."""
    assigns = ", ".join(each.assigns for each in written)
    ensures = "".join(f"\n    ensures {each.ensures};" for each in written)
    calls = "\n".join(f"{_PAD}{each.function}();" for each in written)
    return f"/*@ assigns {assigns};{ensures} */\nstatic void {function}(void)\n{{\n{calls}\n}}"


def _is_fused(request: PlainRequest) -> bool:
    return request.attributes.get("accumulate") == "fused"


def _result(request: PlainRequest, name: str) -> DType:
    found = request.outputs[name].dtype
    assert found is not None  # the graph conforms
    return found


def _is_shorter(element: Element) -> bool:
    """Whether code goes another way than the contract."""
    return element.executed is not element.term


def _of_elements(
    operator: Operator,
    request: PlainRequest,
    trace: Trace,
    element: DType,
    name: str,
    function: str,
    shorter: list[str],
) -> _Written:
    """A function of elements, which are its parameters."""
    meant = trace.element
    assert meant is not None  # that is why it is asked for
    result, names = _result(request, name), Names()
    called = {operand: names.fresh(operand) for operand in meant.names}
    setting = Setting(element, result, request.prefix, called=called)
    types = {
        operand: DType.BOOL if given.sort is Sort.TRUTH else element
        for operand, given in trace.operands.items()
    }
    term, executed = (
        by_steps(plainly(each, element, fused=_is_fused(request)), element, result)
        for each in (meant.term, meant.executed)
    )
    parameters = [f"{setting.c_name(types[operand])} {called[operand]}" for operand in meant.names]
    logical = [f"{setting.logic_name(types[operand])} {called[operand]}" for operand in meant.names]
    writer = LogicWriter(setting)
    lines = _cases(term, element) if _is_shorter(meant) else []
    in_place = _in_place(term, setting, result)
    if in_place is None:
        lines += head(setting.logic_name(result), f"{function}_at", logical)
        lines += Body(writer, _with([*called.values()]), is_logic=True).defined(term, result, _LOGIC)
        lines[-1] += "; */"
    c = CWriter(setting)
    said = in_place(called) if in_place else f"{function}_at({', '.join(called.values())})"
    used = {each.data for each in parts(executed) if each.word == "value"}
    lines += [
        *shorter,
        "/*@ assigns \\nothing;",
        f"    ensures {same(C_TYPES[result].name)}(\\result, {said}); */",
        f"static {setting.c_name(result)} {function}_element({', '.join(parameters)})",
        "{",
        *(f"{_PAD}(void){called[each]};" for each in meant.names if each not in used),
        *Body(c, names).returned(executed, result, _PAD),
        "}",
    ]

    def at(index: str) -> str:
        return ", ".join(read(each, index) for each in meant.names)

    def read(operand: str, index: str) -> str:
        return f"{request.arrays[operand]}[{index if trace.operands[operand].rank else 0}]"

    count = prod(request.outputs[name].sizes or ())
    guard = scan(operator, meant, element, function, count, read) if request.guarded else None
    lines += [] if guard is None else ["", *guard.lines]
    contract = in_place and partial(_said_at, in_place, meant.names, read)
    return _written(request, name, function, lines, "i", at, [writer, c], setting, guard, contract)


def _said_at(
    in_place: Callable[[Mapping[str, str]], str],
    names: Sequence[str],
    read: Callable[[str, str], str],
    index: str,
) -> str:
    return in_place({each: read(each, index) for each in names})


def _in_place(term: Term, setting: Setting, result: DType) -> Callable[[Mapping[str, str]], str] | None:
    """The definition on operands that are called so, where a contract says it itself; mostly None.

    Frama-C sorts the operands of some operators anew in every place, and no prover knows that it may. Within
    one contract it sorts them alike, but a logic function elsewhere may have them the other way round.
    """
    if not _SORTED.intersection(each.word for each in parts(term)):
        return None

    def text(called: Mapping[str, str]) -> str:
        writer = LogicWriter(replace(setting, called=called))
        return " ".join(Body(writer, _with([]), is_logic=True).defined(term, result, ""))

    return text


def _with(used: Sequence[str]) -> Names:
    names = Names()
    for each in used:
        names.fresh(each)
    return names


def _cases(term: Term, kind: DType) -> list[str]:
    """The cases of a definition in a comment before the contract, where the code goes another way."""
    lines: list[str] = []
    while term.word == "select" and term.data is not None:
        first, last = term.data
        lines += comment(first, kind, "") + comment(last, kind, "")
        term = term.arguments[2]
    return lines


@dataclass(frozen=True)
class _Axes:
    """The indices of a result that its element depends on, by axis; of an axis of one place nobody asks."""

    shape: tuple[int, ...]
    names: Mapping[int, str]

    @property
    def indices(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.names.values())

    @property
    def required(self) -> str:
        """What holds of them."""
        return " && ".join(f"0 <= {name} < {self.shape[axis]}" for axis, name in self.names.items())

    def places(self, flat: str) -> str:
        """Those of the element at `flat` in C order."""
        return ", ".join(place(flat, self.shape, axis) for axis in self.names)


def _of_tensors(
    request: PlainRequest, trace: Trace, element: DType, name: str, made: Made, function: str
) -> _Written:
    """A function of the indices of an element, which reads arrays."""
    result = _result(request, name)
    shapes = {operand: given.shape for operand, given in trace.operands.items()}
    ranges = {index.data: (0, size - 1) for index, size in zip(made.indices, made.shape, strict=True)}
    every = {**ranges, **fold_ranges(made.term)}
    running = [each.data[1] for each in parts(made.term) if each.word == "fold"]
    names = Names()
    called = {each: names.fresh(each) for each in (*every, *running)}
    setting = Setting(element, result, request.prefix, shapes, request.arrays, every, called)
    meant = without_empty(made.term, {operand: prod(shape) for operand, shape in shapes.items()})
    fused = _is_fused(request)
    term, executed = (plainly(each, element, fused=fused) for each in (meant, simplified(meant, ranges)))
    asked = _indices(term)
    axes = _Axes(
        made.shape,
        {axis: called[each.data] for axis, each in enumerate(made.indices) if each.data in asked},
    )
    lines, steps, writers = _contract(function, setting, term, axes)
    c = CWriter(setting)
    kind = index_type(executed, every)
    used = {called[index] for index in _indices(executed)}
    lines += [
        f"/*@ requires {axes.required};" if axes.required else "/*@ assigns \\nothing;",
        *(["    assigns \\nothing;"] if axes.required else []),
        f"    ensures {same(C_TYPES[result].name)}(\\result, {_called(f'{function}_at', axes.indices)}); */",
        f"static {setting.c_name(result)} {function}_element({_integers(kind, axes.indices) or 'void'})",
        "{",
        *(f"{_PAD}(void){each};" for each in axes.indices if each not in used),
        *_indexed_body(executed, steps, c, names, kind),
        "}",
    ]

    return _written(request, name, function, lines, "t", axes.places, [*writers, c], setting)


def _indices(term: Term) -> set[str]:
    return {each.data for each in parts(term) if each.word == "index"}


def _integers(kind: str, names: Sequence[str]) -> str:
    return ", ".join(f"{kind} {each}" for each in names)


def _called(function: str, arguments: Sequence[str] | str) -> str:
    """A logic function with its arguments; one without parameters has no brackets."""
    listed = arguments if isinstance(arguments, str) else ", ".join(arguments)
    return f"{function}({listed})" if listed else function


def _contract(
    function: str, setting: Setting, term: Term, axes: _Axes
) -> tuple[list[str], Steps | None, list[Writer]]:
    """The logic functions of a definition by indices, its fold as C has to follow it, and what wrote them."""
    label = "{L}" if any(each.word in ("read", "read_flat") for each in parts(term)) else ""
    writer = LogicWriter(setting)
    lines: list[str] = []
    steps, writers = None, [writer]
    fold = fold_in(term)
    if fold is not None:
        steps = steps_of(fold, setting, function, axes.indices)
        stepwise = LogicWriter(setting, steps.kind)
        lines += logic(fold, steps, stepwise, label)
        writer.known[fold] = Piece(steps.whole)
        writer.carried = steps.kind
        writers.append(stepwise)
    lines += head(
        setting.logic_name(setting.result),
        f"{function}_at{label}",
        [f"integer {each}" for each in axes.indices],
    )
    lines += Body(writer, _with(axes.indices), is_logic=True).defined(term, setting.result, _LOGIC)
    lines[-1] += "; */"
    return lines, steps, [*writers]


def _indexed_body(term: Term, steps: Steps | None, writer: CWriter, names: Names, index: str) -> list[str]:
    """The loops of the fold, if it makes more than one step, and the rest."""
    fold = fold_in(term)
    body = Body(writer, names, index=index)
    lines: list[str] = []
    if fold is not None and steps is not None:
        if fold not in body.always(term):
            raise NoPlainError("there is no plain C for a fold that a condition on indices guards")
        writer.carried = steps.kind
        running = writer.setting.called[fold.data[1]]
        lines = loops(fold, steps, writer, names, index)
        writer.known, writer.values = {fold: Piece(running)}, {}
    return [*lines, *body.returned(term, writer.setting.result, _PAD)]


def _written(
    request: PlainRequest,
    name: str,
    function: str,
    lines: list[str],
    index: str,
    arguments: Callable[[str], str],
    writers: Sequence[Writer],
    setting: Setting,
    guard: Scan | None = None,
    in_place: Callable[[str], str] | None = None,
) -> _Written:
    """The flat loop over all elements behind the function of one, whose contract may be said in place."""
    output, count = request.arrays[name], prod(request.outputs[name].sizes or ())
    equal = same(C_TYPES[setting.result].name)

    def made(last: str, pad: str) -> str:
        begin = f"\\forall integer k; 0 <= k < {last} ==>"
        meant = in_place("k") if in_place else _called(f"{function}_at", arguments("k"))
        text = f"{equal}({output}[k], {meant})"
        return f"{begin} {text}" if len(begin) + len(text) < _WIDTH - 25 else f"{begin}\n{pad}{text}"

    assigns = f"{output}[0 .. {count - 1}]"
    lines += [
        "",
        *([] if guard is None else [f"/*@ requires {guard.required};"]),
        f"{'/*@' if guard is None else '   '} assigns {assigns};",
        f"    ensures {made(str(count), ' ' * 6)}; */",
        f"static void {function}(void)",
        "{",
        f"    /*@ loop invariant 0 <= {index} <= {count};",
        f"        loop invariant {made(index, ' ' * 10)};",
        f"        loop assigns {index}, {assigns};",
        f"        loop variant {count} - {index}; */",
        f"    for (int32_t {index} = 0; {index} < {count}; {index}++) {{",
        f"        {output}[{index}] = {function}_element({arguments(index)});",
        "    }",
        "}",
    ]
    words: dict[str, str] = {}
    helpers: set[str] = set()
    for writer in writers:
        helpers |= writer.helpers
        for said_word in writer.words.values():
            _add_word(said_word, setting, words, helpers)
    ensures = made(str(count), " " * 6)
    return _Written(function, "\n".join(lines), assigns, ensures, words, helpers, guard)


def _add_word(said: Named, setting: Setting, words: dict[str, str], helpers: set[str]) -> None:
    """The function of a named word, after those of the words in its body."""
    kind = setting.element
    name = word_name(said, kind)
    if name in words:
        return
    names = Names()
    called = {each: names.fresh(each) for each in said.parameters}
    own = Setting(kind, kind, setting.prefix, called=called)
    logical, c = LogicWriter(own), CWriter(own)
    term = plainly(said.body, kind, fused=False)
    element = own.c_name(kind)
    parameters = [f"{element} {each}" for each in called.values()]
    kinds = [f"{own.logic_name(kind)} {each}" for each in called.values()]
    lines = head(own.logic_name(kind), name, kinds)
    lines += Body(logical, _with([*called.values()]), is_logic=True).defined(term, kind, _LOGIC)
    lines[-1] += "; */"
    lines += [
        "/*@ assigns \\nothing;",
        f"    ensures {same(C_TYPES[kind].name)}(\\result, {name}({', '.join(called.values())})); */",
        f"static {element} {name}({', '.join(parameters)})",
        "{",
        *Body(c, names).returned(term, kind, _PAD),
        "}",
    ]
    for inner in (*logical.words.values(), *c.words.values()):
        _add_word(inner, setting, words, helpers)
    helpers |= c.helpers
    words[name] = "\n".join(lines)
