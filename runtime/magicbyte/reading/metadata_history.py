"""The state of a cluster, from the files in the folder of `__cluster_metadata`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from magicbyte.errors import FormatError, InputError
from magicbyte.internal_topics.cluster_metadata import ClusterMetadata, record_finding
from magicbyte.internal_topics.quorum_records import ControlRecord
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.metadata_snapshots import (
    METADATA_FOLDER,
    METADATA_TOPIC,
    MetadataSnapshot,
    metadata_snapshot,
    metadata_snapshots,
)
from magicbyte.reading._one_pass import record_rows
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE, ReadOptions
from magicbyte.reading.results import Report
from magicbyte_formats.wire import ControlType

COLUMNS = ("offset", "key", "value", "disposition")

DISPOSITIONS = ("delivered", "control")


def read_cluster(topic_source: TopicSource, report: Report) -> ClusterMetadata | None:
    """Return the state of the cluster at the end of the range of *topic_source*; None without a metadata log.

    The newest snapshot up to that end is read, then the log from there. Records that cannot be applied, a snapshot
    that cannot be used, and records that are gone become findings of *report*.

    Raises InputError if the paths hold the metadata of several clusters.
    """
    logs = [log for log in topic_source.of_topics([METADATA_TOPIC]).logs if log.partition == 0]
    logs = logs or _named_snapshots(topic_source)
    if not logs:
        return None
    if len(logs) > 1:
        folders = " and ".join(log.folder for log in logs)
        raise InputError(f"several metadata logs: {folders}", "the paths of one cluster")
    return _MetadataHistory(logs[0], topic_source.options, report).read()


def _named_snapshots(topic_source: TopicSource) -> list[PartitionLog]:
    """Return the snapshots that were named instead of a folder, as the files of one log; nothing without one."""
    files = [
        replace(file, kind="checkpoint")
        for log in topic_source.logs
        for file in log.files
        if log.topic is None and metadata_snapshot(file) is not None
    ]
    log = PartitionLog(METADATA_TOPIC, 0, METADATA_FOLDER, None, tuple(files), is_named_files=True)
    return [log] if files else []


class _MetadataHistory:
    """The records of a metadata log and its snapshots, up to the end of a range of offsets and times."""

    def __init__(self, log: PartitionLog, options: ReadOptions, report: Report) -> None:
        self._log, self._report = log, report
        self._options = replace(
            options,
            isolation_level="read_uncommitted",
            offsets=(None, options.offsets[1]),
            times=(None, options.times[1]),
        )

    def read(self) -> ClusterMetadata:
        start = self._log.logs[0].base_offset or 0 if self._log.logs else 0
        offset, cluster = self._newest_state(start)
        if start > offset:
            self._note(
                f"the metadata log begins at offset {start}, and "
                + (f"the newest snapshot that can be used ends at offset {offset}" if offset else
                   "no snapshot has the records before it")
                + ": tables lack what the records between them said",
                "internal-history-missing",
            )  # fmt: skip
        report = Report()
        for row in _rows(self._log, self._options, report):
            if row["offset"] >= offset:
                self._apply(cluster, row, None)
        # Segments after the end of the range do not matter to the state, nor do the records that a snapshot replaces.
        left_out = {"range-unread"} | ({"range-outside-log"} if offset > 0 else set())
        report.findings = [one for one in report.findings if one.code not in left_out]
        self._report.add(report)
        return cluster

    def _newest_state(self, start: int) -> tuple[int, ClusterMetadata]:
        """Return the state of the newest snapshot that can be used, and its offset.

        Where none is whole, and the log does not reach back to offset 0, the sound records of a damaged one count.
        """
        damaged: tuple[int, ClusterMetadata] | None = None
        for snapshot in metadata_snapshots(self._log):
            end = self._options.offsets[1]
            if end is not None and snapshot.offset > end:
                continue
            cluster = ClusterMetadata()
            fault = self._read_snapshot(snapshot, cluster)
            if fault is None:
                return snapshot.offset, cluster
            if fault:
                self._note(f"the snapshot {fault}", "metadata-snapshot-invalid", snapshot.file.name)
                damaged = damaged or (snapshot.offset, cluster)
        return damaged if damaged is not None and start > 0 else (0, ClusterMetadata())

    def _read_snapshot(self, snapshot: MetadataSnapshot, cluster: ClusterMetadata) -> str | None:
        """Apply the records of *snapshot*. Return None if it is whole, its fault, or "" if it is after the range."""
        end_time = self._options.times[1]
        file = replace(snapshot.file, kind="log", base_offset=None, why_not=None)
        log = PartitionLog(None, None, self._log.folder, None, (file,), is_named_files=True)
        options = replace(self._options, on_damage="skip", offsets=NO_RANGE, times=NO_RANGE)
        report = Report()
        control_types = []
        for row in _rows(log, options, report):
            control = self._apply(cluster, row, snapshot.file.name)
            if control is None:
                continue
            control_types.append(control.type)
            if control.type == ControlType.SNAPSHOT_HEADER and control.fields is not None:
                last_time = control.fields["lastContainedLogTimestamp"]
                if end_time is not None and last_time >= end_time:
                    return ""
        damage = next((each for each in report.findings if each.severity == "error"), None)
        if damage is not None:
            return f"is damaged at byte {damage.position}: {damage.message}"
        if control_types[:1] != [ControlType.SNAPSHOT_HEADER]:
            return "does not begin with its header"
        if control_types[-1] != ControlType.SNAPSHOT_FOOTER:
            return "has no footer, so its end is missing"
        return None

    def _apply(
        self, cluster: ClusterMetadata, row: dict[str, Any], file_name: str | None
    ) -> ControlRecord | None:
        """Apply a record; return it if it is a control record."""
        try:
            if row["disposition"] == "control":
                return cluster.quorum.apply(row["key"], row["value"])
            cluster.apply(row["value"] or b"", row["offset"])
        except FormatError as error:
            finding = record_finding(error, row["offset"])
            self._report.findings.append(finding.at(METADATA_TOPIC, 0, file_name))
        return None

    def _note(self, message: str, code: str, file_name: str | None = None) -> None:
        self._report.findings.append(self._log.finding(code, message, file=file_name))


def _rows(log: PartitionLog, options: ReadOptions, report: Report) -> Iterator[dict[str, Any]]:
    for batch in record_rows(Planner(options), [log], COLUMNS, DISPOSITIONS).read_into(report):
        yield from batch.to_pylist()


def no_metadata_error() -> InputError:
    return InputError(
        f"no folder {METADATA_FOLDER} below the paths",
        "the log.dir of a controller, or of a broker without ZooKeeper, that has the metadata log",
    )
