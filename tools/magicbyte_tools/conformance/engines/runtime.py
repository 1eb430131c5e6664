"""Runner of magicbyte itself: rows, findings and first error of logs, and fields of companion files."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

import magicbyte as mb
from magicbyte.engines.companion_rows import read_rows
from magicbyte.engines.encoding import BatchFields
from magicbyte.engines.factory import encoder
from magicbyte.errors import FormatError, error_of
from magicbyte.logdir.checkpoints import parse_offset_lines
from magicbyte.logdir.companions import read_producer_snapshot, read_transaction_index
from magicbyte_formats.wire import ProducerSnapshotHeader
from magicbyte_tools.conformance.answer_shape import CHECKS
from magicbyte_tools.conformance.encoded_batch import CODECS
from magicbyte_tools.conformance.engines.answering import Answer, hexadecimal, serve, unsupported
from magicbyte_tools.conformance.engines.coordinator_records import coordinator_record

RECORDS_TO_ENCODE = pa.schema(
    {
        "offset": pa.int64(),
        "timestamp": pa.int64(),
        "key": pa.binary(),
        "value": pa.binary(),
        "headers": pa.list_(pa.struct({"key": pa.string(), "value": pa.binary()})),
    }
)

MAX_ENCODED_BYTES = 1 << 20
"""Size of a batch from which a further one begins; no case has so many records."""

COLUMNS = ("topic", "partition", "offset", "timestamp", "timestamp_type", "key", "value", "headers")


def read(
    format_name: str, path: Path, settings: Mapping[str, Any], engine: str = "reference"
) -> Answer:
    """Return the answer for the file or folder *path*, read by *engine* with the limits in *settings*."""
    limits = mb.Limits(**settings.get("limits", {}))
    match format_name:
        case "kafka_log":
            log = mb.from_bytes(path.read_bytes(), on_damage="skip", engine=engine, limits=limits)
            return _log(log, COLUMNS[2:])
        case "log_dir":
            logs = mb.open(
                str(path), on_damage="skip", include_internal=True, engine=engine, limits=limits
            )
            return _log(logs, COLUMNS)
        case "kafka_produced":
            compacted = settings.get("compacted", False)
            findings = mb.check_produced(path.read_bytes(), compacted=compacted, limits=limits)
            return _found(findings)
        case "kafka_encoded":
            return {"encoded": encoded_batch(settings["encode"], engine).hex()}
        case "kafka_coordinator_record":
            return coordinator_record(path.read_bytes(), settings)
        case "kafka_offset_index":
            return _index("index", path.read_bytes())
        case "kafka_time_index":
            return _index("timeindex", path.read_bytes())
        case _ if format_name in COMPANIONS:
            return _companion(path.read_bytes(), COMPANIONS[format_name])
        case _:
            return unsupported("the runtime reads it as a part of a log alone")


def _log(dataset: mb.Dataset, columns: tuple[str, ...]) -> Answer:
    records = [row for batch in dataset.records(columns) for row in _rows(batch)]
    problems = dataset.problems()
    for _ in problems:
        pass
    return {"records": records, **_found(problems.report.findings)}


def _found(findings: list[mb.Finding]) -> Answer:
    first = next((finding for finding in findings if finding.severity == "error"), None)
    error = None
    if first is not None:
        error = {**_finding(first), "class": type(error_of(first)).__name__}
    return {"error": error, "findings": list(map(_finding, findings)), "checks": CHECKS}


def _finding(finding: mb.Finding) -> Answer:
    names = ("code", "severity", "file", "position", "payload_position")
    return {name: getattr(finding, name) for name in names}


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Yield the rows of the Arrow batch *batch* as the protocol's JSON: integers as text, bytes in hex."""
    times = batch.schema.get_field_index("timestamp")
    batch = batch.set_column(times, "timestamp", batch.column(times).cast(pa.int64()))
    for row in batch.to_pylist():
        yield {
            **row,
            "offset": str(row["offset"]),
            "timestamp": None if row["timestamp"] is None else str(row["timestamp"]),
            "key": hexadecimal(row["key"]),
            "value": hexadecimal(row["value"]),
            "headers": [
                {"key": header["key"].encode().hex(), "value": hexadecimal(header["value"])}
                for header in row["headers"] or ()
            ],
        }


