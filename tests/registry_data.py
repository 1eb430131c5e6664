"""Records of a schema registry's topic, and the data of a real registry."""

import json
from pathlib import Path
from typing import Any

import pytest

from magicbyte.internal_topics.schema_registry import SchemaRegistry
from paths import shared

KARAPACE = shared() / "meaning-data" / "registry-karapace-4.3"
APPLICATIONS = shared() / "meaning-data" / "apps-4.3"

needs_karapace = pytest.mark.skipif(
    not KARAPACE.is_dir(), reason="the folder shared/meaning-data is absent"
)
needs_applications = pytest.mark.skipif(
    not APPLICATIONS.is_dir(), reason="the folder shared/meaning-data is absent"
)


def as_json(value: Any) -> bytes | None:
    return None if value is None else json.dumps(value).encode()


def registry_of(*records: tuple[Any, Any]) -> SchemaRegistry:
    """Return the registry that keys and values of JSON add up to, at offsets from 0 on."""
    registry = SchemaRegistry()
    for offset, (key, value) in enumerate(records):
        registry.apply(as_json(key), as_json(value), offset=offset, timestamp=offset)
    return registry


def schema_record(
    subject: str, version: int, id_: int, text: str = '"int"', **more: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return key and value of the record of a schema, in the form that Confluent documents."""
    key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
    value = {"subject": subject, "version": version, "id": id_, "schema": text, "deleted": False}
    return key, value | more


def karapace_file(name: str) -> Path:
    return KARAPACE / name
