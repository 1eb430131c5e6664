"""`magicbyte verify --produced`: whether a broker would take what an encoder made."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from magicbyte import Finding, InputError, Limits, check_produced
from magicbyte.reading.table_rows import problem_rows
from magicbyte.storage import Storage, StorageOptions, normalize_path
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.printable import text_line
from magicbyte_cli.stderr_messages import SEVERITIES, counted, counted_severities

MAX_BYTES = (1 << 31) - 1
"""The most that the `records` of a request can be: their length is an int32."""


@dataclass(frozen=True, slots=True)
class Produced:
    """What was found in files that each hold one partition's `records` of a produce request."""

    findings: list[Finding]
    summary: dict[str, Any]

    @property
    def is_sound(self) -> bool:
        return not self.summary["errors"]

    def objects(self) -> Iterator[bytes]:
        """Yield lines of NDJSON: an object per problem, and a summary."""
        for row in problem_rows(self.findings):
            yield object_line({"kind": "problem", **row})
        yield object_line({"kind": "summary", **self.summary})

    def sentences(self) -> Iterator[bytes]:
        """Yield lines to read."""
        for finding in self.findings:
            yield text_line(f"{finding} [{finding.severity}: {finding.code}]")
        files = counted(self.summary["files"], "file")
        size = counted(self.summary["size_bytes"], "byte")
        yield text_line(f"{files}, {size}: {counted_severities(self.summary)}")


def check_files(
    paths: Sequence[str], *, compacted: bool, limits: Limits, storage_options: StorageOptions
) -> Produced:
    """Return what is wrong with each of the files *paths*."""
    storage = Storage(storage_options)
    storage.check(paths)
    findings: list[Finding] = []
    num_files = size_bytes = 0
    for path in paths:
        data = _read(path, storage)
        found = check_produced(data, compacted=compacted, limits=limits)
        findings.extend(replace(finding, file=path) for finding in found)
        num_files += 1
        size_bytes += len(data)
    severities = Counter[str](finding.severity for finding in findings)
    counts = {f"{severity}s": severities[severity] for severity in SEVERITIES}
    return Produced(findings, {"files": num_files, "size_bytes": size_bytes, **counts})


def _read(path: str, storage: Storage) -> bytes:
    place = normalize_path(path)
    if storage.kind_of(place) != "file":
        raise InputError("no file", "one that holds a batch", path=path)
    with storage.open_file(place) as file:
        if file.size_bytes > MAX_BYTES:
            raise InputError(f"{file.size_bytes} bytes", f"at most {MAX_BYTES}", path=path)
        return file.read_at(0, file.size_bytes)
