"""Wrong walks: the text of one function says something else, and a check of that walk is to notice it."""

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass
from inspect import getsource, unwrap
from textwrap import dedent
from types import CodeType
from typing import Any

import pytest

from sonnx.terms.term import DefinitionError

# What a test fails by where a walk is wrong; a mistake in the text of a mutant is none of these.
FAILURES = (AssertionError, pytest.fail.Exception, DefinitionError, LookupError, ValueError, ArithmeticError)


@dataclass(frozen=True)
class Mutant:
    """A function, method or property of a walk, a text in it, what is in its place, and what notices it."""

    function: Any
    before: str
    after: str
    check: Callable[[], None]

    @property
    def changed(self) -> Any:
        """The function itself, which a property or a memory may be wrapped around."""
        return unwrap(getattr(self.function, "fget", self.function))

    @property
    def code(self) -> CodeType:
        """The function compiled with the other text."""
        text = dedent(getsource(self.changed))
        assert text.count(self.before) == 1, f"this text is to stand there once: {self.before}"
        tree = ast.parse(text.replace(self.before, self.after))
        (defined,) = tree.body
        assert isinstance(defined, ast.FunctionDef)
        defined.decorator_list = []
        compiled = compile(tree, "<wrong>", "exec").co_consts
        return next(each for each in compiled if isinstance(each, CodeType) and each.co_name == defined.name)


def forget() -> None:
    """Nothing that a walk remembers outlives a change of it; traces and calls hang on none."""
    for name, module in list(sys.modules.items()):
        if name.startswith("sonnx.derive.") and not name.endswith((".tracing", ".calls")):
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()


def see_noticed(mutant: Mutant) -> None:
    """The check passes; with the wrong function in the place of the right one it fails."""
    mutant.check()
    with pytest.MonkeyPatch.context() as patch:
        # In the code itself, so that every table and name that holds the function has the wrong one.
        patch.setattr(mutant.changed, "__code__", mutant.code)
        # Nobody reads how two long lists differ, and to find that out can take minutes.
        patch.setattr("_pytest.assertion.util._reprcompare", None)
        forget()
        with pytest.raises(FAILURES):
            mutant.check()
    forget()
