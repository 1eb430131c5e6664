"""The startup of a broker over `__cluster_metadata-0` (KafkaRaftLog, KafkaRaftClient.initialize)."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from magicbyte.engines.factory import engine as engine_named
from magicbyte.engines.protocol import Engine
from magicbyte.errors import FormatError, InputError, LimitError, MissingError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.internal_topics.cluster_metadata import ClusterMetadata, apply_records
from magicbyte.kafka_release import KafkaRelease
from magicbyte.limits import Limits
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.logdir.metadata_snapshots import (
    METADATA_FOLDER,
    MetadataSnapshot,
    is_snapshot_file,
    metadata_snapshot,
)
from magicbyte.storage import read_small_file
from magicbyte.verification.broker._metadata_records import MetadataRecords, read_metadata_file
from magicbyte.verification.broker._quorum_state import (
    MAX_QUORUM_STATE_BYTES,
    QUORUM_STATE,
    parse_quorum_state,
)
from magicbyte.verification.startup import StartupPrediction, invalid_files, predict_startup
from magicbyte_formats.wire import ControlType

PARTITION_METADATA = "partition.metadata"
METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
"""The topic id of `__cluster_metadata`, the same in every cluster (Uuid.METADATA_TOPIC_ID)."""

SINCE_CONTROL_RECORDS_ARE_READ = KafkaRelease(3, 8)
"""The first release in which a node reads its log for voters before it starts (KIP-853). A broker of 3.7
starts with segments of 0 bytes, and knows no topic."""


@dataclass(slots=True)
class MetadataLog:
    """The metadata log of a node, and the state in which a startup leaves it."""

    log: PartitionLog
    findings: list[Finding] = field(default_factory=list)
    """Reasons why the node does not start."""
    prediction: StartupPrediction = field(default_factory=StartupPrediction)
    end_before: int = 0
    """The highest offset that the folder is known to have reached."""
    end_after: int = 0
    before: ClusterMetadata = field(default_factory=ClusterMetadata)
    """The cluster by all records that are sound, also after damage."""
    after: ClusterMetadata = field(default_factory=ClusterMetadata)
    """The cluster by the records that are left after the startup."""
    voters: frozenset[int] | None = None
    """Node ids of the voters; None if no file says."""
    fault: str | None = None
    """The first record that a node cannot apply to those before it; None if it can apply all."""
    fault_offset: int = 0
    """The offset from which no record is applied, if there is a fault."""

    @property
    def is_changed(self) -> bool:
        """True if the startup removes bytes of the log."""
        sizes = {file.name: file.size_bytes for file in self.log.logs}
        return self.prediction.segment_sizes != sizes

    @property
    def num_lost(self) -> int:
        """Number of metadata offsets that are gone after the startup."""
        return max(self.end_before - self.end_after, 0)

    def is_refetched(self, node_id: int | None) -> bool:
        """Return whether *node_id* is a node that can fetch lost records from other voters."""
        return self.voters is not None and bool(self.voters - {node_id})


def read_metadata_log(
    log: PartitionLog, *, release: KafkaRelease, engine: str, limits: Limits
) -> MetadataLog:
    """Return what a startup makes of the metadata log in the folder of *log*.

    Raises LimitError where a batch is larger than *limits* allow.
    """
    metadata = MetadataLog(log)
    reader = _MetadataReader(metadata, engine_named(engine), limits, release)
    reader.run(engine)
    return metadata


@dataclass(slots=True)
class _MetadataReader:
    metadata: MetadataLog
    engine: Engine
    limits: Limits
    release: KafkaRelease
    last_offset: int = -1
    """The offset of the last record so far."""

    def run(self, engine: str) -> None:
        metadata, log = self.metadata, self.metadata.log
        # Every segment is recovered on every start: the recovery point is 0, the shutdown unclean.
        alone = replace(log, log_dir=None)
        metadata.prediction = predict_startup(
            alone,
            is_clean=False,
            has_transactions=False,
            engine=engine,
            release=self.release,
            limits=self.limits,
        )
        if metadata.prediction.refusal is not None:
            is_id = any(
                invalid.finding.file == PARTITION_METADATA for invalid in invalid_files(log)
            )
            code = "partition-metadata-invalid" if is_id else "partition-invalid"
            self.refuse(code, f"{METADATA_FOLDER}: {metadata.prediction.refusal}")
        start = log.logs[0].base_offset or 0 if log.logs else 0
        end = metadata.prediction.log_end_offset or 0
        snapshots = [each for each in self.snapshots() if each.offset >= start]
        newest = max(snapshots, key=lambda each: (each.offset, each.epoch), default=None)
        if start > 0 and newest is None:
            self.refuse(
                "metadata-log-without-snapshot",
                f"the metadata log begins at offset {start}, and no snapshot reaches that offset",
            )
        segment_records = self.read_segments()
        is_reset = newest is not None and end < newest.offset
        metadata.end_after = newest.offset if newest is not None and is_reset else end
        metadata.end_before = self.known_end(segment_records, newest)
        records_end = self.records_end(segment_records, start)
        is_read_first = self.release >= SINCE_CONTROL_RECORDS_ARE_READ
        if is_read_first and end > records_end and (newest is None or newest.offset < end):
            self.refuse(
                "metadata-log-damaged",
                f"the last record is before offset {records_end}, and the names of the segments end at "
                f"offset {end}: the node would wait for ever for offsets that do not exist",
            )
        self.read_quorum_state()
        self.fold(newest, segment_records, is_reset=is_reset)

    def finding(self, code: str, message: str, file: str | None = None) -> Finding:
        log = self.metadata.log
        return Finding(
            code=code, message=message, topic=log.topic, partition=log.partition, file=file
        )

    def refuse(self, code: str, message: str, file: str | None = None) -> None:
        self.metadata.findings.append(self.finding(code, message, file))

    def snapshots(self) -> Iterator[MetadataSnapshot]:
        """Yield the snapshots; a name that a broker cannot parse becomes a finding."""
        for file in self.metadata.log.files:
            if not is_snapshot_file(file.name):
                continue
            snapshot = metadata_snapshot(file)
            if snapshot is None:
                self.refuse(
                    "metadata-snapshot-invalid",
                    "the name of the snapshot has no offset and epoch "
                    "(StringIndexOutOfBoundsException)",
                    file.name,
                )
            else:
                yield snapshot

    def read_segments(self) -> list[tuple[LogFile, MetadataRecords]]:
        """Return the records of each segment up to the first damage in it."""
        segment_records = []
        for file in self.metadata.log.logs:
            try:
                segment_records.append((file, read_metadata_file(file, self.engine, self.limits)))
            except (LimitError, InputError):
                continue
        return segment_records

    def records_end(
        self, segment_records: list[tuple[LogFile, MetadataRecords]], start: int
    ) -> int:
        """Return the offset after the last record that a startup leaves; *start* if it leaves none."""
        sizes = self.metadata.prediction.segment_sizes
        ends = [read.next_offset for file, read in segment_records if sizes.get(file.name)]
        return max(ends, default=start)

    def known_end(
        self,
        segment_records: list[tuple[LogFile, MetadataRecords]],
        newest: MetadataSnapshot | None,
    ) -> int:
        """Return the highest offset that the records of segments, snapshots and producer snapshots reach."""
        ends = [metadata_records.next_offset for _, metadata_records in segment_records]
        ends += [
            file.base_offset or 0
            for file in self.metadata.log.files
            if file.live and file.kind in ("snapshot", "log")
        ]
        ends += [self.metadata.end_after, newest.offset if newest else 0]
        return max(ends)

    def read_quorum_state(self) -> None:
        log = self.metadata.log
        store = log.files[0].store if log.files else None
        try:
            path = f"{log.folder}/{QUORUM_STATE}"
            data = read_small_file(path, max_bytes=MAX_QUORUM_STATE_BYTES, store=store)
            self.metadata.voters = parse_quorum_state(data, release=self.release).voters
        except MissingError:
            return
        except FormatError as error:
            finding = error.finding.at(log.topic, log.partition, QUORUM_STATE)
            self.metadata.findings.append(finding)
        except UnreadableError as error:
            self.refuse("quorum-state-invalid", f"cannot be read: {error.found}", QUORUM_STATE)

    def fold(
        self,
        newest: MetadataSnapshot | None,
        segment_records: list[tuple[LogFile, MetadataRecords]],
        *,
        is_reset: bool,
    ) -> None:
        """Build the states before and after the startup, from the newest snapshot and the segment_records."""
        metadata = self.metadata
        begin = 0 if newest is None else newest.offset
        if newest is not None:
            snapshot = self.read_snapshot(newest)
            for cluster in (metadata.before, metadata.after):
                apply_records(cluster, snapshot.record_values)
            metadata.voters = metadata.voters or snapshot.voters
        sizes = metadata.prediction.segment_sizes
        for file, metadata_records in segment_records:
            record_values = [*metadata_records.record_values, *metadata_records.later_values]
            apply_records(metadata.before, record_values, begin=begin)
            metadata.voters = metadata_records.voters or metadata.voters
            if is_reset or file.name not in sizes:
                continue
            left = metadata_records
            if sizes[file.name] < file.size_bytes:
                end = sizes[file.name]
                left = read_metadata_file(file, self.engine, self.limits, end=end)
            self.note_offsets(left, begin)
            apply_records(metadata.after, left.record_values, begin=begin)
        metadata.fault = metadata.fault or metadata.after.fault

    def note_offsets(self, metadata_records: MetadataRecords, begin: int) -> None:
        """Note a fault where an offset goes back: a node in which that happens never gets ready."""
        metadata = self.metadata
        for offset, _ in metadata_records.record_values:
            if offset < begin:
                continue
            if offset <= self.last_offset and metadata.fault is None:
                metadata.fault = f"offset {offset} follows offset {self.last_offset}"
                metadata.fault_offset = offset
            self.last_offset = offset

    def read_snapshot(self, snapshot: MetadataSnapshot) -> MetadataRecords:
        """Return the records of the newest snapshot; one that a node cannot read becomes a finding."""
        name = snapshot.file.name
        try:
            metadata_records = read_metadata_file(snapshot.file, self.engine, self.limits)
        except InputError:
            return MetadataRecords()
        if metadata_records.failure is not None:
            self.refuse("metadata-snapshot-invalid", metadata_records.failure.message, name)
        elif not metadata_records.num_batches:
            self.refuse("metadata-snapshot-invalid", "the snapshot holds no whole batch", name)
        elif metadata_records.control_types[:1] != [ControlType.SNAPSHOT_HEADER]:
            self.refuse(
                "metadata-snapshot-invalid", "the snapshot does not begin with its header", name
            )
        return metadata_records
