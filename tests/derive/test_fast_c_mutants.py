"""The comparisons of derived kernels can fail: one error in the walk or in the kernel of boxes is noticed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.derive import test_fast_c_boxes as moving
from tests.derive import test_fast_c_elements as calculating
from tests.derive.kernel_support import executed
from tests.derive.wrong_walks import Mutant as Wrong
from tests.derive.wrong_walks import see_noticed
from tests.native.support import quick_compiler

from sonnx.derive.c_elements import Floats, Halves, Integers
from sonnx.derive.c_numbers import Bits, Calculated, Numbers
from sonnx.native import cache
from sonnx.plan.sources import kernel_source
from sonnx.vocabulary.kernel import KernelCall

pytestmark = pytest.mark.mutant


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own: no mutant is ever loaded elsewhere."""
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_loaded", {})
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path))


@dataclass(frozen=True)
class Mutant:
    """A text of a kernel in place of which another one stands, and what is to notice it."""

    test: Callable[[], None]
    before: str
    after: str


def of_floats(word: str, name: str = "float") -> Callable[[], None]:
    return lambda: calculating.compare(calculating.ON_FLOATS[word], name)


def of_integers(word: str, name: str) -> Callable[[], None]:
    return lambda: calculating.compare(calculating.ON_INTEGERS[word], name)


def of_bits(name: str) -> Callable[[], None]:
    return lambda: calculating.test_what_is_only_chosen_keeps_every_bit_of_every_type(name)


def of_boxes(what: str, name: str = "float") -> Callable[[], None]:
    return lambda: moving.compare(moving.MOVES[what], name)


# Of loops: what every derived text has, and what each kind of element says in its own way.
IN_LOOPS = {
    "the last elements left out": Mutant(
        of_floats("polynomial"), "count - done, from_X", "count - done - 1, from_X"
    ),
    "a part from elsewhere": Mutant(
        of_floats("polynomial"), "some(part, PART, from_X + done", "some(part, PART, from_X"
    ),
    "a task too short": Mutant(
        of_floats("polynomial"), "? left : p->task_elements", "? left : p->task_elements - 1"
    ),
    "less or equal for less": Mutant(of_floats("special"), "Y <= X", "Y < X"),
    "a NaN that is none": Mutant(of_floats("maximum"), "X != X", "X == X"),
    "a zero without its sign": Mutant(of_floats("special"), "__builtin_signbit(X) != 0", "1"),
    "a literal beside itself": Mutant(of_floats("literals"), "0x1.555556p-2f", "0x1.555554p-2f"),
    "a half that is not rounded": Mutant(
        of_floats("polynomial", "float16"),
        "float_to_half(sum_wide * X_wide)",
        "float_to_half((X_wide + Y_wide) * X_wide)",
    ),
    "a sum that is rounded": Mutant(
        of_floats("wide", "float16"), "wide * wide2", "half_to_float(float_to_half(wide * wide2))"
    ),
    "a sum that saturates": Mutant(
        of_integers("polynomial", "int8"), "(uint32_t)X + (uint32_t)Y", "(X > 0 && Y > 127 - X ? 127 : X + Y)"
    ),
    "a divisor that traps no more": Mutant(of_integers("quotient", "int16"), "X / divisor", "X / 1"),
    "a magnitude of what is positive": Mutant(of_integers("magnitude", "int64"), "X < 0 ?", "X > 0 ?"),
    "a mask of one bit": Mutant(of_bits("double"), "0 - (element)", "0 + (element)"),
    "the first word for all": Mutant(of_bits("complex128"), "from_X[word]", "from_X[i * WORDS]"),
    "the other element": Mutant(of_bits("bool"), "(X & is", "(Y & is"),
}

IN_BOXES = {
    "an axis too short": Mutant(
        of_boxes("middle axes"), "++at->index[k] < axis.size", "++at->index[k] < axis.size - 1"
    ),
    "an axis that does not go back": Mutant(
        of_boxes("repeated in turn"), "at->from -= (axis.size - 1) * axis.from;", ""
    ),
    "a task that begins elsewhere": Mutant(
        of_boxes("middle axes"), "at->offset = position % run;", "at->offset = 0;"
    ),
    "a phase forgotten": Mutant(
        of_boxes("repeated outside"), "copy(to, line + phase, first);", "copy(to, line, first);"
    ),
    "a line that does not double": Mutant(
        of_boxes("repeated outside"),
        "n = least(done, rest - done);",
        "n = least(1, rest - done);\n        done += n; again[done - 1] = 0;",
    ),
    "parts that are not the same": Mutant(of_boxes("repeated long lines"), "size % period == 0", "1"),
    "the stride of another": Mutant(
        of_boxes("every third, backwards"), "to[i] = from[i * stride];", "to[i] = from[i];"
    ),
    "every second as every third": Mutant(of_boxes("every second"), "from[2 * i]", "from[3 * i]"),
    "not turned round": Mutant(of_boxes("turned round"), "from[-i]", "from[i - count + 1]"),
    "a column beside itself": Mutant(
        of_boxes("one column joined"), "to[i * apart] = from", "to[i * apart - 1] = from"
    ),
    "tiles that are not transposed": Mutant(
        of_boxes("two axes"),
        "to[i * apart + j] = from[i + j * stride];",
        "to[i * apart + j] = from[j + i * stride];",
    ),
    "tiles that are cut off": Mutant(of_boxes("two axes"), "line.size - j);", "0);"),
    "rows that are cut off": Mutant(
        of_boxes("two axes"), "for (; i < rows; i++) step", "for (; i < rows - 1; i++) step"
    ),
    "a task that begins in a row": Mutant(
        of_boxes("two axes"), "step(to + column, 1, from + column * line.from", "step(to + column, 1, from"
    ),
    "another constant": Mutant(of_boxes("padded"), "(element)box->from : 0", "(element)(box->from + 1) : 0"),
    "a box left out": Mutant(of_boxes("padded"), "begin -= box->elements;", "begin = 0;"),
    "an operand of another": Mutant(of_boxes("joined inside"), "operands[box->operand]", "operands[0]"),
    "a run written elsewhere": Mutant(
        of_boxes("long lines joined"),
        "element *to = at->to + at->offset * box->line.to;",
        "element *to = at->to;",
    ),
    "the rest of a streamed run": Mutant(
        of_boxes("long lines joined"), "if (first < n) {", "if (first == 0) {"
    ),
    "short runs, one too few": Mutant(
        of_boxes("repeated few times"), "at->index[0] += runs - 1;", "at->index[0] += runs;"
    ),
}


