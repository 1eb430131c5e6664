"""Typed keys and values for `dump` and `export`: the options, and the columns that they print or write."""

import json
from base64 import b64encode
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import click
import pyarrow as pa

from magicbyte import Dataset, Finding, InputError
from magicbyte.decoding.decode_option import parse_decode_option
from magicbyte.decoding.schema_frames import has_first_bytes
from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.reading.typed_columns import COLUMNS, SIDES, typed_field
from magicbyte.tables.json_values import JSON_METADATA, ONE_OF_METADATA, json_values
from magicbyte_cli.csv_writer import BYTE_TEXTS
from magicbyte_cli.display import printable_bytes
from magicbyte_cli.ndjson import JSON_TEXT, header_object
from magicbyte_cli.selection import Decorator, with_options
from magicbyte_cli.stderr_messages import warn

TEXT_COLUMNS = (
    *("topic", "partition", "offset", "timestamp", "key", "headers", "value_schema", "value"),
)
SCHEMA_LABELS = ("key_schema", "value_schema")
"""Columns of the text format with subject, version and id of a schema in one cell."""

UNDECODED = ("key_bytes", "value_bytes")

ONE_OF = {name.encode(): text.encode() for name, text in ONE_OF_METADATA.items()}


BYTE_FORMATS: dict[str, Callable[[bytes], str]] = {
    "text": printable_bytes,
    "hex": bytes.hex,
    "base64": lambda data: b64encode(data).decode("ascii"),
}
"""Formats of bytes, by the values of `--bytes`; the writer quotes cells."""


