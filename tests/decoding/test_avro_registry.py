"""Tests of real records of a topic with three schema versions: confluent-kafka's deserializer is the judge."""

import datetime as dt
import json
import math
import uuid
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from magicbyte.decoding.avro import AvroDecoder, AvroSchema, parse_schema
from magicbyte.engines.columnar.avro_program import Fault
from paths import shared

from .avro_judge import plain

DATA = shared() / "meaning-data" / "registry-karapace-4.3"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the folder shared, with logs of a registry, is absent"
)
FRAME_BYTES = 5
LATEST_ID = 6


def schemas() -> dict[int, AvroSchema]:
    """Return the registry's Avro schemas by id, each with the schemas that it refers to."""
    versions = json.loads((DATA / "registry.json").read_text())["versions"]
    parsed = {}
    for version in versions.values():
        if version.get("schemaType", "AVRO") == "AVRO" and "id" in version:
            references = [
                versions[f"{one['subject']}/{one['version']}"]["schema"]
                for one in version.get("references", [])
            ]
            parsed[version["id"]] = parse_schema(version["schema"], references)
    return parsed


def judged_records() -> list[dict[str, Any]]:
    lines = (DATA / "expected.ndjson").read_text().splitlines()
    return [record for record in map(json.loads, lines) if "avro" in (record.get("value") or {})]


def as_judge(value: Any) -> Any:
    """Return *value* in the judge's forms: an object with the name of the type for what JSON lacks."""
    match value:
        case dict():
            return {key: as_judge(member) for key, member in value.items()}
        case list():
            return [as_judge(item) for item in value]
        case bytes():
            return {"$bytes": value.hex()}
        case Decimal():
            return {"$decimal": str(value)}
        case dt.datetime():
            return {"$datetime": value.isoformat()}
        case dt.date():
            return {"$date": value.isoformat()}
        case dt.time():
            return {"$time": value.isoformat()}
        case float() if not math.isfinite(value):
            return {"$float": str(value)}
        case uuid.UUID():
            return {"$uuid": str(value)}
    return value


def decoded(record: dict[str, Any], writer: AvroSchema, reader: AvroSchema | None = None) -> Any:
    """Return the value of *record* in the judge's forms, or the number of its fault."""
    value = bytes.fromhex(record["value_hex"])
    outcome = AvroDecoder(writer, reader).decode(pa.array([value]), FRAME_BYTES)
    if outcome.error_codes[0]:
        return Fault(outcome.error_codes[0])
    return as_judge(plain(outcome.array.to_pylist()[0], (reader or writer).root))


def test_records_of_three_versions_are_as_confluents_client_reads_them() -> None:
    by_id = schemas()
    records = [record for record in judged_records() if record["topic"] == "orders"]
    assert len(records) == 117
    for record in records:
        writer = by_id[record["value_schema_id"]]
        assert decoded(record, writer) == record["value"]["avro"]
        assert decoded(record, writer, by_id[LATEST_ID]) == record["value"]["avro_as_v3"]


def test_bytes_left_over_are_a_fault_here_and_none_of_confluents_client() -> None:
    by_id = schemas()
    differences = {}
    for record in judged_records():
        is_known = record.get("value_schema_id") in by_id  # one schema is deleted for good
        if record["topic"] == "mixed" and is_known:
            value = decoded(record, by_id[record["value_schema_id"]])
            if value != record["value"]["avro"]:
                differences[record["offset"]] = value
    assert differences == {22: Fault.LEFT_OVER, 24: Fault.LEFT_OVER}
