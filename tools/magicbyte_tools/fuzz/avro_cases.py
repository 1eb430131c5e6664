"""Random Avro schemas, values of them, and schemas of readers, for tests and the fuzzer."""

import json
import struct
from collections.abc import Callable
from random import Random
from typing import Any

from magicbyte.decoding.avro import AvroSchema, parse_schema

Json = Any
"""An Avro schema, or a part of one, as JSON."""

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
LOGICAL = {
    "date": "int",
    "time-millis": "int",
    "time-micros": "long",
    "timestamp-millis": "long",
    "timestamp-micros": "long",
    "local-timestamp-millis": "long",
    "local-timestamp-micros": "long",
    "uuid": "string",
}
SIMILAR = {
    **dict.fromkeys(("int", "long", "float", "double"), "number"),
    **dict.fromkeys(("bytes", "string"), "bytes"),
}
"""Types that may take one another's values."""
TEXTS = ("", "a", "Kafka", "grüße", "日本語", "\U0001f600", "x" * 70, "tab\there")
MAX_DEPTH = 4

YEAR_MILLISECONDS = 365 * 86_400_000
"""Times are within a thousand years of 1970, which Python's types can hold."""


def zigzag(number: int) -> bytes:
    rest = (number << 1 ^ number >> 63) & (1 << 64) - 1
    encoded = bytearray()
    while rest >= 128:
        encoded.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*encoded, rest])