def _forms(ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> Any:
    return parse_decode_option(texts) if texts else None


decode_options: Decorator = with_options(
    [
        click.option(
            "--decode",
            "forms",
            multiple=True,
            callback=_forms,
            metavar="FORM",
            help="Decode keys and values: `auto` recognizes their forms from schemas and bytes; "
            "`key=FORM,value=FORM` names them, such as `string`, `int64`, `registry`, `json`, `connect`, "
            "`avro:FILE`, `protobuf:FILE[:MESSAGE]` or `windowed:string`.",
        ),
        click.option(
            "--schemas",
            "schema_paths",
            multiple=True,
            metavar="PATH",
            help="With --decode: schemas of a registry, as an export, a log.dir or a folder of files; may be "
            "repeated.  [default: the topic _schemas below PATH]",
        ),
        click.option(
            "--reader-schema",
            "reader_schema",
            default="latest",
            show_default=False,
            metavar="ID|FILE|union",
            help="With --decode: schema of the columns, to which values of other versions are resolved; `union` has the fields "
            "of all versions.  [default: the newest of the topic]",
        ),
    ]
)
"""Options of typed keys and values, passed on as `forms`, `schemas` and `reader`."""


@dataclass(frozen=True, slots=True)
class PrintedColumns:
    """Columns that `dump --decode` prints, with keys and values as text or JSON."""

    names: tuple[str, ...]
    format_name: str
    bytes_as: str

    @classmethod
    def of(cls, columns: Sequence[str] | None, format_name: str, bytes_as: str) -> "PrintedColumns":
        """Return the columns of these names, by default the columns of the format."""
        default = TEXT_COLUMNS if format_name == "text" else COLUMNS
        return cls(tuple(default if columns is None else columns), format_name, bytes_as)

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([self._field(name) for name in self.names])

    def _field(self, name: str) -> pa.Field:
        if name in SIDES:
            metadata = JSON_METADATA if self.format_name == "ndjson" else None
            return pa.field(name, pa.string(), metadata=metadata)
        if self._has_one_encoding(name):
            metadata = JSON_METADATA if name == "headers" else None
            return pa.field(name, pa.string(), metadata=metadata)
        return pa.field(name, pa.string()) if name in SCHEMA_LABELS else typed_field(name)

    def _has_one_encoding(self, name: str) -> bool:
        """Return whether NDJSON needs no member for the encoding: key_bytes and value_bytes are always in base64."""
        has_bytes = name == "headers" or name in UNDECODED
        return has_bytes and self.format_name == "ndjson" and self.bytes_as == "text"

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of typed records that are needed."""
        needed = dict.fromkeys(name for name in self.names if name not in SCHEMA_LABELS)
        parts = ("schema_id", "schema_version", "schema_subject", "bytes", "error")
        for side in SIDES:
            if f"{side}_schema" in self.names or side in self.names:
                needed |= dict.fromkeys((side, *(f"{side}_{part}" for part in parts)))
        return tuple(needed)

    def printable(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the printed columns of *batch*, which has the columns `sources`."""
        arrays = [self._column(batch, name) for name in self.names]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        if not self._has_one_encoding(name):
            return _cells(batch, name, self.format_name, self.bytes_as)
        column = batch.column(name)
        if name == "headers":
            cells = [
                _json_cell([header_object(header, None) for header in one], False)
                for one in column.to_pylist()
            ]
        else:
            cells = json_values(column)
        return pa.array(cells, pa.string())


def _cells(batch: pa.RecordBatch, name: str, format_name: str, bytes_as: str) -> pa.Array:
    if name in SCHEMA_LABELS:
        return _labels(batch, name)
    if name not in SIDES:
        return batch.column(name)
    metadata = batch.schema.field(name).metadata
    is_json = metadata == JSON_TEXT
    column = batch.column(name)
    contents = json_values(column)
    if metadata == ONE_OF:
        contents = [
            one and {member: part for member, part in one.items() if part is not None}
            for one in contents
        ]
    if format_name == "ndjson":
        return pa.array([_json_cell(one, is_json) for one in contents], pa.string())
    byte_formats = BYTE_TEXTS if format_name == "csv" else BYTE_FORMATS
    format_bytes = byte_formats[bytes_as]
    if pa.types.is_binary(column.type):
        cells = [None if one is None else format_bytes(one) for one in column.to_pylist()]
    elif pa.types.is_string(column.type):
        cells = contents
    else:
        is_bare = format_name == "csv"  # a date, a decimal or an enum needs no quotes of JSON
        cells = [
            one if is_bare and isinstance(one, str) else _json_cell(one, is_json)
            for one in contents
        ]
    if format_name == "csv":
        return pa.array(cells, pa.string())
    errors = batch.column(f"{name}_error").to_pylist()
    undecoded = batch.column(f"{name}_bytes").to_pylist()
    ids = batch.column(f"{name}_schema_id").to_pylist()
    for row, error in enumerate(errors):
        if error is not None:
            of_id = f" {ids[row]}" if ids[row] is not None else ""
            cells[row] = f"{format_bytes(undecoded[row])} ! {error.replace('-', ' ')}{of_id}"
    return pa.array(cells, pa.string())


def _json_cell(cell_value: Any, is_json: bool) -> str | None:
    """Return *cell_value* as JSON of one line."""
    if cell_value is None or is_json:
        return None if cell_value is None else " ".join(cell_value.split("\n"))
    return json.dumps(cell_value, ensure_ascii=False, separators=(",", ":"))


def _labels(batch: pa.RecordBatch, name: str) -> pa.Array:
    """Return `orders-value v2 (5)` for each row; the id alone where the schema is not known."""
    subjects, versions, ids = (
        batch.column(f"{name}_{part}").to_pylist() for part in ("subject", "version", "id")
    )
    labels: list[str | None] = []
    for subject, version, id_ in zip(subjects, versions, ids, strict=True):
        is_known = subject is not None and version is not None
        unknown = None if id_ is None else f"({id_})"
        labels.append(f"{subject} v{version} ({id_})" if is_known else unknown)
    return pa.array(labels, pa.string())


def only_topic(topic_names: Sequence[str | None]) -> str | None:
    """Return the only one of *topic_names*; InputError asks for one if there are more."""
    if len(topic_names) != 1:
        raise InputError(
            f"{len(topic_names)} topics", "--topic with one name: each topic has columns of its own"
        )
    return topic_names[0]


def explain(findings: Sequence[Finding]) -> list[Finding]:
    """Print a line for each topic and side that was decoded; return the other findings."""
    for finding in findings:
        if finding.code == "values-decoded":
            warn(f"{finding.topic or '-'}: {finding.message}")
    return [finding for finding in findings if finding.code != "values-decoded"]


TABLES_OF_TOPICS = {
    "__consumer_offsets": ("group_offsets", "groups", "group_members"),
    "__transaction_state": ("transactional_ids",),
    "__share_group_state": ("share_group_offsets",),
    "__cluster_metadata": ("topics", "topic_partitions", "configs"),
}
"""The most used tables of internal topics."""


def hint_at_messages(topics: Collection[str]) -> None:
    """Print what decodes keys and values of the internal topics among *topics*: the forms of `--decode` do not."""
    if not any(topic in INTERNAL_TOPICS for topic in topics):
        return
    from magicbyte_cli.dump_log.decoders.internal_topics import TOPICS  # takes as long as the rest

    for flag, internal in TOPICS.items():
        if internal.name not in topics:
            continue
        text = f"{internal.name}: `magicbyte kafka-dump-log {flag} --files FILE` prints the fields of keys and values"
        if tables := TABLES_OF_TOPICS.get(internal.name):
            text += f"; what they add up to is in --table {' or '.join(tables)}"
        warn(text)


MAX_HINT_VALUES = 500
"""First values of a batch that are looked at for frames."""


def hint_at_frames(dataset: Dataset, batch: pa.RecordBatch) -> None:
    """Print how to decode, if most values of *batch* look framed and a registry's topic is at hand."""
    if "value" not in batch.schema.names or not dataset.all_topics:
        return
    values = batch.column("value").slice(0, MAX_HINT_VALUES)
    if not has_first_bytes(values):
        return
    from magicbyte.reading.typed_records import has_likely_frames  # takes as long as the rest

    if has_likely_frames(dataset, values):
        warn("values begin with schema ids of a registry; --decode auto decodes them")
