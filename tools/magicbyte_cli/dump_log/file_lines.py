"""Lines that kafka-dump-log prints for a file, by the suffix of the file's name."""

import re
from collections.abc import Iterator
from pathlib import Path

from magicbyte.errors import UnreadableError
from magicbyte_cli.dump_log import ToolError, UnreadableToolError
from magicbyte_cli.dump_log.closing_findings import ClosingFindings
from magicbyte_cli.dump_log.companion_lines import (
    DumpOptions,
    base_offset,
    index_lines,
    snapshot_lines,
    time_index_lines,
    transaction_index_lines,
)
from magicbyte_cli.dump_log.segment_lines import segment_lines

BOOTSTRAP = "bootstrap.checkpoint"
"""Name of the KRaft snapshot that `kafka-storage format` writes."""

_SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


def file_lines(name: str, dump_options: DumpOptions, findings: ClosingFindings) -> Iterator[str]:
    """Yield the name of the file *name*, then its lines; ToolError where kafka-dump-log ends."""
    try:
        yield from _lines(name, dump_options, findings)
    except UnreadableError as error:
        raise UnreadableToolError(str(error)) from error
    except OSError as error:
        raise UnreadableToolError(f"{name}: {error.strerror or error}") from error


def _lines(name: str, dump_options: DumpOptions, findings: ClosingFindings) -> Iterator[str]:
    yield f"Dumping {name}"
    path, segments = Path(name), dump_options.segments
    match path.suffix:
        case ".log":
            label = "Log starting offset:" if segments.release.since(3, 3) else "Starting offset:"
            yield f"{label} {base_offset(path)}"
            lines = segment_lines(path, segments, findings)
        case ".checkpoint" if segments.release.since(3, 3):
            yield _title(path.name)
            lines = segment_lines(path, segments, findings)
        case ".index":
            lines = index_lines(path, findings, dump_options)
        case ".timeindex":
            lines = time_index_lines(path, findings, dump_options)
        case ".txnindex":
            lines = transaction_index_lines(path, segments.release)
        case ".snapshot":
            lines = snapshot_lines(path, dump_options)
        case _:
            dump_options.warn(f"Ignoring unknown file {name}")
            return
    if not path.is_file():
        raise ToolError(f"{name}: no such file")
    yield from lines


def _title(name: str) -> str:
    if name == BOOTSTRAP:
        return "KRaft bootstrap snapshot"
    match = _SNAPSHOT.fullmatch(name)
    if match is None:
        raise ToolError(f"{name}: expected the name of a snapshot, OFFSET-EPOCH.checkpoint")
    return f"Snapshot end offset: {int(match[1])}, epoch: {int(match[2])}"
