"""Some of these tests compile: into a folder of the session."""

from tests.native.conftest import _kernels_of_the_session  # noqa: F401  that is how a fixture is shared
