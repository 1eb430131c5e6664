"""Runs tests of codecs on compressed bytes that other projects published."""

from typing import Any

import pytest

from paths import shared, vectors


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test marked ``vectors(kind, ...)`` once for each vector of these kinds."""
    marker = metafunc.definition.get_closest_marker("vectors")
    if marker is None:
        return
    entries = vectors(*marker.args)
    if entries:
        metafunc.parametrize("vector", entries, ids=[entry["file"] for entry in entries])
    else:
        reason = f"no vectors in {shared()}; set MAGICBYTE_SHARED"
        metafunc.parametrize("vector", [pytest.param({}, marks=pytest.mark.skip(reason=reason))])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "vectors(*kinds): run for each vector of these kinds")


@pytest.fixture
def vector_bytes(vector: dict[str, Any]) -> bytes:
    return (shared() / "vectors" / str(vector["file"])).read_bytes()
