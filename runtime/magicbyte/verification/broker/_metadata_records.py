"""Read the records in segments and snapshots of `__cluster_metadata`."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from magicbyte.engines.protocol import Chunk, Engine, Entries
from magicbyte.errors import FormatError, LimitError
from magicbyte.internal_topics.quorum_records import Quorum, control_type
from magicbyte.limits import Limits
from magicbyte.logdir.frames import frames
from magicbyte.logdir.log_file import LogFile
from magicbyte.storage import File
from magicbyte.verification.startup import VerifiedRun, entry_runs

COLUMNS = ("offset", "key", "value")


@dataclass(slots=True)
class MetadataRecords:
    """Records of a file of the metadata log, up to the first batch that is not sound."""

    record_values: list[tuple[int, bytes]] = field(default_factory=list)
    """Offsets and values of the records that are no control records."""
    control_types: list[int] = field(default_factory=list)
    num_batches: int = 0
    next_offset: int = 0
    """Last offset of the last batch + 1; after damage, the offset that the headers after it reach."""
    end: int = 0
    """Bytes of the sound batches that the file begins with."""
    later_values: list[tuple[int, bytes]] = field(default_factory=list)
    """Offsets and values of sound records after the damage, as far as sizes lead to them."""
    voters: frozenset[int] | None = None
    """Node ids of the voters, as the last control record that names them says."""
    failure: FormatError | None = None
    """The fault at which reading stopped; None if the file ends with a whole or a partial batch."""


def read_metadata_file(
    file: LogFile, engine: Engine, limits: Limits, *, end: int | None = None
) -> MetadataRecords:
    """Return the records of *file*, up to byte *end*."""
    metadata_records = MetadataRecords()
    with file.open() as opened:
        size = opened.size_bytes if end is None else min(end, opened.size_bytes)
        try:
            for run in entry_runs(opened, begin=0, end=size, engine=engine, limits=limits):
                _read_run(run, metadata_records, engine, limits)
        except FormatError as error:
            metadata_records.failure = error
            _read_after_damage(opened, metadata_records, size, engine, limits)
    return metadata_records


def _read_after_damage(
    file: File, metadata_records: MetadataRecords, size: int, engine: Engine, limits: Limits
) -> None:
    """Read the batches after the first damaged one, if its size field is right."""
    later = MetadataRecords()
    try:
        for frame in frames(file, begin=metadata_records.end, end=size, limits=limits):
            entry = frame.entry()
            if frame.is_sound(entry):
                run = VerifiedRun(
                    Entries([entry._replace(position=frame.position)]), frame.data, frame.position
                )
                _read_run(run, later, engine, limits)
            metadata_records.next_offset = max(metadata_records.next_offset, frame.last_offset + 1)
    except (FormatError, LimitError):
        pass
    metadata_records.later_values = later.record_values


def _read_run(
    run: VerifiedRun, metadata_records: MetadataRecords, engine: Engine, limits: Limits
) -> None:
    begin = run.entries[0].position - run.origin
    end = run.entries[-1].end - run.origin
    chunk = Chunk(run.data[begin:end], run.origin + begin)
    while len(chunk.data):
        decoded = engine.decode(chunk, COLUMNS, limits=limits, verify=False)
        if not decoded.end:
            return
        offsets, keys, payloads = (decoded.rows.column(name).to_pylist() for name in COLUMNS)
        first = 0
        for number, entry in enumerate(decoded.entries):
            end = first + int(decoded.num_rows[number])
            if entry.is_control:
                _read_control(keys[first:end], payloads[first:end], metadata_records)
            else:
                pairs = zip(offsets[first:end], payloads[first:end], strict=True)
                metadata_records.record_values.extend(
                    (offset, value) for offset, value in pairs if value is not None
                )
            first = end
            metadata_records.num_batches += 1
            metadata_records.next_offset = entry.last_offset + 1
            metadata_records.end = entry.end
        chunk = chunk.after(decoded.end)


def _read_control(
    keys: Sequence[bytes | None],
    payloads: Sequence[bytes | None],
    metadata_records: MetadataRecords,
) -> None:
    for key, value in zip(keys, payloads, strict=True):
        quorum = Quorum()
        type_ = control_type(key)
        if type_ is None:
            continue
        metadata_records.control_types.append(type_)
        with suppress(FormatError):
            quorum.apply(key, value)
        metadata_records.voters = frozenset(quorum.voter_directories) or metadata_records.voters
