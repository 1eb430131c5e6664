"""The manifest of a segment in remote storage, as Aiven's plugin writes it (`.rsm-manifest`, version 1).

The format is the plugin's, not Kafka's, so it is not in `spec/`: the plugin's classes SegmentManifestV1,
ChunkIndex and ChunkSizesBinaryCodec define it. Every number in it is compared with the object that it
describes.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from magicbyte.codecs import zstd
from magicbyte.errors import CodecError, FormatError, InputError, LimitError
from magicbyte.findings import Finding, excerpt
from magicbyte.limits import MIB
from magicbyte.logdir.embedded_file import EmbeddedRange
from magicbyte.logdir.log_file import LogFile

MAX_MANIFEST_BYTES = 16 * MIB
"""A chunk takes about three bytes; a longer file is not a manifest."""

MAX_CHUNK_BYTES = 256 * MIB
"""The default of `chunk.size` is 4 MiB; a chunk is held in memory."""

MAX_CHUNKS = 1 << 20

VERSION = "1"

INDEXES = {
    "offset": "index",
    "timestamp": "timeindex",
    "producerSnapshot": "snapshot",
    "leaderEpoch": "epochs",
    "transaction": "txnindex",
}
"""Kinds of the files in `.indexes`, by their names in the manifest."""

OPTIONAL = ("transaction",)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a manifest."""

    log: EmbeddedRange
    indexes: Mapping[str, EmbeddedRange]
    """Indexes by kind; without absent ones, and empty if there is no `.indexes` object."""
    end_offset: int | None
    """The offset after the segment's last one, as the broker that uploaded it knew it."""


def read_manifest(file: LogFile, object_bytes: int, indexes_bytes: int | None) -> Manifest:
    """Read and parse the manifest *file*; errors name the file."""
    try:
        if file.size_bytes > MAX_MANIFEST_BYTES:
            raise _invalid("", f"{file.size_bytes} bytes", f"at most {MAX_MANIFEST_BYTES}")
        return parse_manifest(
            file.read_small(MAX_MANIFEST_BYTES),
            path=file.path,
            object_bytes=object_bytes,
            indexes_bytes=indexes_bytes,
        )
    except FormatError as error:
        raise FormatError(error.finding.at(None, None, file.path)) from error


def embedded_log(file: LogFile, manifest: LogFile) -> LogFile:
    """Return the segment *file* with the range of its object that its *manifest* states."""
    embedded = read_manifest(manifest, file.size_bytes, None).log
    return replace(file, size_bytes=embedded.size_bytes, embedded=embedded)


def parse_manifest(
    data: bytes, *, path: str, object_bytes: int, indexes_bytes: int | None
) -> Manifest:
    """Parse the manifest *data* of the file *path*.

    The segment's object has *object_bytes*, the `.indexes` object *indexes_bytes*; None if there is
    none. Raises InputError if the segment is encrypted, FormatError (`manifest-invalid`) with the
    field that is wrong.
    """
    fields = _object(_parsed(data), "the manifest")
    if fields.get("version") != VERSION:
        raise _invalid("version", fields.get("version"), repr(VERSION))
    if fields.get("encryption") is not None:
        raise InputError(
            f"an encrypted segment{_key_of(fields['encryption'])}",
            "an unencrypted segment: decryption is not supported",
            path=path,
        )
    is_compressed = fields.get("compression")
    if not isinstance(is_compressed, bool):
        raise _invalid("compression", is_compressed, "true or false")
    return Manifest(
        _log(_object(fields.get("chunkIndex"), "chunkIndex"), is_compressed, object_bytes),
        {}
        if indexes_bytes is None
        else _indexes(_object(fields.get("segmentIndexes"), "segmentIndexes"), indexes_bytes),
        _end_offset(fields.get("remoteLogSegmentMetadata")),
    )


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            Finding(
                code="manifest-invalid",
                message=f"no JSON: {error}",
                position=getattr(error, "pos", 0),
                found=data[:32].decode("utf-8", "replace"),
                expected="a manifest in JSON",
            )
        ) from error


