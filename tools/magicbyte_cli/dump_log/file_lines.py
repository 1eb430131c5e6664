"""Lines of a file, of whatever kind its name says."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from magicbyte_cli.dump_log.closing_findings import Findings
from magicbyte_cli.dump_log.companion_lines import (
    Complain,
    base_offset,
    index_lines,
    snapshot_lines,
    time_index_lines,
    transaction_index_lines,
)
from magicbyte_cli.dump_log.end_error import EndError
from magicbyte_cli.dump_log.record_lines import Wanted
from magicbyte_cli.dump_log.segment_lines import segment_lines

BOOTSTRAP = "bootstrap.checkpoint"
"""The snapshot of KRaft that the formatting of a log.dir writes."""

_SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """What is to be printed of files."""

    segments: Wanted
    verify_only: bool
    sanity: bool
    max_message_size: int
    complain: Complain


def file_lines(given: str, wanted: Files, found: Findings) -> Iterator[str]:
    """Yield the lines of the file *given*, its name first; EndError where the tool ends."""
    yield f"Dumping {given}"
    path, segments = Path(given), wanted.segments
    match path.suffix:
        case ".log":
            yield f"{segments.release.begins} {base_offset(path)}"
            lines = segment_lines(path, segments, found)
        case ".checkpoint" if segments.release.has_snapshots:
            yield _title(path.name)
            lines = segment_lines(path, segments, found)
        case ".index":
            lines = index_lines(
                path,
                found,
                verify_only=wanted.verify_only,
                sanity=wanted.sanity,
                max_message_size=wanted.max_message_size,
            )
        case ".timeindex":
            lines = time_index_lines(
                path, found, verify_only=wanted.verify_only, sanity=wanted.sanity
            )
        case ".txnindex":
            lines = transaction_index_lines(path)
        case ".snapshot":
            lines = snapshot_lines(path, segments.release, wanted.complain)
        case _:
            wanted.complain(f"Ignoring unknown file {given}")
            return
    if not path.is_file():
        raise EndError(f"{given}: no such file")
    yield from lines


def _title(name: str) -> str:
    if name == BOOTSTRAP:
        return "KRaft bootstrap snapshot"
    found = _SNAPSHOT.fullmatch(name)
    if found is None:
        raise EndError(f"{name}: the name is not that of a snapshot, as OFFSET-EPOCH.checkpoint")
    return f"Snapshot end offset: {int(found[1])}, epoch: {int(found[2])}"
