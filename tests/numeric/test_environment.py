"""The look at the processor's state, with the state really changed."""

import ctypes
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from sonnx.numeric.environment import NotIeeeError, require_ieee
from sonnx.numeric.real import real

pytestmark = pytest.mark.measured

ON_X86_LINUX = sys.platform == "linux" and platform.machine() == "x86_64"
needs_x86_linux = pytest.mark.skipif(
    not ON_X86_LINUX, reason="the layout of the floating-point environment is known for x86-64 Linux only"
)

# From <fenv.h> and the processor's manual: rounding directions; bits of the register MXCSR.
TO_NEAREST, DOWNWARD, UPWARD, TOWARD_ZERO = 0, 0x400, 0x800, 0xC00
FLUSH_TO_ZERO, DENORMALS_ARE_ZERO = 0x8000, 0x0040

SET_MXCSR = """
import ctypes

def set_mxcsr(flags):
    libm = ctypes.CDLL("libm.so.6")
    environment = (ctypes.c_uint32 * 8)()  # fenv_t: 32 bytes, MXCSR last
    libm.fegetenv(environment)
    environment[7] |= flags
    libm.fesetenv(environment)
"""


def outcome() -> str | None:
    """The message of require_ieee, or None: pytest itself must not run in a changed state."""
    try:
        require_ieee()
    except NotIeeeError as error:
        return str(error)
    return None


@pytest.fixture
def libm() -> Iterator[ctypes.CDLL]:
    library = ctypes.CDLL("libm.so.6")
    saved = (ctypes.c_uint32 * 8)()
    library.fegetenv(saved)
    yield library
    library.fesetenv(saved)


def under_flags(library: ctypes.CDLL, flags: int, look: Callable[[], str | None]) -> str | None:
    saved, changed = (ctypes.c_uint32 * 8)(), (ctypes.c_uint32 * 8)()
    library.fegetenv(saved)
    library.fegetenv(changed)
    changed[7] |= flags
    library.fesetenv(changed)
    try:
        return look()
    finally:
        library.fesetenv(saved)


def test_an_ieee_process_is_accepted() -> None:
    assert outcome() is None


@needs_x86_linux
@pytest.mark.parametrize("flags", [FLUSH_TO_ZERO, DENORMALS_ARE_ZERO, FLUSH_TO_ZERO | DENORMALS_ARE_ZERO])
def test_a_process_that_flushes_subnormals_is_refused(libm: ctypes.CDLL, flags: int) -> None:
    message = under_flags(libm, flags, outcome)
    assert message is not None
    assert "flushes subnormal numbers to zero" in message
    assert outcome() is None


def lifted() -> str | None:
    try:
        return str(real(np.array([5e-324])).tolist())
    except NotIeeeError as error:
        return str(error)


@needs_x86_linux
def test_numbers_are_not_lifted_to_the_reals_where_subnormals_are_read_as_zero(libm: ctypes.CDLL) -> None:
    assert "flushes subnormal numbers" in str(under_flags(libm, DENORMALS_ARE_ZERO, lifted))
    assert lifted() == str([Fraction(1, 2**1074)])


@needs_x86_linux
@pytest.mark.parametrize("direction", [DOWNWARD, UPWARD, TOWARD_ZERO])
def test_a_process_that_rounds_in_another_direction_is_refused(libm: ctypes.CDLL, direction: int) -> None:
    assert libm.fesetround(direction) == 0
    try:
        message = outcome()
    finally:
        libm.fesetround(TO_NEAREST)
    assert message is not None
    assert "does not round to nearest, ties to even" in message
    assert outcome() is None


@needs_x86_linux
def test_a_process_that_flushed_before_the_package_was_loaded_is_refused() -> None:
    script = f"""{SET_MXCSR}
set_mxcsr({FLUSH_TO_ZERO | DENORMALS_ARE_ZERO})
from sonnx.numeric.environment import NotIeeeError, require_ieee
try:
    require_ieee()
except NotIeeeError:
    print("refused")
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == "refused\n"
