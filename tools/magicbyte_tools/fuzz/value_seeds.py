"""A schema and values that it describes, in Avro, Protobuf or JSON: drawn, written into a folder, or read from one."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from magicbyte.decoding.avro import AvroDecoder
from magicbyte.errors import SchemaError
from magicbyte_tools.fuzz.avro_cases import AvroCases, parsed
from magicbyte_tools.fuzz.json_cases import JsonCases
from magicbyte_tools.fuzz.protobuf_cases import ProtobufCases

SEEDS_OF_A_SCHEMA = 8
MAX_PROTOBUF_BYTES = 2000

SCHEMA = "schema"
READER_SCHEMA = "reader-schema"
MESSAGE = "message"
VALUE = "value"
"""Beginnings of the names of the files in the folder of a schema."""


@dataclass(frozen=True, slots=True)
class ValueSeeds:
    """A schema, and values that were encoded by it; some of the JSON texts are arbitrary."""

    schema_content: bytes
    """Text of an Avro or JSON schema, or a serialized FileDescriptorSet."""
    values: list[bytes]
    reader_schema: bytes | None = None
    """Avro schema that the values are resolved to."""
    message: str = ""
    """Full name of the Protobuf message."""

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and content of each file that holds a part."""
        yield SCHEMA, self.schema_content
        if self.reader_schema is not None:
            yield READER_SCHEMA, self.reader_schema
        if self.message:
            yield MESSAGE, self.message.encode()
        for number, value in enumerate(self.values):
            yield f"{VALUE}-{number}", value


def read(folder: Path) -> ValueSeeds:
    """Return the seeds in the files of *folder*."""
    reader, message = folder / READER_SCHEMA, folder / MESSAGE
    return ValueSeeds(
        (folder / SCHEMA).read_bytes(),
        [path.read_bytes() for path in sorted(folder.glob(f"{VALUE}-*"))],
        reader.read_bytes() if reader.exists() else None,
        message.read_text() if message.exists() else "",
    )


def draw_avro(random: Random) -> ValueSeeds:
    """Return a drawn Avro schema and values, half of the time with the schema of a reader."""
    cases = AvroCases(random)
    schema = cases.schema()
    reader_schema = _reader_schema(cases, schema) if random.random() < 0.5 else None
    values = [cases.value(schema) for _ in range(SEEDS_OF_A_SCHEMA)]
    return ValueSeeds(json.dumps(schema).encode(), values, reader_schema)


def _reader_schema(cases: AvroCases, schema: Any) -> bytes | None:
    """Return the text of a drawn schema that values of *schema* can be resolved to; None if the one drawn cannot."""
    reader_schema = cases.reader(schema)
    try:
        AvroDecoder(parsed(schema), parsed(reader_schema))
    except SchemaError:
        return None
    return json.dumps(reader_schema).encode()


def draw_protobuf(random: Random) -> ValueSeeds:
    """Return a drawn message type, with the files that define it, and messages."""
    cases = ProtobufCases(random)
    case = cases.case()
    _, messages = cases.messages(case, SEEDS_OF_A_SCHEMA)
    values = [message for message in messages if len(message) <= MAX_PROTOBUF_BYTES] or [b""]
    return ValueSeeds(case.descriptor_set, values, message=case.name)


def draw_json(random: Random) -> ValueSeeds:
    """Return a drawn JSON schema, texts that fit it, and arbitrary ones."""
    cases = JsonCases(random)
    json_schema = cases.schema()
    texts = [
        cases.text() if random.random() < 0.3 else cases.value_of(json_schema)
        for _ in range(SEEDS_OF_A_SCHEMA)
    ]
    values = [text.encode("utf-8", "surrogatepass") for text in texts]
    return ValueSeeds(json.dumps(json_schema).encode(), values)


SeedSource = Callable[[Random], ValueSeeds]
"""Gives the schema and the values of a group."""

DRAW: dict[str, SeedSource] = {
    "avro": draw_avro,
    "protobuf": draw_protobuf,
    "json": draw_json,
}
"""Source of drawn schemas and values for each form."""


def from_corpus(corpus: Path) -> SeedSource:
    """Return a source that takes one of the folders in *corpus*, each of them a schema with its values."""
    folders = sorted(path.parent for path in corpus.glob(f"*/{SCHEMA}"))
    if not folders:
        raise SystemExit(f"{corpus}: no folder in it has a file {SCHEMA!r}")
    return lambda random: read(random.choice(folders))