@pytest.mark.parametrize("name", [*IN_LOOPS, *IN_BOXES])
def test_a_wrong_kernel_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = (IN_LOOPS | IN_BOXES)[name]
    changed: list[str] = []

    def spoilt(call: KernelCall) -> str:
        text = kernel_source(call)
        if mutant.before in text:
            changed.append(call.source)
        return text.replace(mutant.before, mutant.after)

    def wrong(*arguments: object, **how: object) -> object:
        return executed(*arguments, **{**how, "source": spoilt})  # type: ignore[arg-type]  # handed on

    mutant.test()
    monkeypatch.setattr(calculating, "executed", wrong)
    monkeypatch.setattr(moving, "executed", wrong)
    with pytest.raises(AssertionError):
        mutant.test()
    assert changed, "the text of the kernels has changed: spoil them anew"


# The walk itself, not what it once wrote: what is changed here is changed for every operator.
IN_THE_WALK = {
    "branches the other way round": Wrong(
        Numbers._select,
        "choice(condition, chosen, otherwise)",
        "choice(condition, otherwise, chosen)",
        of_floats("sign"),
    ),
    "less or equal for less": Wrong(Numbers._less, '"<"', '"<="', of_floats("maximum")),
    "less for less or equal": Wrong(Numbers._less_equal, '"<="', '"<"', of_floats("special")),
    "both for either": Wrong(
        Numbers._either, "({first}) | ({second})", "({first}) & ({second})", of_floats("special")
    ),
    "a truth for its opposite": Wrong(Numbers._opposite, 'f"!({self', 'f"({self', of_floats("special")),
    "masks of one bit": Wrong(Bits._opposite, 'f"~{self(', 'f"!{self(', of_bits("int32")),
    "a difference the other way round": Wrong(
        Floats.calculated, "self.both(term)", "self.both(term)[::-1]", of_floats("polynomial")
    ),
    "a sum for a product": Wrong(Calculated._multiply, '"*"', '"+"', of_floats("polynomial")),
    "a literal with few digits": Wrong(
        Floats.number, "text = format_float(value)", 'text = f"{value:.6e}"', of_floats("literals")
    ),
    "infinities without their sign": Wrong(
        Floats.number, 'text.replace("inf"', '"inf".replace("inf"', of_floats("literals")
    ),
    "a root in double": Wrong(
        Floats._root, "__builtin_sqrt{self._suffix}", "__builtin_cbrt", of_floats("sign")
    ),
    "what the nearest multiple leaves": Wrong(
        Floats._left_over, "__builtin_fmod{", "__builtin_remainder{", of_floats("left over")
    ),
    "what is left of the other one": Wrong(
        Halves._left_over, "term.arguments)", "term.arguments[::-1])", of_floats("left over", "float16")
    ),
    "any zero for -0": Wrong(
        Floats._is_minus_zero, " & (__builtin_signbit({x}) != 0)", "", of_floats("special")
    ),
    "NaNs by themselves": Wrong(Floats._is_nan, "{x} != {x}", "{x} == {x}", of_floats("maximum")),
    "integers that never wrap": Wrong(
        Integers.calculated,
        "({self.type})(({wide}){first} {sign} ({wide}){second})",
        "({first} / 2 {sign} {second} / 2) * 2",
        of_integers("polynomial", "int8"),
    ),
    "unsigned magnitudes": Wrong(
        Integers._absolute, "{x} < 0 ? {negative} : {x}", "{x}", of_integers("magnitude", "int16")
    ),
    "the least integer as a number": Wrong(
        Integers.number, 'return f"{kind}_MIN"', 'return f"{kind}_MAX"', of_integers("lowest", "int32")
    ),
    "divisors that are all 1": Wrong(
        Integers._truncated, '"1", b))', 'b, "1"))', of_integers("quotient", "int32")
    ),
    "halves rounded at the end alone": Wrong(
        Halves.rounded, "if self._is_wide(term):", "if True:", of_floats("polynomial", "float16")
    ),
    "sums of halves that are rounded": Wrong(
        Halves.rounded, "if self._is_wide(term):", "if False:", of_floats("wide", "float16")
    ),
    "halves compared by their bits": Wrong(
        Halves.compared, "self.float, term", "self, term", of_floats("maximum", "float16")
    ),
    "a half without its sign": Wrong(Halves._negate, "^ 0x8000", "| 0x8000", of_floats("sign", "float16")),
    "the bits of a half cut off": Wrong(
        Halves._absolute, "& 0x7fff", "& 0x7bff", of_floats("sign", "float16")
    ),
    "scalars that are read again": Wrong(
        Numbers.load, "from_{name}[i]", "from_{name}[0]", of_floats("polynomial")
    ),
}


@pytest.mark.parametrize("name", IN_THE_WALK)
def test_a_wrong_walk_to_fast_c_is_noticed(name: str) -> None:
    see_noticed(IN_THE_WALK[name])
