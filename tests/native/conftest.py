"""Kernels of these tests are kept in a folder of the session, never in the user's."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _kernels_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SONNX_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        yield
