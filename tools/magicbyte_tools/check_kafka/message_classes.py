"""Reads the message classes of a Kafka release from the output of MessageClasses.java."""

import json
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte_tools.check_kafka import kafka_jars

SOURCE = Path(__file__).with_name("MessageClasses.java")

RPC_SUFFIXES = ("RequestData", "ResponseData", "RequestHeaderData", "ResponseHeaderData")
"""Ends of the names of classes for requests and responses; spec/messages has few of them."""

NOT_IN_MESSAGES = {
    "AbortedTxn": "specified in kafka_transaction_index.ksy",
    "ControlRecordTypeSchema": "specified in kafka_control_record.ksy",
    "DefaultPrincipalData": "in forwarded requests alone",
    "EndTxnMarker": "specified in kafka_control_record.ksy",
    "ProducerSnapshot": "specified in kafka_producer_snapshot.ksy",
    "QuorumStateData": "written to quorum-state as JSON",
}
"""Classes that spec/messages does not contain, with the reason."""


@dataclass(frozen=True, slots=True)
class ClassField:
    """Field of a message class, or of a struct in it."""

    name: str
    """Name in Kafka's schema, such as `leader_epoch`."""
    kind: str
    """`struct`, or Kafka's type without its nullable and compact forms, such as `int32`."""
    is_array: bool = False
    is_nullable: bool = False
    tag: int | None = None
    class_fields: tuple["ClassField", ...] = ()
    """Fields of the struct."""


@dataclass(frozen=True, slots=True)
class VersionSchema:
    """Schema of one version of a message class."""

    is_flexible: bool
    class_fields: tuple[ClassField, ...]


@dataclass(frozen=True, slots=True)
class MessageClass:
    """Message class that Kafka's build generates from a JSON file."""

    name: str
    jar: str
    api_key: int | None
    """Number that identifies the message; None or -1: there is none."""
    schemas: dict[int, VersionSchema]
    """Schemas by version."""

    @property
    def is_rpc(self) -> bool:
        """Return whether the message is a request or a response, or the header of one."""
        return self.name.endswith(RPC_SUFFIXES)

    @property
    def schema_name(self) -> str:
        """Name that the message has in spec/messages: a request's has no Data at its end."""
        return self.name.removesuffix("Data") if self.is_rpc else self.name


def printed_classes(version: str, cache: Path) -> list[str]:
    """Return a line of JSON for each message class of Kafka *version*, such as 4.4.0.

    Raises ProgramUnavailable without Maven or Java.
    """
    jars = kafka_jars.class_path(version, cache)
    classes = kafka_jars.compiled_classes([SOURCE], jars, cache)
    command = kafka_jars.java("MessageClasses", classes, jars)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def parse_classes(lines: Iterable[str]) -> Iterator[MessageClass]:
    """Yield the message class in each line of MessageClasses.java."""
    for line in lines:
        content = json.loads(line)
        schemas = {int(number): _schema(fields) for number, fields in content["schemas"].items()}
        yield MessageClass(content["name"], content["jar"], content["api_key"], schemas)


def _schema(field_objects: list[dict[str, Any]]) -> VersionSchema:
    is_flexible = any("kind" not in field for field in field_objects)
    return VersionSchema(is_flexible, _class_fields(field_objects))


def _class_fields(field_objects: list[dict[str, Any]]) -> tuple[ClassField, ...]:
    return tuple(
        ClassField(
            name=field["name"],
            kind=field["kind"],
            is_array=field.get("array", False),
            is_nullable=field.get("nullable", False),
            tag=field.get("tag"),
            class_fields=_class_fields(field.get("fields", [])),
        )
        for field in field_objects
        if "kind" in field
    )
