"""A loop as one test: quick where questions are many and small; all complaints are told at once."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest
from _pytest.mark import ParameterSet

_MOST_TOLD = 20
Test = Callable[..., None]
Labels = Callable[[Any], object] | Sequence[object] | None


def for_each(
    names: str | Sequence[str],
    values: Iterable[Any],
    ids: Labels = None,
) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, with a loop in one test: for functions that need no fixture made anew.

    Where some of the values fail, the others are tried all the same, and the test tells which failed and why.
    """
    called = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    values = list(values)
    rows = [tuple(value) if len(called) > 1 else (value,) for value in values]
    assert rows, "a loop over nothing asks nothing"
    assert not any(isinstance(value, ParameterSet) for value in values), "a loop knows no marks"

    def looped(test: Test) -> Test:
        assert not inspect.isgeneratorfunction(test), "a generator that nobody runs asks nothing"

        @wraps(test)
        def loop(**given: Any) -> None:
            complaints = []
            for number, row in enumerate(rows):
                try:
                    asked: Callable[..., object] = test
                    said = asked(**dict(zip(called, row, strict=True)), **given)
                    assert said is None, "a test returns nothing"
                # One row that is skipped would hide what others complain of.
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                    notes = "\n".join(getattr(error, "__notes__", ()))
                    complaints.append(
                        f"[{_shown(row, ids, number)}] {type(error).__name__}: {error}\n{notes}"
                    )
            if complaints:
                told = "\n".join(complaints[:_MOST_TOLD])
                pytest.fail(f"{len(complaints)} of {len(rows)} fail:\n{told}", pytrace=False)

        vars(loop)["drawn"] = getattr(test, "drawn", getattr(test, "is_hypothesis_test", False))
        # Hypothesis runs inside the loop; to its plugin this is a test like others.
        for name in [name for name in vars(loop) if "hypothesis" in name]:
            delattr(loop, name)
        signature = inspect.signature(test)
        rest = [each for name, each in signature.parameters.items() if name not in called]
        vars(loop)["__signature__"] = signature.replace(parameters=rest)
        return loop

    return looped


def _shown(row: tuple[Any, ...], ids: Labels, number: int) -> str:
    if callable(ids):
        return "-".join(str(ids(value)) for value in row)
    if ids is not None:
        return str(list(ids)[number])
    return "-".join(map(_short, row))


def _short(value: object) -> str:
    try:
        return repr(value)[:60]
    except ValueError:  # Python writes no integer of thousands of digits
        return type(value).__name__
