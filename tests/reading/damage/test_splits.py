"""Tests that splits of any size, and any columns, give the same rows on sound and damaged logs."""

import pickle
import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from extent import part
from magicbyte.tables.schemas import RECORDS

SMALLER_THAN_AN_ENTRY = 20
SIZES = (SMALLER_THAN_AN_ENTRY, 700, 20_000)
LEVELS = ("read_committed", "read_uncommitted")


def split_rows(dataset: Any, size: int, columns: tuple[str, ...]) -> pa.Table:
    """Return the rows of a plan's splits of *size* bytes, each pickled, then read alone."""
    splits = [pickle.loads(pickle.dumps(split)) for split in mb.plan(dataset, size)]
    schema = RECORDS.schema(columns)
    parts = {number: list(mb.read_split(split, columns)) for number, split in shuffled(splits)}
    return pa.Table.from_batches(
        [batch for number in sorted(parts) for batch in parts[number]], schema=schema
    )


def shuffled(splits: list[Any]) -> list[tuple[int, Any]]:
    numbered = list(enumerate(splits))
    random.Random(len(splits)).shuffle(numbered)
    return numbered


def spoiled(partition: Any, seed: str) -> dict[str, bytes]:
    """Return the files of *partition* with damage at three random positions of its logs."""
    chosen, files = random.Random(seed), dict(partition.files)
    names = [name for name in partition.logs if files[name]]
    for _ in range(3):
        name = chosen.choice(names)
        data = bytearray(files[name])
        at = chosen.randrange(len(data))
        match chosen.randrange(4):
            case 0:
                data[at : at + 30] = chosen.randbytes(30)
            case 1:
                del data[at : at + 9]
            case _:
                data[at] ^= 1 << chosen.randrange(8)
        files[name] = bytes(data)
    return files


@pytest.fixture(params=[False, True], ids=["sound", "damaged"])
def logs(request, partitions, workshop) -> Iterator[tuple[Any, str]]:
    """Yield some partitions that are not empty, sound or damaged, with the path of each."""
    full = [one for one in partitions if any(one.files[name] for name in one.logs)]

    def put() -> Iterator[tuple[Any, str]]:
        for partition in part(full, 5, f"{request.function.__name__}/{request.param}"):
            files = spoiled(partition, str(partition)) if request.param else partition.files
            yield partition, workshop.put(files, partition.log_dir, partition.name)

    return put()


def test_any_splits_give_the_same_rows(logs, workshop) -> None:
    wrong = []
    for partition, path in logs:
        for level in LEVELS:
            dataset = workshop.open(path, level)
            columns = ("offset", "key", "value", "file", "position", "outcome", "disposition")
            whole = dataset.records(columns).to_table()
            for size in SIZES:
                found = split_rows(dataset, size, columns)
                if found != whole:
                    wrong.append(
                        f"{partition} {level} {size}: {found.num_rows} rows, not {whole.num_rows}"
                    )
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:40])


def test_a_split_spans_an_entry_and_otherwise_no_more_than_was_asked_for(
    partition, frames, workshop
) -> None:
    source = partition("4.3/plain/java-none-0")
    path = workshop.put(source.files, source.log_dir, source.name)
    ends = {frame.end for name in source.logs for frame in frames(source.files[name])}
    begins = {frame.position for name in source.logs for frame in frames(source.files[name])}
    for size in SIZES:
        splits = mb.plan(workshop.open(path), size)
        assert {split.end for split in splits} <= ends
        for split in splits:
            inside = [at for at in begins if split.start <= at < split.end]
            assert len(inside) == 1 or split.end - split.start <= size
    assert len(mb.plan(workshop.open(path), SMALLER_THAN_AN_ENTRY)) == len(ends)


def test_any_columns_give_the_same_rows(logs, workshop) -> None:
    wrong = []
    chosen = random.Random("columns")
    for partition, path in logs:
        level = chosen.choice(LEVELS)
        dataset = workshop.open(path, level)
        shown = tuple(chosen.sample(("delivered", "aborted", "withheld", "control"), 2))
        rows = dataset.records(RECORDS.names, dispositions=shown)
        whole, findings = rows.to_table(), len(rows.report.findings or ())
        subsets = [(), ("headers",), tuple(chosen.sample(RECORDS.names, 3))]
        subsets.append(tuple(chosen.sample(RECORDS.names, chosen.randrange(4, 18))))
        for columns in subsets:
            some_rows = dataset.records(columns, dispositions=shown)
            table = some_rows.to_table()
            if columns and table != whole.select(columns):
                wrong.append(f"{partition} {level} {columns}: other rows")
            if table.num_rows != whole.num_rows or len(some_rows.report.findings) != findings:
                wrong.append(f"{partition} {level} {columns}: other rows or findings")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:40])
