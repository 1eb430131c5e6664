"""python -m magicbyte_tools.parsers.check [TARGET...] [--logs FOLDER...]: compare generated parsers with magicbyte.

Runs the example of each language once, over the vectors of `kafka_log` and all segments below the folders, and
compares the records that it prints with the vector's, or with those that magicbyte reads.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import magicbyte as mb
from magicbyte.errors import MagicbyteError
from magicbyte_tools.conformance.cases import load_cases
from magicbyte_tools.conformance.vectors_folder import VECTORS
from magicbyte_tools.parsers.dumpers.builders import ToolchainUnavailable
from magicbyte_tools.parsers.examples import EXAMPLES, example

Row = dict[str, Any]

REFUSED_BY = frozenset({"grammar", "exact", "checksum", "codec"})
"""Classes of faults that the packages look for; the others concern several entries or magicbyte's limits."""

COLUMNS = ("offset", "timestamp", "timestamp_type", "key", "value", "headers")


@dataclass(frozen=True, slots=True)
class Sample:
    """A file with the records that a reader must print of it."""

    path: Path
    records: Sequence[Row]
    is_sound: bool
    """True if a reader must find no problem; else it must find one, and print *records* before it."""
    records_if_refused: Sequence[Row] | None = None
    """Records before a problem that a reader may find in bytes which Kafka reads."""


def vectors(folder: Path = VECTORS) -> Iterator[Sample]:
    """Yield the cases of `kafka_log` on which every reader agrees."""
    for case in load_cases(folder):
        content = case.content
        if case.format != "kafka_log" or case.settings:
            continue
        if case.data_path.parts[-3] == "valid":
            refused = content.get("refused")
            before = refused and refused["records"][: refused["records_before"]]
            yield Sample(case.data_path, content["records"], True, before)
        elif case.verdict == "invalid" and content["caught_by"] in REFUSED_BY:
            before = content["records"][: content["records_before"]]
            yield Sample(case.data_path, before, is_sound=False)


def segments(folders: Iterable[Path]) -> Iterator[Sample]:
    """Yield the sound segments below *folders*, with the records that magicbyte reads."""
    for folder in folders:
        for path in sorted(folder.rglob("*.log")):
            try:
                table = pa.table(mb.from_bytes(path.read_bytes()).records(columns=[*COLUMNS]))
            except MagicbyteError:
                continue  # not a log, or a damaged one
            yield Sample(path, rows(table), is_sound=True)


def rows(table: pa.Table) -> list[Row]:
    """Return records as the vectors write them (tests/vectors/README.md)."""
    at = table.schema.get_field_index("timestamp")
    table = table.set_column(at, "timestamp", table["timestamp"].cast(pa.int64()))
    return [_row(row) for row in table.to_pylist()]


def _row(row: Row) -> Row:
    return {
        "offset": str(row["offset"]),
        "timestamp": None if row["timestamp"] is None else str(row["timestamp"]),
        "timestamp_type": row["timestamp_type"],
        "key": _hexed(row["key"]),
        "value": _hexed(row["value"]),
        "headers": [
            {"key": header["key"].encode().hex(), "value": _hexed(header["value"])}
            for header in row["headers"] or []
        ],
    }


def _hexed(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def answers(command: Sequence[str], samples: Sequence[Sample]) -> list[Row]:
    """Return the answer of the example to each sample, from one process."""
    names = "".join(f"{sample.path.resolve()}\n" for sample in samples)
    done = subprocess.run(command, input=names.encode(), capture_output=True)
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    if done.returncode or len(lines) != len(samples):
        at = samples[len(lines)].path if len(lines) < len(samples) else "the end"
        words = done.stderr.decode(errors="replace")[-2000:]
        raise RuntimeError(f"{command[0]}: status {done.returncode} at {at}: {words}")
    return lines


def fault(sample: Sample, answer: Row) -> str | None:
    """Return a sentence for the first fault in the *answer* to *sample*, or None."""
    records = [_comparable(row) for row in answer["records"] if "control_type" not in row]
    expected = [_comparable(row) for row in sample.records]
    problems = answer["problems"]
    if problems and sample.records_if_refused is not None:
        expected = [_comparable(row) for row in sample.records_if_refused]
    elif sample.is_sound:
        if problems:
            return f"{problems[0]} in sound bytes"
        if records != expected:
            return f"{len(records)} records, {len(expected)} expected: {_first(records, expected)}"
        return None
    elif not problems:
        return "no problem in damaged bytes"
    if records[: len(expected)] != expected:
        return f"before the damage: {_first(records, expected)}"
    return None


def _comparable(row: Row) -> Row:
    """Return *row* without the decoded keys of headers, which the examples do not print."""
    return {
        **row,
        "headers": [{key: one[key] for key in ("key", "value")} for one in row["headers"]],
    }


def _first(records: Sequence[Row], expected_records: Sequence[Row]) -> str:
    """Return the first record that differs, found and expected."""
    for found, wanted in zip(records, expected_records, strict=False):
        if found != wanted:
            return f"found {found}, expected {wanted}"
    return "one is the beginning of the other"


def main(arguments: Sequence[str]) -> int:
    """Compare; return the exit status: 1 where something differs, 2 where a language cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.parsers.check")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default: all that can be run")
    parser.add_argument("--logs", nargs="*", type=Path, default=[], metavar="FOLDER")
    options = parser.parse_args(arguments)
    status = 0
    samples = [*vectors(), *segments(options.logs)]
    num_records = sum(len(sample.records) for sample in samples)
    for target in options.targets or EXAMPLES:
        try:
            command = example(target)
        except ToolchainUnavailable as error:
            print(f"{target}: not run: {error}", file=sys.stderr)
            status = max(status, 2 if options.targets else 0)
            continue
        faults = [
            f"{target}: {sample.path}: {words}"
            for sample, answer in zip(samples, answers(command, samples), strict=True)
            if (words := fault(sample, answer))
        ]
        for line in faults:
            print(line)
        print(f"{target}: {len(samples)} files, {num_records} records, {len(faults)} differ")
        status = max(status, bool(faults))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
