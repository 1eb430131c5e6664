"""Measures reading a segment with one flipped bit in every hundredth batch, beside the sound segment."""

import random
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from magicbyte.engines.entry import HEADER_BYTES, read_entry
from magicbyte_formats.wire import RecordBatchHeader
from magicbyte_tools.bench.contenders import reader_command
from magicbyte_tools.bench.damage_profile import damage_profile
from magicbyte_tools.bench.data import Segment
from magicbyte_tools.bench.measure import WARM_UP, Cell, Disagreement, Others
from magicbyte_tools.bench.process import Pass, Process
from magicbyte_tools.bench.profile import Profile

SOUND, DAMAGED = "sound", "damaged"

EVERY = 100


def damage(
    segment: Segment, cache: Path, *, engine: str, seed: int, repetitions: int
) -> tuple[Cell, list[Profile]]:
    """Measure `mb.open(..., on_damage="skip")` on *segment* (v2 batches), sound and damaged.

    Returns the times and the profiles of both, in ns per record of the sound segment. Raises Disagreement
    if the damaged segment yields all records, or loses over twice the records of its damaged batches.
    """
    cell = Cell(segment.kind.name, {SOUND: [], DAMAGED: []}, {SOUND: [], DAMAGED: []})
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(dir=cache))
        damaged = Path(folder) / segment.path.name
        shutil.copyfile(segment.path, damaged)
        flip(damaged, seed)
        paths = {SOUND: segment.path, DAMAGED: damaged}
        command = reader_command("ours", engine)
        working = {name: stack.enter_context(Process(command)) for name in paths}

        def turn() -> Iterator[tuple[str, Pass]]:
            for name, path in paths.items():
                took = working[name].ask(path, "columns", "skip")
                _judge(segment, name, took.rows)
                yield name, took

        for _ in range(WARM_UP):
            list(turn())
        others = Others()
        for _ in range(repetitions):
            for name, took in turn():
                others.less(took.process_ns)
                cell.cpu_ns[name].append(took.thread_ns / segment.num_rows)
                cell.wall_ns[name].append(took.wall_ns / segment.num_rows)
        cell.busy = others.share()
        cell.peak_bytes = {name: process.peak_bytes for name, process in working.items()}
        profiles = [
            damage_profile(
                name, path, engine_name=engine, num_rows=segment.num_rows, repetitions=repetitions
            )
            for name, path in paths.items()
        ]
    return cell, profiles


def _judge(segment: Segment, name: str, rows: int) -> None:
    lost = segment.num_rows - rows
    # A flipped bit outside the checksum may lose nothing, and batches differ in size.
    is_right = lost == 0 if name == SOUND else 0 < lost <= 2 * segment.num_rows / EVERY
    if not is_right:
        raise Disagreement(f"{segment.kind.name}, {name}: {rows} rows of {segment.num_rows}")


def flip(path: Path, seed: int) -> list[int]:
    """Flip a bit in every hundredth batch of the file *path*, and return the positions of the bytes.

    *seed* selects the bits: half are in batch headers, most of whose bytes the checksum covers, and half
    in payloads.
    """
    chance = random.Random(seed)
    positions = []
    size = path.stat().st_size
    with path.open("r+b", buffering=0) as file:
        position = number = 0
        while position < size:
            file.seek(position)
            entry = read_entry(file.read(HEADER_BYTES), 0, origin=position)
            number += 1
            if number % EVERY == 0:
                payload = position + RecordBatchHeader.SIZE
                is_in_header = chance.random() < 0.5
                begin, end = (position, payload) if is_in_header else (payload, entry.end)
                positions.append(chance.randrange(begin, end))
                file.seek(positions[-1])
                (byte,) = file.read(1)
                file.seek(positions[-1])
                file.write(bytes([byte ^ 1 << chance.randrange(8)]))
            position = entry.end
    return positions