def _object(value: Any, field: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _invalid(field, value, "an object")
    return value


def _number(fields: Mapping[str, Any], field: str, *, least: int, most: int) -> int:
    value = fields.get(field)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _invalid(field, value, f"{least} to {most}")
    return value


def _key_of(encryption: Any) -> str:
    """Return words for an error that name the key with which the segment's data key is encrypted."""
    key = encryption.get("dataKey") if isinstance(encryption, dict) else None
    return f" (key {key.partition(':')[0]!r})" if isinstance(key, str) else ""


def _log(index: Mapping[str, Any], is_compressed: bool, object_bytes: int) -> EmbeddedRange:
    """Return the range of the object that holds the segment."""
    size = _number(index, "originalFileSize", least=0, most=(1 << 31) - 1)
    each = _number(index, "originalChunkSize", least=1, most=(1 << 31) - 1)
    if min(each, size) > MAX_CHUNK_BYTES:
        raise _invalid("originalChunkSize", each, f"at most {MAX_CHUNK_BYTES}")
    count = -(-size // each)
    # A chunk has at least one byte.
    most = min(object_bytes, MAX_CHUNKS)
    if count > most:
        raise _invalid("originalChunkSize", each, f"more, in {size} bytes: at most {most} chunks")
    match index.get("type"):
        case "fixed":
            stored = _fixed(index, count, object_bytes)
        case "variable":
            stored = _variable(index, count)
        case kind:
            raise _invalid("type", kind, "'fixed' or 'variable'")
    if sum(stored) != object_bytes:
        raise _invalid("chunkIndex", f"{sum(stored)} bytes", f"{object_bytes}, the object's size")
    if is_compressed:
        return EmbeddedRange(object_bytes, size, 0, each, stored)
    if size != object_bytes:
        raise _invalid("originalFileSize", size, f"{object_bytes}, the object's size")
    return EmbeddedRange(object_bytes, size)


def _fixed(index: Mapping[str, Any], count: int, most: int) -> tuple[int, ...]:
    each = _number(index, "transformedChunkSize", least=0, most=most)
    last = _number(index, "finalTransformedChunkSize", least=0, most=most)
    return (each,) * (count - 1) + (last,) * min(count, 1)


def _variable(index: Mapping[str, Any], count: int) -> tuple[int, ...]:
    """Return the sizes in bytes of *count* chunks, from the manifest's compressed table."""
    field = "transformedChunks"
    text = index.get(field)
    if not isinstance(text, str):
        raise _invalid(field, text, "base64 of zstd")
    try:
        table = zstd.decompress(
            base64.b64decode(text, validate=True), max_bytes=TABLE_HEADER + 4 * count + 4
        )
    except LimitError as error:
        raise _invalid(field, f"{error.claimed} bytes", f"a table of {count} chunks") from error
    except (CodecError, ValueError) as error:
        raise _invalid(field, str(error), "base64 of zstd") from error
    return _sizes(table, count)


TABLE_HEADER = 9
"""Bytes of the count, of the least value and of the width of the other values."""


def _sizes(size_table: bytes, count: int) -> tuple[int, ...]:
    """Return the *count* numbers in *size_table*, a format of the plugin (ChunkSizesBinaryCodec).

    The table is a count of 4 bytes, followed by the number itself if there is one. If there are more,
    the least of all but the last follows, then the width in bytes of the differences to it, the
    differences, and the last number in full.
    """
    field = "transformedChunks"

    def value(begin: int, end: int) -> int:
        if end > len(size_table):
            raise _invalid(field, f"a table of {len(size_table)} bytes", f"at least {end}")
        return int.from_bytes(size_table[begin:end], "big")

    stated = value(0, 4)
    if stated != count:
        raise _invalid(field, f"{stated} chunks", f"{count}, by originalFileSize")
    if count == 0:
        end, sizes = 4, []
    elif count == 1:
        end, sizes = 8, [value(4, 8)]
    else:
        least, width = value(4, 8), value(8, TABLE_HEADER)
        if not 1 <= width <= 4:
            raise _invalid(field, f"numbers of {width} bytes", "1 to 4")
        begins = range(TABLE_HEADER, TABLE_HEADER + (count - 1) * width, width)
        sizes = [least + value(begin, begin + width) for begin in begins]
        end = TABLE_HEADER + (count - 1) * width + 4
        sizes.append(value(end - 4, end))
    if end != len(size_table):
        raise _invalid(field, f"a table of {len(size_table)} bytes", f"{end}")
    return tuple(sizes)


def _indexes(fields: Mapping[str, Any], object_bytes: int) -> dict[str, EmbeddedRange]:
    """Return the range of each index in the `.indexes` object, which has *object_bytes*."""
    indexes = {}
    for name, kind in INDEXES.items():
        if name in OPTIONAL and fields.get(name) is None:
            continue
        index = _object(fields.get(name), name)
        position = _number(index, "position", least=0, most=object_bytes)
        size = _number(index, "size", least=0, most=object_bytes - position)
        indexes[kind] = EmbeddedRange(object_bytes, size, position)
    return indexes


def _end_offset(metadata: Any) -> int | None:
    """Return the offset after the segment's last one; None if *metadata* state no valid one."""
    last = metadata.get("endOffset") if isinstance(metadata, dict) else None
    if isinstance(last, bool) or not isinstance(last, int) or not 0 <= last < (1 << 63) - 1:
        return None
    return last + 1


def _invalid(field: str, found: object, expected: str) -> FormatError:
    shown = excerpt(found if isinstance(found, str) else repr(found))
    return FormatError(
        Finding(
            code="manifest-invalid",
            message=(f"{field}: " if field else "") + f"{shown}, expected {expected}",
            position=0,
            field=field or None,
            found=shown,
            expected=expected,
        )
    )
