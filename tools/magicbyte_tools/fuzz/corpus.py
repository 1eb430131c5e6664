"""python -m magicbyte_tools.fuzz.corpus FOLDER: write a corpus for each fuzz target.

entries/ has each log entry, for the default target: `make fuzz OPTIONS=FOLDER/entries`. partitions/ has each log in the
folder of a partition, and the log directories, for `--whole` and `--ranges`. bytes/FORMAT/ has the bytes of the
cases of one format, for fuzzers of other readers. values/FORM/ has schemas with values in Avro, Protobuf and JSON,
which are drawn: `python -m magicbyte_tools.fuzz.avro_values --corpus FOLDER/values/avro`, and for the other two
`python -m magicbyte_tools.fuzz.mutated_values FORM --corpus FOLDER/values/FORM`.
"""

import argparse
import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

from magicbyte_tools.conformance.cases import Case, load_cases
from magicbyte_tools.conformance.vectors_folder import VECTORS
from magicbyte_tools.fuzz import value_seeds
from magicbyte_tools.fuzz.partition import seed_of
from magicbyte_tools.fuzz.seeds import split_entries
from magicbyte_tools.vectors.case_levels import LOG_FORMATS

PARTITION = "vectors-0"
LOG = f"{0:020}.log"

FOLDER_FORMAT = "log_dir"

SCHEMAS_OF_A_FORM = 100


def main(arguments: Sequence[str]) -> int:
    """Write the corpus into a folder, and print the number of files of each target."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.fuzz.corpus")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the corpus is written")
    folder = parser.parse_args(arguments).folder
    cases = load_cases(VECTORS)
    for target, files in (
        ("entries", entry_files(cases)),
        ("partitions", partition_files(cases)),
        ("bytes", format_files(cases)),
        ("values", value_files()),
    ):
        count = 0
        for name, content in files:
            path = folder / target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            count += 1
        print(f"{folder / target}: {count:,} files")
    return 0


def entry_files(cases: Iterable[Case]) -> Iterator[tuple[str, bytes]]:
    """Yield each log entry of *cases* once, whose fields can be read, with a name that is its digest."""
    known = set()
    for path in log_paths(cases):
        for entry in split_entries(path.read_bytes())[:-1]:
            if entry not in known and seed_of(entry) is not None:
                known.add(entry)
                yield f"{hashlib.sha256(entry).hexdigest()[:16]}.log", entry


def log_paths(cases: Iterable[Case]) -> Iterator[Path]:
    """Yield the files of *cases* that hold log entries."""
    for case in cases:
        if case.format in LOG_FORMATS:
            yield case.data_path
        elif case.format == FOLDER_FORMAT:
            yield from sorted(case.data_path.rglob("*.log"))


def partition_files(cases: Iterable[Case]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a log.dir for each log of *cases*."""
    for case in cases:
        name = case.id.replace("/", "-")
        if case.format in LOG_FORMATS:
            yield f"{name}/{PARTITION}/{LOG}", case.data_path.read_bytes()
        elif case.format == FOLDER_FORMAT:
            for path in sorted(case.data_path.rglob("*")):
                if path.is_file():
                    relative = path.relative_to(case.data_path).as_posix()
                    yield f"{name}/{relative}", path.read_bytes()


def format_files(cases: Iterable[Case]) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of each of *cases* that is a single file, in a folder named for the format."""
    for case in cases:
        if case.format != FOLDER_FORMAT:
            yield case.id, case.data_path.read_bytes()


def value_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of drawn schemas and of values that are sound by them, a folder for each schema."""
    for form, draw in value_seeds.DRAW.items():
        for number in range(SCHEMAS_OF_A_FORM):
            seeds = draw(Random(f"{form} {number}"))
            for name, content in seeds.files():
                yield f"{form}/{number:03}/{name}", content


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
