"""Encodes messages of internal topics from spec/messages; shares no code with the decoder."""

import base64
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import magicbyte_construct as twin
from magicbyte_tools.generate.source import SPEC, Spec, load

Release = tuple[int, int]
"""Kafka release, such as (3, 9)."""

FOLDER = SPEC / "messages"

RELEASES = [(2, 8), *((3, minor) for minor in range(10)), *((4, minor) for minor in range(5))]
"""Kafka releases whose versions of the messages are known."""

INTEGERS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H"}
"""Format characters of the struct module, by type in the specification."""

ZEROS = {"bool": False, "float64": 0.0, "uuid": 22 * "A", "string": "", "bytes": b""}
"""Values of the other types that an absent tagged field has."""

LATEST_VERSION = 999
"""Stands for the last version of an open range, such as `4+`."""


@cache
def specification(name: str) -> Spec:
    """Return the content of spec/messages/*name*.yaml."""
    return load(FOLDER / f"{name}.yaml")


def message_spec(file: str, name: str) -> Spec:
    """Return the message *name* of spec/messages/*file*.yaml."""
    (found,) = (one for one in specification(file)["messages"] if one["name"] == name)
    return dict(found)


@cache
def parse_release(text: str) -> Release:
    major, minor = text.split(".")
    return int(major), int(minor)


def value_in(steps: dict[str, str], release: Release) -> str:
    """Return the value of the last step in *steps* that is not later than *release*; `none` before the first."""
    found = "none"
    for since, text in steps.items():
        if parse_release(since) <= release:
            found = text
    return found


@cache
def version_range(text: str) -> range:
    if text == "none":
        return range(0)
    if text.endswith("+"):
        return range(int(text[:-1]), LATEST_VERSION + 1)
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


@cache
def includes_release(text: str, release: Release) -> bool:
    """Return whether the range *text*, such as `3.0-3.1` or `4.1+`, includes *release*."""
    if text.endswith("+"):
        return release >= parse_release(text[:-1])
    first, _, last = text.partition("-")
    return parse_release(first) <= release <= parse_release(last or first)


def releases_and_versions(spec: Spec) -> Iterator[tuple[Release, int]]:
    """Yield each release with each version that it has of the message *spec*."""
    for release in RELEASES:
        for version in version_range(value_in(spec["versions"], release)):
            yield release, version


def json_name(name: str) -> str:
    """Return Kafka's name of a field in JSON."""
    return name[0].lower() + name[1:]


def uvarint(number: int) -> bytes:
    return bytes(twin.Uvarint.build(number))


@dataclass
class MessageWriter:
    """Writes one version of a message as one Kafka release does."""

    spec: Spec
    version: int
    release: Release
    is_flexible: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        flexible = self.spec.get("flexible", "none")
        if isinstance(flexible, dict):
            flexible = value_in(flexible, self.release)
        self.is_flexible = self.version in version_range(flexible)

    def known(self, fields: list[Spec]) -> list[Spec]:
        """Return the *fields* that the version has and the release knows."""
        return [
            one
            for one in fields
            if self.version in version_range(one.get("versions", "0+"))
            and includes_release(one.get("releases", "0.0+"), self.release)
        ]

    def inner(self, one: Spec) -> list[Spec] | None:
        """Return the fields of the structure that field *one* or its elements have, or None."""
        shared: dict[str, list[Spec]] = self.spec.get("structs", {})
        return shared.get(one["type"].removeprefix("[]"), one.get("fields"))

    def default(self, one: Spec) -> Any:
        """Return the default of the tagged field *one*; of a structure, the defaults of its fields."""
        inner = None if one["type"].startswith("[]") or "default" in one else self.inner(one)
        if inner is None:
            return default_value(one)
        return {
            json_name(field["name"]): self.default(field)
            for field in self.known(inner)
            if "tag" not in field
        }

    def write(self, values: Spec) -> bytes:
        return self.write_structure(self.spec["fields"], values)

    def write_structure(self, fields: list[Spec], values: Spec) -> bytes:
        known = self.known(fields)
        untagged = [
            self.write_field(one, values[json_name(one["name"])])
            for one in known
            if "tag" not in one
        ]
        if not self.is_flexible:
            assert not any("tag" in one for one in known)
            return b"".join(untagged)
        tagged = sorted(
            (one["tag"], self.write_field(one, values[json_name(one["name"])]))
            for one in known
            if "tag" in one and json_name(one["name"]) in values
        )
        return b"".join(untagged) + tagged_bytes([*tagged, *self.unknown_tagged()])

    def unknown_tagged(self) -> list[tuple[int, bytes]]:
        """Return the tags and bytes of further tagged fields at the end of each structure."""
        return []

    def write_field(self, one: Spec, value: Any) -> bytes:
        if not one["type"].startswith("[]"):
            return self.write_element(one, value)
        if value is None:
            return self.length("[]", -1)
        count = self.length("[]", len(value))
        element = {**one, "type": one["type"].removeprefix("[]"), "nullable": False}
        return count + b"".join([self.write_element(element, each) for each in value])

    def write_element(self, one: Spec, value: Any) -> bytes:
        kind, inner = one["type"], self.inner(one)
        if inner is not None:
            if not one.get("nullable"):
                return self.write_structure(inner, value)
            present, absent = (b"\1", b"\0") if "tag" in one else (b"\1", b"\xff")
            return absent if value is None else present + self.write_structure(inner, value)
        if kind in ("string", "bytes"):
            if value is None:
                return self.length(kind, -1)
            data: bytes = value.encode() if kind == "string" else value
            return self.length(kind, len(data)) + data
        if kind == "uuid":
            return base64.urlsafe_b64decode(f"{value}==")
        if kind == "bool":
            return b"\1" if value else b"\0"
        return struct.pack(">" + INTEGERS.get(kind, "d"), value)

    def length(self, kind: str, number: int) -> bytes:
        """Return the length of a value of type *kind*, or the count of an array (`[]`); -1 is null."""
        if self.is_flexible:
            return uvarint(number + 1)
        return struct.pack(">h" if kind == "string" else ">i", number)


def tagged_bytes(tagged: list[tuple[int, bytes]]) -> bytes:
    """Return the end of a flexible structure: the number of tagged fields, then tag, size and bytes of each."""
    parts = [uvarint(tag) + uvarint(len(data)) + data for tag, data in tagged]
    return uvarint(len(tagged)) + b"".join(parts)


def default_value(one: Spec) -> Any:
    """Return the value of the field *one* where it is absent from the bytes."""
    if "default" in one:
        return one["default"]
    return [] if one["type"].startswith("[]") else ZEROS.get(one["type"], 0)
