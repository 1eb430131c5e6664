"""Runner of spec/magicbyte_construct: a lenient parse gives the fields, a strict parse the error."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from construct import ConstructError

import magicbyte_construct as twin
from magicbyte_tools.conformance.engines.answering import Answer, serve, unsupported
from magicbyte_tools.vectors.tree import FORMATS, tree

CHECKS = ("grammar", "exact", "checksum")

OVERHEAD = 12
"""Bytes of a log entry that its size does not count: its offset and the size itself."""


def read(format_name: str, path: Path, settings: Mapping[str, Any]) -> Answer:
    """Return the Construct twin's answer for the file *path*; the twin has no *settings*."""
    if format_name not in FORMATS:
        return unsupported("the twin does not describe it")
    data = path.read_bytes()
    fields, error = None, None
    try:
        fields = tree(format_name, data)
        construct, _ = FORMATS[format_name]
        found = construct.parse(data)
        if format_name == "kafka_log":
            check_control_keys(found)
    except ConstructError as refusal:
        error = {"message": str(refusal), "position": getattr(refusal, "position", None)}
    return {"fields": fields, "error": error, "checks": CHECKS}


def check_control_keys(log: Any) -> None:
    """Raise ConstructError if a control record's key is invalid; to the parsed *log* a key is only bytes."""
    position = 0
    for entry in log.entries:
        is_batch = entry.magic == 2
        bits = entry.attributes
        if is_batch and bits.is_control and not bits.codec:
            for record in entry.records:
                try:
                    twin.ControlRecordKey.parse(record.key or b"")
                except ConstructError as refusal:
                    refusal.position = position
                    raise
        position += OVERHEAD + (entry.len_batch if is_batch else entry.len_message)


if __name__ == "__main__":
    serve(read, sys.argv[1:])
