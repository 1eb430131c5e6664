"""Search logs, and all other copies of their records, for records that were to be erased."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from magicbyte.errors import InputError
from magicbyte.logdir.file_names import parse_file
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.unread_path import MOVED_FOLDERS, UnreadPath
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.opening import open_all_replicas
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.results import Report
from magicbyte.storage import Storage
from magicbyte.tables.arrays import to_numpy
from magicbyte.tables.schemas import LOST
from magicbyte.writing._offset_ranges import OffsetRanges
from magicbyte.writing.erasure import Erasure

SEARCHED = ("delivered", "control", "below_log_start", "aborted", "withheld")
"""Dispositions of the records that are searched: all that can be decoded."""

OPENED_KINDS = (*MOVED_FOLDERS, "deleted-file", "foreign-folder", "foreign-file")
"""Kinds of unread paths that are opened, as if they had been named."""

KINDS_WITHOUT_RECORDS = ("cache-folder", "dangling-link", "link-loop")
"""Kinds of unread paths that hold no record: caches of indexes, and links whose targets are read elsewhere or missing."""


@dataclass(slots=True)
class ErasureSearch:
    """Result of a search for records that were to be erased.

    Attributes:
        matches: A dict for each log with such records: `topic`, `partition`, `path`, `records`, `offset_ranges`,
            `further_ranges`.
        unsearched: A dict for each path that may hold such records and could not be searched: `path`, `why`,
            `reason`, `size_bytes`.
        num_logs: Logs that were searched: replicas, and files and folders that no broker serves, count one by one.
    Example:
        >>> search = mb.search_erased(mb.open("log-0"), mb.erasure_of(keys=[b"user-17"]))
        >>> search.is_absent, search.matches
        (True, [])
    """

    matches: list[dict[str, Any]] = field(default_factory=list)
    unsearched: list[dict[str, Any]] = field(default_factory=list)
    num_logs: int = 0

    @property
    def is_absent(self) -> bool:
        """True if everything was searched, and there is no such record."""
        return not self.matches and not self.unsearched


def search_erased(dataset: Dataset, erasure: Erasure) -> ErasureSearch:
    """Search for records that were to be erased: delivered or not, in compressed batches, and in every copy.

    All replicas of the partitions are searched; files that a broker is about to delete; folders ending in ``-stray``,
    ``-delete`` and ``-future``; and foreign files and folders, if they hold batches.

    Args:
        dataset: The logs to search, from `open`.
        erasure: The records to look for, from `erasure_of`.
    Returns:
        The records that are there, and the paths that could not be searched.
    Raises:
        InputError: The dataset is limited to some offsets or times.
    Example:
        >>> mb.search_erased(mb.open("log-0", topics=["fenced"]), mb.erasure_of(keys=[b"user-17"])).num_logs
        2
    """
    if any(limit is not None for limit in (*dataset.options.offsets, *dataset.options.times)):
        raise InputError("a dataset that is limited to some offsets or times", "all offsets")
    options = replace(
        dataset.options,
        isolation_level="read_uncommitted",
        on_damage="skip",
        transactions="auto",
    )
    copies = _Copies(options, _storage_of(dataset))
    search = ErasureSearch()
    for log in dataset.logs:
        for copy in copies.replicas(log, search):
            _search_log(copy, options, erasure, search)
    for copy in copies.unread_logs(dataset.unread, search):
        _search_log(copy, options, erasure, search)
    return search


def _storage_of(dataset: Dataset) -> Storage:
    """Return storage with the options with which *dataset* was opened."""
    for log in dataset.logs:
        for file in log.listed_files:
            if file.store is not None:
                return Storage(file.store.options)
    return Storage()


class _Copies:
    """Opens the copies of records that a dataset does not read."""

    def __init__(self, options: ReadOptions, storage: Storage) -> None:
        self._options, self._storage = options, storage

    def replicas(self, log: PartitionLog, search: ErasureSearch) -> Iterator[PartitionLog]:
        """Yield the logs of all replicas of *log*; add those that cannot be opened to *search*."""
        folder_name = log.folder.rpartition("/")[2]
        paths = [f"{replica.log_dir}/{folder_name}" for replica in log.measured_replicas]
        if not log.is_filled:
            yield log
            paths = [path for path in paths if path != log.folder]
        for path in paths:
            unread = UnreadPath(path, "unreadable", "a replica that was not chosen")
            copies = self._opened(unread, search)
            if copies is not None:
                yield from copies.logs

    def unread_logs(
        self, unread_paths: Iterable[UnreadPath], search: ErasureSearch
    ) -> Iterator[PartitionLog]:
        """Yield the logs in *unread_paths*; add the paths that cannot be opened to *search*."""
        waiting = deque(unread_paths)
        while waiting:
            unread = waiting.popleft()
            if unread.kind in KINDS_WITHOUT_RECORDS or _is_index(unread):
                continue
            if unread.kind not in OPENED_KINDS:
                search.unsearched.append(unread.row)
                continue
            copies = self._opened(unread, search)
            if copies is not None:
                yield from copies.logs
                waiting.extend(copies.unread)

    def _opened(self, unread: UnreadPath, search: ErasureSearch) -> Dataset | None:
        """Return the logs in the path of *unread*; None if there are none, or if it cannot be read."""
        try:
            return open_all_replicas(
                [unread.path],
                self._storage,
                None,
                None,
                self._options.engine,
                self._options.limits,
            )
        except InputError as error:
            if unread.kind != "foreign-folder" or self._storage.list_folder(unread.path):
                search.unsearched.append({**unread.row, "reason": str(error)})
            return None


def _is_index(unread: UnreadPath) -> bool:
    """Return whether *unread* is a file of a segment without keys and values: an index or a snapshot of producers."""
    kind = parse_file(unread.path.rpartition("/")[2]).kind
    return unread.kind == "deleted-file" and kind not in ("log", "checkpoint")


def _search_log(
    log: PartitionLog, options: ReadOptions, erasure: Erasure, search: ErasureSearch
) -> None:
    """Search *log*; add its records to erase to *search*, and its bytes that are no sound batch."""
    ranges, report = OffsetRanges(), Report()
    columns = (*erasure.columns, "offset")
    rows = Dataset([log], options).records(columns, dispositions=SEARCHED)
    try:
        for batch in rows.read_into(report):
            mask = erasure.matches(batch)
            ranges.add(to_numpy(batch.column("offset"))[mask].tolist())
    except InputError as error:
        search.unsearched.append(_unsearched(log, "unreadable", str(error), None))
    search.num_logs += 1
    num_lost = sum(report.bytes[disposition] for disposition in LOST)
    if any(finding.code == "incomplete-tail" for finding in report.findings):
        num_lost += report.bytes["tail"]
    if num_lost:
        reason = f"{num_lost:,} bytes are no sound batch; magicbyte verify says what is wrong"
        search.unsearched.append(_unsearched(log, "damaged", reason, num_lost))
    if ranges.count:
        names = {"topic": log.topic, "partition": log.partition, "path": _path_of(log)}
        search.matches.append({**names, **ranges.as_row()})


def _unsearched(log: PartitionLog, why: str, reason: str, size_bytes: int | None) -> dict[str, Any]:
    return {"path": _path_of(log), "why": why, "reason": reason, "size_bytes": size_bytes}


def _path_of(log: PartitionLog) -> str:
    """Return the folder of *log*, or the path of its first segment if segments were named one by one."""
    return log.logs[0].path if log.is_named_files and log.logs else log.folder
