"""How many examples a property is tried on: few in `make test`, more in `make test-all`."""

deep = False


def examples(number: int) -> int:
    """The number for the tier that runs; a fifth of it, and ten at least, in the quick one."""
    return number if deep else min(number, max(10, number // 5))
