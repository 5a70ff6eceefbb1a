"""Expressions of C and ACSL with as few parentheses as they need: texts that know how tightly they bind."""

from dataclasses import dataclass

# How tightly operators bind, from the loosest; both languages agree on these.
CHOICE, OR, AND, EQUALITY, ORDER, ADDITIVE, PRODUCT, UNARY, PRIMARY = range(9)


@dataclass(frozen=True)
class Piece:
    """A part of an expression, and how tightly its outermost operator binds."""

    text: str
    binds: int = PRIMARY

    def within(self, binds: int) -> str:
        """The text where something must bind so tightly."""
        return self.text if self.binds >= binds else f"({self.text})"


def binary(sign: str, binds: int, a: Piece, b: Piece) -> Piece:
    """Two operands; operators of one level are taken from the left."""
    return Piece(f"{a.within(binds)} {sign} {b.within(binds + 1)}", binds)


def joined(sign: str, binds: int, a: Piece, b: Piece) -> Piece:
    """Two conditions; which of several is asked first does not matter, but `&&` in `||` is set apart."""
    mixed = AND if binds == OR else binds
    texts = [each.text if each.binds == binds else each.within(mixed + 1) for each in (a, b)]
    return Piece(f" {sign} ".join(texts), binds)


def call(name: str, *arguments: Piece) -> Piece:
    """A function of arguments; a logic function without any is called by its name alone."""
    return Piece(f"{name}({', '.join(each.text for each in arguments)})")


def cast(name: str, a: Piece) -> Piece:
    """A value in another type."""
    return Piece(f"({name}){a.within(UNARY)}", UNARY)


def prefixed(sign: str, a: Piece) -> Piece:
    """An operator before its operand; two minus signs do not become one operator."""
    text = a.within(UNARY)
    return Piece(f"{sign}({text})" if text.startswith(sign) else f"{sign}{text}", UNARY)


def choice(condition: Piece, a: Piece, b: Piece) -> Piece:
    """One of two, by a condition; a choice within the first is set apart."""
    return Piece(f"{condition.within(OR)} ? {a.within(OR)} : {b.text}", CHOICE)
