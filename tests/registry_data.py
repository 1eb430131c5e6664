"""Records of a schema registry's topic, and the data of a real registry."""

import gzip
import json
from functools import cache
from typing import Any

import pytest

from magicbyte.internal_topics.schema_registry import SchemaRegistry
from paths import CHECKOUT, shared

REGISTRY = CHECKOUT / "tests" / "registry"
"""Topics of a real registry, Karapace, and what Confluent's client decodes; see its README.md."""

LOG_DIR = REGISTRY / "log-0"
APPLICATIONS = shared() / "meaning-data" / "apps-4.3"

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


@cache
def recorded(name: str) -> str:
    """Return the text of a compressed file of the registry's data."""
    return gzip.decompress((REGISTRY / f"{name}.gz").read_bytes()).decode()