class AvroCases:
    """Draws schemas and values from *random*.

    With *is_for_fastavro*, none that fastavro reads otherwise than Avro's Java library does: a branch of a union that
    takes another branch's values by promotion, integers as floats, defaults that are bytes or have logical types.
    """

    def __init__(self, random: Random, *, is_for_fastavro: bool = False) -> None:
        self.random = random
        self._is_for_fastavro = is_for_fastavro
        self._num_names = 0
        self.named: dict[str, Json] = {}
        """Named types of the schema that was drawn last."""

    # Schemas

    def schema(self) -> Json:
        """Draw a schema; half of them are records."""
        self.named = {}
        return self._record(0) if self.random.random() < 0.5 else self._type(0)

    def _type(self, depth: int, *, in_union: bool = False) -> Json:
        lot = self.random.random()
        if depth >= MAX_DEPTH or lot < 0.35:
            return self.random.choice(PRIMITIVES)
        if lot < 0.55:
            return self._logical()
        if lot < 0.62:
            return self._named("enum", symbols=[*"ABCDEFG"[: self.random.randint(1, 7)]])
        if lot < 0.68:
            return self._named("fixed", size=self.random.choice((0, 1, 4, 7, 8, 16, 33)))
        if lot < 0.76:
            return {"type": "array", "items": self._type(depth + 1)}
        if lot < 0.82:
            return {"type": "map", "values": self._type(depth + 1)}
        if lot < 0.92 and not in_union:
            return self._union(depth)
        if lot < 0.95 and self.named:
            return self.random.choice(list(self.named))
        return self._record(depth)

    def _named(self, kind: str, **attributes: Any) -> Json:
        self._num_names += 1
        namespace = "a" if self.random.random() < 0.7 else "com.shop"
        full_name = f"{namespace}.N{self._num_names}"
        definition = {"type": kind, "name": full_name, **attributes}
        if kind != "record":  # a record is known once it is complete: it must not contain itself
            self.named[full_name] = definition
        return definition

    def _logical(self) -> Json:
        if self.random.random() < 0.6:
            logical = self.random.choice(list(LOGICAL))
            return {"type": LOGICAL[logical], "logicalType": logical}
        precision = self.random.choice((1, 9, 18, 19, 38, 39, 76))
        scale = self.random.randint(0, precision)
        decimal = {"logicalType": "decimal", "precision": precision, "scale": scale}
        if self.random.random() < 0.5:
            return {"type": "bytes", **decimal}
        return self._named("fixed", size=self.random.choice((32, 33, 40)), **decimal)

    def _union(self, depth: int) -> Json:
        if self.random.random() < 0.6:
            other = self._type(depth + 1, in_union=True)
            union = ["null", other] if self._kind(other) != "null" else ["null"]
            return union if self.random.random() < 0.8 else union[::-1]
        branches: dict[str, Json] = {}
        for _ in range(self.random.randint(1, 5)):
            known = dict(self.named)
            branch = self._type(depth + 1, in_union=True)
            kind = self._kind(branch)
            if self._is_for_fastavro:
                kind = SIMILAR.get(kind, kind)
            if branches.setdefault(kind, branch) is not branch:
                self.named = known  # types that the branch left out defines
        return list(branches.values())

    def _kind(self, avro_json: Json) -> str:
        """Return what may occur only once in a union: the name of a named type, or the kind."""
        if isinstance(avro_json, dict):
            return str(avro_json.get("name") or avro_json["type"])
        return str(avro_json)

    def _record(self, depth: int) -> Json:
        record = self._named("record")
        record["fields"] = [
            {"name": f"f{number}", "type": self._type(depth + 1)}
            for number in range(self.random.randint(0, 6))
        ]
        self.named[record["name"]] = record
        return record

    # Values

    def value(self, avro_json: Json) -> bytes:
        """Draw a value of *schema*, encoded."""
        if isinstance(avro_json, str) and avro_json in self.named:
            avro_json = self.named[avro_json]
        if isinstance(avro_json, list):
            branch = self.random.randrange(len(avro_json))
            return zigzag(branch) + self.value(avro_json[branch])
        if isinstance(avro_json, str):
            return self._primitive(avro_json, None)
        match avro_json["type"]:
            case "record":
                return b"".join(self.value(field["type"]) for field in avro_json["fields"])
            case "enum":
                return zigzag(self.random.randrange(len(avro_json["symbols"])))
            case "fixed":
                if "precision" in avro_json:
                    return self._unscaled(avro_json["precision"], avro_json["size"])
                return self.random.randbytes(avro_json["size"])
            case "array":
                return self._blocks(lambda: self.value(avro_json["items"]))
            case "map":
                keys = iter(range(1000))
                return self._blocks(
                    lambda: self._string(f"k{next(keys)}") + self.value(avro_json["values"])
                )
        return self._primitive(avro_json["type"], avro_json)

    def _blocks(self, item: Callable[[], bytes]) -> bytes:
        """Draw up to three blocks of items, with and without their size in bytes."""
        blocks = b""
        while self.random.random() < 0.6:
            items = [item() for _ in range(self.random.randint(1, 4))]
            content = b"".join(items)
            if self.random.random() < 0.2:
                blocks += zigzag(-len(items)) + zigzag(len(content)) + content
            else:
                blocks += zigzag(len(items)) + content
        return blocks + b"\0"

    def _string(self, text: str) -> bytes:
        content = text.encode()
        return zigzag(len(content)) + content

    def _integer(self, bits: int) -> int:
        width = self.random.randint(1, bits)
        return self.random.getrandbits(width) - (1 << width - 1)

    def _unscaled(self, precision: int, size: int) -> bytes:
        limit = 10**precision - 1
        number = self.random.choice((0, limit, -limit, self.random.randint(-limit, limit)))
        return number.to_bytes(size, "big", signed=True)

    def _primitive(self, kind: str, avro_json: Json) -> bytes:
        logical = (avro_json or {}).get("logicalType", "")
        match kind:
            case "null":
                return b""
            case "boolean":
                return bytes([self.random.getrandbits(1)])
            case "int" | "long" if logical:
                return zigzag(self._logical_number(logical))
            case "int":
                return zigzag(self._integer(32))
            case "long":
                return zigzag(self._integer(64))
            case "float":
                return struct.pack("<f", self.random.choice((0.0, -1.5, self.random.random())))
            case "double":
                return struct.pack("<d", self.random.choice((0.0, 1e300, self.random.random())))
            case "string" if logical:
                digits = self.random.randbytes(16).hex()
                sizes = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
                return self._string("-".join(digits[first:last] for first, last in sizes))
            case "string":
                return self._string(self.random.choice(TEXTS))
        if logical:
            content = self._unscaled(avro_json["precision"], self.random.choice((32, 33, 50)))
            return zigzag(len(content)) + content
        content = self.random.randbytes(self.random.choice((0, 1, 8, 40, 200)))
        return zigzag(len(content)) + content

    def _logical_number(self, logical: str) -> int:
        if logical.startswith("time-"):
            return self.random.randrange(86_400_000 * (1000 if logical == "time-micros" else 1))
        if logical == "date":
            return self.random.randint(-300_000, 300_000)
        milliseconds = self.random.randint(-900, 900) * YEAR_MILLISECONDS + self._integer(30)
        return milliseconds * (1000 if logical.endswith("micros") else 1)

    # Schemas of readers

    def reader(self, avro_json: Json) -> Json:
        """Draw a schema that reads values of *schema*, or most of them."""
        copy = json.loads(json.dumps(avro_json))
        return self._changed(copy)

    def _changed(self, avro_json: Json) -> Json:
        lot = self.random.random()
        if isinstance(avro_json, list):
            return self._changed_union(avro_json)
        if isinstance(avro_json, str):
            return self._promoted(avro_json, lot)
        match avro_json["type"]:
            case "record":
                self._change_fields(avro_json)
            case "enum":
                self._change_symbols(avro_json, lot)
            case "array":
                avro_json["items"] = self._changed(avro_json["items"])
            case "map":
                avro_json["values"] = self._changed(avro_json["values"])
        if lot > 0.9 and avro_json["type"] != "record":
            return ["null", avro_json]
        return avro_json

    def _changed_union(self, union: list[Json]) -> Json:
        if self.random.random() < 0.2 and "null" in union and len(union) > 1:
            union.remove("null")
        return union

    def _promoted(self, kind: str, lot: float) -> Json:
        floats = () if self._is_for_fastavro else ("float",)
        wider = {
            "int": ("long", "double", *floats),
            "long": ("double", *floats),
            "float": ("double",),
            "string": ("bytes",),
            "bytes": ("string",),
        }.get(kind)
        if wider and lot < 0.3:
            return self.random.choice(wider)
        return ["null", kind] if kind != "null" and lot > 0.9 and kind in PRIMITIVES else kind

    def _change_symbols(self, enum: Json, lot: float) -> None:
        symbols = enum["symbols"]
        if lot < 0.3:
            self.random.shuffle(symbols)
        elif lot < 0.5 and len(symbols) > 1:
            symbols.pop()
            if lot < 0.4:
                enum["default"] = symbols[0]

    def _change_fields(self, definition: Json) -> None:
        fields = definition["fields"]
        for field in fields:
            field["type"] = self._changed(field["type"])
        defining = [field for field in fields if not isinstance(field["type"], str)]
        plain = [field for field in fields if isinstance(field["type"], str)]
        if plain and self.random.random() < 0.4:
            plain.pop(self.random.randrange(len(plain)))
        if plain and self.random.random() < 0.3:
            field = self.random.choice(plain)
            field["aliases"] = ["other", field["name"]]
            field["name"] = f"renamed_{field['name']}"
        # Types are defined before they are used: only fields of plain types change their order.
        self.random.shuffle(plain)
        added = [self._field_with_default(f"d{number}") for number in range(2)]
        definition["fields"] = [*added[: self.random.randint(0, 2)], *defining, *plain]

    def _field_with_default(self, name: str) -> Json:
        choices: list[tuple[Json, Any]] = [
            ("int", 7),
            ("string", "grüße"),
            (["null", "long"], None),
            ({"type": "array", "items": "int"}, [1, 2]),
            ({"type": "map", "values": "string"}, {"a": "b"}),
            ("double", 1.5),
            (["long", "null"], 3),
        ]
        if not self._is_for_fastavro:
            choices += [
                ("bytes", "\u00ff\u0000"),
                ({"type": "long", "logicalType": "timestamp-millis"}, 1000),
            ]
        chosen = self.random.choice(choices)
        return {"name": name, "type": chosen[0], "default": chosen[1]}


def parsed(avro_json: Json) -> AvroSchema:
    return parse_schema(json.dumps(avro_json))
