"""python -m magicbyte_tools.parsers.check [TARGET...] [--logs FOLDER...]: compare generated parsers with magicbyte.

Runs the example of each language over the vectors of `kafka_log` and all segments below the folders, compares
the records that it prints with the vector's, or with those that magicbyte reads, and ends with a table.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import magicbyte as mb
from magicbyte.errors import MagicbyteError
from magicbyte.logdir.file_names import parse_file
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


def log_files(folders: Iterable[Path]) -> list[Path]:
    """Return the paths of segments and KRaft snapshots below *folders*, and of those about to be deleted."""
    return [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and (path.suffix == ".log" or parse_file(path.name).kind in ("log", "checkpoint"))
    ]


def segments(folders: Iterable[Path]) -> Iterator[Sample]:
    """Yield the sound segments below *folders*, with the records that magicbyte reads."""
    for path in log_files(folders):
        try:
            records = pa.table(mb.from_bytes(path.read_bytes()).records(columns=[*COLUMNS]))
        except (MagicbyteError, pa.ArrowInvalid):  # through Arrow's stream, its own error
            continue  # not a log, or a damaged one
        yield Sample(path, rows(records), is_sound=True)


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


@dataclass(frozen=True, slots=True)
class CheckedSamples:
    """Answers of one language to samples of one kind: how many there were, and the faults in them."""

    num_files: int
    num_records: int
    seconds: float
    """Time that the program took for all of them, without building it."""
    faults: Sequence[str]

    @property
    def cells(self) -> tuple[str, ...]:
        numbers = (self.num_files, self.num_records)
        return (*(f"{number:,}" for number in numbers), f"{self.seconds:.1f}")


def checked(command: Sequence[str], samples: Sequence[Sample]) -> CheckedSamples:
    """Run *command* on *samples*; compare each of its answers."""
    started = time.perf_counter()
    found = answers(command, samples) if samples else []
    seconds = time.perf_counter() - started
    pairs = zip(samples, found, strict=True)
    faults = [f"{sample.path}: {words}" for sample, one in pairs if (words := fault(sample, one))]
    return CheckedSamples(
        len(samples), sum(len(sample.records) for sample in samples), seconds, faults
    )


HEADINGS = (
    "language",
    *("logs", "records", "seconds"),
    *("vectors", "records", "seconds"),
    "differ",
)


def table(rows_of_cells: Sequence[Sequence[str]]) -> str:
    """Return *rows_of_cells* as lines of aligned columns below HEADINGS, numbers to the right."""
    lines = [HEADINGS, *rows_of_cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def main(arguments: Sequence[str]) -> int:
    """Compare; return the exit status: 1 where something differs, 2 where a language cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.parsers.check")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default: all that can be run")
    parser.add_argument("--logs", nargs="*", type=Path, default=[], metavar="FOLDER")
    options = parser.parse_args(arguments)
    status = 0
    vector_samples, log_samples = [*vectors()], [*segments(options.logs)]
    lines = []
    for target in options.targets or EXAMPLES:
        try:
            command = example(target)
        except ToolchainUnavailable as error:
            print(f"{target}: not run: {error}", file=sys.stderr)
            status = max(status, 2 if options.targets else 0)
            continue
        logs, cases = checked(command, log_samples), checked(command, vector_samples)
        faults = [*logs.faults, *cases.faults]
        for words in faults:
            print(f"{target}: {words}")
        lines.append((target, *logs.cells, *cases.cells, f"{len(faults):,}"))
        status = max(status, bool(faults))
    print(table(lines))
    if left_out := len(log_files(options.logs)) - len(log_samples):
        files = "file is" if left_out == 1 else "files are"
        print(f"{left_out} more {files} damaged or no log, and not compared.")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
