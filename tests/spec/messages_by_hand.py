"""Encodes messages by spec/messages, for tests; it shares no code with the decoder."""

import base64
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from log_builder import uvarint
from magicbyte_tools.generate.source import load
from paths import CHECKOUT

Spec = dict[str, Any]
Release = tuple[int, int]

FOLDER = CHECKOUT / "spec" / "messages"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))

RELEASES = [(2, 8), *((3, minor) for minor in range(10)), *((4, minor) for minor in range(5))]
"""Kafka releases whose versions of the messages the tests write."""

NUMBERS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H"}
ZEROS = {"bool": False, "float64": 0.0, "uuid": 22 * "A", "string": "", "bytes": b""}
UNKNOWN_TAG = 1000


@cache
def specification(name: str) -> Spec:
    return load(FOLDER / f"{name}.yaml")


def messages() -> list[tuple[str, str]]:
    """Return (file name, message name) of every message in spec/messages."""
    return [(name, one["name"]) for name in NAMES for one in specification(name)["messages"]]


def message(file: str, name: str) -> Spec:
    (found,) = (one for one in specification(file)["messages"] if one["name"] == name)
    return dict(found)


def release(text: str) -> Release:
    major, minor = text.split(".")
    return int(major), int(minor)


def at(steps: dict[str, str], when: Release) -> str:
    """Return the value of *steps* in release *when*: that of the last step at or before it."""
    found = "none"
    for since, text in steps.items():
        if release(since) <= when:
            found = text
    return found


def versions(text: str) -> range:
    if text == "none":
        return range(0)
    if text.endswith("+"):
        return range(int(text[:-1]), 1000)
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def holds(text: str, when: Release) -> bool:
    if text.endswith("+"):
        return when >= release(text[:-1])
    first, _, last = text.partition("-")
    return release(first) <= when <= release(last or first)


def places(spec: Spec) -> Iterator[tuple[Release, int]]:
    """Yield (release, version) for each release and each version of the message that it has."""
    for when in RELEASES:
        for version in versions(at(spec["versions"], when)):
            yield when, version


def key(name: str) -> str:
    return name[0].lower() + name[1:]


@dataclass
class Writer:
    """Writes one version of a message as one Kafka release does, with random values from *draw*."""

    spec: Spec
    version: int
    release: Release
    draw: random.Random
    unknown: bool = False
    """True if each structure is written with an additional unknown tagged field."""
    lie: int | None = None
    """Index of the length or count that is written too high; None: all are right."""
    is_flexible: bool = False
    lengths: list[str] = field(default_factory=list)
    """Types of the values whose lengths and counts were written; `[]` for lists."""
    stated: int = 0
    """The false length or count that was written."""

    def __post_init__(self) -> None:
        flexible = self.spec.get("flexible", "none")
        if isinstance(flexible, dict):
            flexible = at(flexible, self.release)
        self.is_flexible = self.version in versions(flexible)

    def known(self, fields: list[Spec]) -> list[Spec]:
        return [
            one
            for one in fields
            if self.version in versions(one.get("versions", "0+"))
            and holds(one.get("releases", "0.0+"), self.release)
        ]

    def default(self, one: Spec) -> Any:
        """Return the default of a tagged field; of a structure, the defaults of its fields."""
        inner = None if one["type"].startswith("[]") or "default" in one else self.inner(one)
        if inner is None:
            return default(one)
        return {
            key(field["name"]): self.default(field)
            for field in self.known(inner)
            if "tag" not in field
        }

    def inner(self, one: Spec) -> list[Spec] | None:
        """Return the fields of the structure that field *one* or its elements have, or None."""
        shared: dict[str, list[Spec]] = self.spec.get("structs", {})
        return shared.get(one["type"].removeprefix("[]"), one.get("fields"))

    # Values.

    def message(self) -> Spec:
        return self.structure(self.spec["fields"])

    def structure(self, fields: list[Spec]) -> Spec:
        """Return random values of *fields*; some tagged fields, and all defaults, are left out."""
        found = {}
        for one in self.known(fields):
            value = self.value(one)
            if "tag" in one and (self.draw.random() < 0.4 or value == default(one)):
                continue
            found[key(one["name"])] = value
        return found

    def value(self, one: Spec) -> Any:
        if one.get("nullable") and self.draw.random() < 0.3:
            return None
        if one["type"].startswith("[]"):
            return [self.element(one) for _ in range(self.draw.randrange(4))]
        return self.element(one)

    def element(self, one: Spec) -> Any:
        kind, inner, draw = one["type"].removeprefix("[]"), self.inner(one), self.draw
        if inner is not None:
            return self.structure(inner)
        made: dict[str, Callable[[], Any]] = {
            "bool": lambda: draw.random() < 0.5,
            "float64": lambda: draw.uniform(-1e9, 1e9),
            "uuid": lambda: base64.urlsafe_b64encode(draw.randbytes(16)).decode().rstrip("="),
            "string": lambda: "".join(draw.choices("kafka-ü€", k=draw.choice((0, 1, 5, 130)))),
            "bytes": lambda: draw.randbytes(draw.choice((0, 1, 7, 200))),
        }
        if kind in made:
            return made[kind]()
        bits = 8 * struct.calcsize(NUMBERS[kind])
        low = 0 if kind.startswith("u") else -(1 << bits - 1)
        return draw.choice((low, low + (1 << bits) - 1, draw.randrange(low, low + (1 << bits))))

    # Bytes.

    def write(self, values: Spec) -> bytes:
        return self.write_structure(self.spec["fields"], values)

    def write_structure(self, fields: list[Spec], values: Spec) -> bytes:
        known = self.known(fields)
        plain = [
            self.write_field(one, values[key(one["name"])]) for one in known if "tag" not in one
        ]
        if not self.is_flexible:
            assert not any("tag" in one for one in known)
            return b"".join(plain)
        tagged = sorted(
            (one["tag"], self.write_field(one, values[key(one["name"])]))
            for one in known
            if "tag" in one and key(one["name"]) in values
        )
        if self.unknown:
            tagged.append((UNKNOWN_TAG, self.draw.randbytes(self.draw.randrange(200))))
        plain.append(uvarint(len(tagged)))
        plain += [uvarint(tag) + uvarint(len(data)) + data for tag, data in tagged]
        return b"".join(plain)

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
            there, absent = (b"\1", b"\0") if "tag" in one else (b"\1", b"\xff")
            return absent if value is None else there + self.write_structure(inner, value)
        if kind in ("string", "bytes"):
            if value is None:
                return self.length(kind, -1)
            data = value.encode() if kind == "string" else value
            return self.length(kind, len(data)) + data
        if kind == "uuid":
            return base64.urlsafe_b64decode(value + "==")
        if kind == "bool":
            return b"\1" if value else b"\0"
        return struct.pack(">" + NUMBERS.get(kind, "d"), value)

    def length(self, kind: str, number: int) -> bytes:
        form = "h" if kind == "string" and not self.is_flexible else "i"
        if len(self.lengths) == self.lie:
            number = self.stated = 0x7FFF if form == "h" else 0x7FFFFFFE
        self.lengths.append(kind)
        return uvarint(number + 1) if self.is_flexible else struct.pack(f">{form}", number)


def default(one: Spec) -> Any:
    """Return the value of a tagged field that is absent from the bytes."""
    if "default" in one:
        return one["default"]
    return [] if one["type"].startswith("[]") else ZEROS.get(one["type"], 0)
