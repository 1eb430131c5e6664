"""Other projects' bytes, where they are, and how their manifest states a record."""

import hashlib
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from paths import shared, vectors

ENTRIES = ("record_batches", "message_set", "mixed", "message")

COLUMNS = (
    "offset",
    "timestamp",
    "timestamp_type",
    "key",
    "value",
    "headers",
    "sequence",
    "magic",
    "position",
    "disposition",
)


def bytes_of(vector: dict[str, Any]) -> bytes:
    """Return the vector's bytes, as entries of a log where they lack the first twelve."""
    data = (shared() / "vectors" / vector["file"]).read_bytes()
    if vector["kind"] in ("message", "batch_body"):
        offset = int(vector["wrap"]["prepend"].partition("offset=")[2].partition(",")[0])
        data = offset.to_bytes(8, "big") + len(data).to_bytes(4, "big") + data
    return data


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test marked ``vectors(kind, ...)`` one *vector* after another."""
    marker = metafunc.definition.get_closest_marker("vectors")
    if marker is None:
        return
    wanted = marker.kwargs.get("validity")
    names = marker.kwargs.get("names")
    states_records = marker.kwargs.get("states_records", False)
    chosen = [
        vector
        for vector in vectors()
        if vector["kind"] in (marker.args or ENTRIES)
        and (wanted is None or vector["validity"] in wanted)
        and (names is None or vector["file"].removesuffix(".bin") in names)
        and (not states_records or isinstance(vector["expected"].get("records"), list))
    ]
    if names is not None and chosen and len(chosen) != len(names):
        raise ValueError(set(names) - {vector["file"].removesuffix(".bin") for vector in chosen})
    if chosen:
        ids = [vector["file"].removesuffix(".bin") for vector in chosen]
        metafunc.parametrize("vector", chosen, ids=ids)
    else:
        reason = f"no vectors in {shared()}; set MAGICBYTE_SHARED"
        metafunc.parametrize("vector", [pytest.param({}, marks=pytest.mark.skip(reason=reason))])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "vectors(*kinds, validity=None, names=None, states_records=False): run for each such vector",
    )


@pytest.fixture
def data(vector: dict[str, Any]) -> bytes:
    return bytes_of(vector)


def short(data: bytes | None) -> str | None:
    """Return *data* as the oracle states it."""
    if data is None:
        return None
    if len(data) <= 256:
        return data.hex()
    return f"sha256:{hashlib.sha256(data).hexdigest()}:{len(data)}"


def plain(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of *table* with times as milliseconds, which Python's calendar may not hold."""
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            times = table.column(index).cast(pa.int64())
            table = table.set_column(index, field.name, times)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


class Read:
    """All records of bytes in memory, control records too, with damage skipped."""

    def __init__(self, data: bytes, **options: Any) -> None:
        dataset = mb.from_bytes(data, on_damage="skip", **options)
        rows = dataset.records(COLUMNS, dispositions=("delivered", "control"))
        self.rows = plain(rows.to_table())
        self.report = rows.report

    @property
    def findings(self) -> list[mb.Finding]:
        return self.report.findings

    @property
    def errors(self) -> list[tuple[str, int | None]]:
        return [(f.code, f.position) for f in self.findings if f.severity == "error"]

    def records(self, begin: int, end: int) -> list[dict[str, Any]]:
        """Return the records of the entries in [begin, end), as the oracle states them."""
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
def read() -> type[Read]:
    return Read