def encoded_batch(request: Mapping[str, Any], engine: str) -> bytes:
    """Return the batch that *engine* encodes of *request*, a case's `encode`."""
    names = ("is_transactional", "producer_epoch", "base_sequence")
    fields = BatchFields(
        codec=CODECS.index(request["codec"]),
        leader_epoch=-1,
        producer_id=int(request["producer_id"]),
        **{name: request[name] for name in names},
    )
    rows = [
        {
            "offset": number,
            "timestamp": int(record["timestamp"]),
            "key": stored_bytes(record["key"]),
            "value": stored_bytes(record["value"]),
            "headers": [
                {"key": bytes.fromhex(one["key"]).decode(), "value": stored_bytes(one["value"])}
                for one in record["headers"]
            ],
        }
        for number, record in enumerate(request["records"])
    ]
    records = pa.RecordBatch.from_pylist(rows, schema=RECORDS_TO_ENCODE)
    (batches,) = encoder(engine).batches(records, fields, batch_bytes=MAX_ENCODED_BYTES)
    return bytes(batches.data)


def stored_bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


# Companion files, read alone


def _index(kind: str, data: bytes) -> Answer:
    """Return the answer for an index (*kind*: index, timeindex); a tail that is not zeros is an error."""
    rows, end = read_rows(kind, data)
    if "timestamp" in rows.column_names:
        times = rows.column("timestamp").cast(pa.int64()).cast(pa.string())
        rows = rows.set_column(rows.column_names.index("timestamp"), "timestamp", times)
    fields: Answer = {"entries": rows.to_pylist()} if rows.num_rows else {}
    tail = data[end:]
    if tail:
        fields["unknown_tail" if any(tail) else "zero_tail"] = tail.hex()
    error = {"position": 0} if any(tail) else None
    return {"fields": fields, "error": error, "checks": CHECKS}


def _companion(data: bytes, fields: Callable[[bytes], Answer]) -> Answer:
    try:
        return {"fields": fields(data), "error": None, "checks": CHECKS}
    except FormatError as error:
        told = {"position": error.position, "code": error.code, "class": type(error).__name__}
        return {"fields": None, "error": told, "checks": CHECKS}


def _transaction_index(data: bytes) -> Answer:
    entries = read_transaction_index(data)
    longs = ("producer_id", "first_offset", "last_offset", "last_stable_offset")
    return {"aborted_transactions": [_tree(entry, longs) for entry in entries]}


def _producer_snapshot(data: bytes) -> Answer:
    producers = read_producer_snapshot(data)
    longs = ("producer_id", "last_offset", "timestamp", "current_transaction_first_offset")
    return {
        **_tree(ProducerSnapshotHeader.unpack_from(data), ()),
        "producers": [_tree(producer, longs) for producer in producers],
    }


def _offset_checkpoint(data: bytes) -> Answer:
    lines = parse_offset_lines(data)
    counts = ("0", str(len(lines)))[: len(data.splitlines())]  # an empty file has no version either
    entries = [
        {"topic": topic, "partition": str(partition), "offset": str(offset)}
        for topic, partition, offset in lines
    ]
    return {**dict(zip(("version", "num_entries"), counts, strict=False)), "entries": entries}


def _tree(columns: Any, longs: tuple[str, ...]) -> Answer:
    """Return the named tuple *columns* as a dictionary, with the 64-bit integers *longs* as strings."""
    return {
        name: str(value) if name in longs else value for name, value in columns._asdict().items()
    }


COMPANIONS = {
    "kafka_offset_checkpoint": _offset_checkpoint,
    "kafka_producer_snapshot": _producer_snapshot,
    "kafka_transaction_index": _transaction_index,
}


if __name__ == "__main__":
    serve(partial(read, engine=sys.argv[1]), sys.argv[2:])
