"""Encodes messages by spec/messages with random values, for tests; it shares no code with the decoder."""

import base64
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from magicbyte_tools.vectors.message_writer import (
    FOLDER,
    INTEGERS,
    MessageWriter,
    Spec,
    default_value,
    json_name,
    specification,
)

NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))

UNKNOWN_TAG = 1000


def messages() -> list[tuple[str, str]]:
    """Return (file name, message name) of every message in spec/messages."""
    return [(name, one["name"]) for name in NAMES for one in specification(name)["messages"]]


@dataclass
class Writer(MessageWriter):
    """Writes one version of a message as one Kafka release does, with random values from *draw*."""

    draw: random.Random
    unknown: bool = False
    """True if each structure is written with an additional unknown tagged field."""
    lie: int | None = None
    """Index of the length or count that is written too high; None: all are right."""
    lengths: list[str] = field(default_factory=list)
    """Types of the values whose lengths and counts were written; `[]` for lists."""
    stated: int = 0
    """The false length or count that was written."""

    def message(self) -> Spec:
        return self.structure(self.spec["fields"])

    def structure(self, fields: list[Spec]) -> Spec:
        """Return random values of *fields*; some tagged fields, and all defaults, are left out."""
        found = {}
        for one in self.known(fields):
            value = self.value(one)
            if "tag" in one and (self.draw.random() < 0.4 or value == default_value(one)):
                continue
            found[json_name(one["name"])] = value
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
        bits = 8 * struct.calcsize(INTEGERS[kind])
        low = 0 if kind.startswith("u") else -(1 << bits - 1)
        return draw.choice((low, low + (1 << bits) - 1, draw.randrange(low, low + (1 << bits))))

    def unknown_tagged(self) -> list[tuple[int, bytes]]:
        if not self.unknown:
            return []
        return [(UNKNOWN_TAG, self.draw.randbytes(self.draw.randrange(200)))]

    def length(self, kind: str, number: int) -> bytes:
        if len(self.lengths) == self.lie:
            is_short = kind == "string" and not self.is_flexible
            number = self.stated = 0x7FFF if is_short else 0x7FFFFFFE
        self.lengths.append(kind)
        return super().length(kind, number)
