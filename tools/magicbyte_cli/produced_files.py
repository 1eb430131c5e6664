"""`magicbyte verify --produced`: checks whether a broker would accept an encoder's output."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from magicbyte import Finding, InputError, Limits, UnreadableError, check_produced_file
from magicbyte.findings import SEVERITIES
from magicbyte.reading.table_rows import problem_rows
from magicbyte.storage import File, Storage, StorageOptions, normalize_path
from magicbyte_cli.display import counted, text_line
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.produced_verdict import ProducedVerdict, verdict_of
from magicbyte_cli.stderr_messages import counted_severities

MAX_BYTES = (1 << 31) - 1
"""Largest size of the `records` of a produce request: their length is an int32."""


@dataclass(frozen=True, slots=True)
class ProducedFilesCheck:
    """Findings in files that each hold the `records` of a produce request for one partition."""

    findings: list[Finding]
    verdicts: list[ProducedVerdict]
    summary: dict[str, Any]

    @property
    def is_sound(self) -> bool:
        return not self.summary["errors"]

    def ndjson_lines(self) -> Iterator[bytes]:
        """Yield lines of NDJSON: an object per finding, one per file, and a summary."""
        for row in problem_rows(self.findings):
            yield object_line({"kind": "problem", **row})
        for verdict in self.verdicts:
            yield object_line(verdict.as_object())
        yield object_line({"kind": "summary", **self.summary})

    def text_lines(self) -> Iterator[bytes]:
        """Yield lines of text: one per finding, the verdict on each file, and a summary."""
        for finding in self.findings:
            yield text_line(f"{finding} [{finding.severity}: {finding.code}]")
        for verdict in self.verdicts:
            yield text_line(f"{verdict.file}: {verdict.sentence}")
        files = counted(self.summary["files"], "file")
        size = counted(self.summary["size_bytes"], "byte")
        yield text_line(f"{files}, {size}: {counted_severities(self.summary)}")


def check_files(
    paths: Sequence[str], *, compacted: bool, limits: Limits, storage_options: StorageOptions
) -> ProducedFilesCheck:
    """Check the files *paths*; each finding names its file."""
    storage = Storage(storage_options)
    storage.check(paths)
    findings: list[Finding] = []
    verdicts: list[ProducedVerdict] = []
    num_files = size_bytes = 0
    for path in paths:
        num_files += 1
        try:
            with _open(path, storage) as file:
                in_file = check_produced_file(file, compacted=compacted, limits=limits)
                size_bytes += file.size_bytes
        except UnreadableError as error:
            in_file = [error.finding]
        findings.extend(replace(finding, file=path) for finding in in_file)
        verdicts.append(verdict_of(path, in_file))
    severities = Counter[str](finding.severity for finding in findings)
    counts = {f"{severity}s": severities[severity] for severity in SEVERITIES}
    return ProducedFilesCheck(
        findings, verdicts, {"files": num_files, "size_bytes": size_bytes, **counts}
    )


def _open(path: str, storage: Storage) -> File:
    location = normalize_path(path)
    if storage.kind_of(location) != "file":
        raise InputError("not a file", "a file that holds a batch", path=path)
    file = storage.open_file(location)
    if file.size_bytes > MAX_BYTES:
        with file:
            raise InputError(f"{file.size_bytes} bytes", f"at most {MAX_BYTES}", path=path)
    return file
