"""Fixtures: bytes that other projects published, and records in the form of the oracle."""

from typing import Any

import pytest

from clusters import short
from log_reader import Read
from paths import shared, vectors

ENTRIES = ("record_batches", "message_set", "mixed", "message")


def name_of(vector: dict[str, Any]) -> str:
    return str(vector["file"]).removesuffix(".bin")


@pytest.fixture
def data(vector: dict[str, Any]) -> bytes:
    """The vector's bytes, after an offset and a size where the vector lacks these 12 bytes."""
    data = (shared() / "vectors" / vector["file"]).read_bytes()
    if vector["kind"] in ("message", "batch_body"):
        offset = int(vector["wrap"]["prepend"].partition("offset=")[2].partition(",")[0])
        data = offset.to_bytes(8, "big") + len(data).to_bytes(4, "big") + data
    return data


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test marked ``vectors(kind, ...)`` once for each vector of these kinds."""
    marker = metafunc.definition.get_closest_marker("vectors")
    if marker is None:
        return
    validity = marker.kwargs.get("validity")
    names = marker.kwargs.get("names")
    states_records = marker.kwargs.get("states_records", False)
    chosen = {
        name_of(vector): vector
        for vector in vectors()
        if vector["kind"] in (marker.args or ENTRIES)
        and (validity is None or vector["validity"] in validity)
        and (names is None or name_of(vector) in names)
        and (not states_records or isinstance(vector["expected"].get("records"), list))
    }
    if names is not None and chosen and len(chosen) != len(names):
        raise ValueError(set(names) - set(chosen))
    if chosen:
        metafunc.parametrize("vector", chosen.values(), ids=chosen)
    else:
        reason = f"no vectors in {shared()}; set MAGICBYTE_SHARED"
        metafunc.parametrize("vector", [pytest.param({}, marks=pytest.mark.skip(reason=reason))])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "vectors(*kinds, validity=None, names=None, states_records=False): run for each such vector",
    )


class RecordsRead(Read):
    """Read all records of bytes in memory, control records too, and skip damage."""

    dispositions = ("delivered", "control")

    def records(self, begin: int, end: int) -> list[dict[str, Any]]:
        """Return the records of entries at positions [begin, end), in the form of the oracle."""
        return [
            {
                "offset": row["offset"],
                "timestamp": row["timestamp"],
                "key": short(row["key"]),
                "value": short(row["value"]),
                "headers": [
                    [header["key"], short(header["value"])] for header in row["headers"] or ()
                ],
                "sequence": row["sequence"],
            }
            for row in self.rows
            if begin <= row["position"] < end
        ]


@pytest.fixture(scope="session")
def read() -> type[RecordsRead]:
    return RecordsRead


@pytest.fixture
def result(data: bytes) -> RecordsRead:
    """The result of reading the vector's bytes with magicbyte."""
    return RecordsRead(data)
