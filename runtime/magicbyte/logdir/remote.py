"""Segments in remote storage (KIP-405) below those on a broker's disk, joined to one log.

A broker knows from a topic of its own which uploads are valid. Here the names and the contents of
the files decide: an offset is read from the local log if that has it, else from the segment that the
leader epochs agree with, and of two such segments from the one that begins later, as in Kafka.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, zip_longest

from magicbyte.errors import FormatError, LimitError, MissingError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir._manifest import read_manifest
from magicbyte.logdir._tiered_files import UploadedSegment
from magicbyte.logdir.checkpoints import (
    MAX_CHECKPOINT_BYTES,
    lineage,
    parse_epochs,
    read_lineage,
)
from magicbyte.logdir.embedded_file import EmbeddedRange
from magicbyte.logdir.frames import frames
from magicbyte.logdir.indexes import positions_of
from magicbyte.logdir.log_file import LogFile, PartitionLog, file_order
from magicbyte.logdir.remote_names import LEADER_EPOCHS
from magicbyte.storage import AT_A_TIME, Storage, is_url

Epochs = list[tuple[int, int]]

KINDS = {"epochs": "metadata", "manifest": "metadata", "indexes": "other"}
"""Kinds in the table of files, where they differ from the kinds in remote storage."""

END_OF_OFFSETS = 1 << 63

MAX_NAMED_SEGMENTS = 4
"""Segments that the message of a finding names."""

SUPERSEDED, UNFINISHED, INVALID = "superseded", "unfinished", "manifest-invalid"
"""Reasons for not reading a segment."""


@dataclass(slots=True)
class _Segment:
    """A segment in remote storage, and the offsets that are read from it."""

    upload: UploadedSegment
    files: dict[str, LogFile]
    end: int | None = None
    """The offset after its last one; None if unknown."""
    why_not: str | None = None
    finding: Finding | None = None
    stops: int = 0
    """The offset at which reading it ends."""

    @property
    def base(self) -> int:
        return self.upload.base_offset

    @property
    def name(self) -> str:
        return f"{self.upload.prefix}.log"

    @property
    def log(self) -> LogFile:
        return self.files["log"]

    def listed(self, local_snapshots: set[int]) -> Iterator[LogFile]:
        """Yield the segment's files as the partition lists them.

        *local_snapshots* are the base offsets of the producer snapshots on disk.
        """
        is_cut = self.end is not None and self.stops < self.end
        for kind, file in self.files.items():
            why_not, base = self.why_not, file.base_offset
            if kind == "snapshot":
                # A snapshot is uploaded with the segment that ends at its offset.
                base = self.end
                if base is None or base in local_snapshots:
                    why_not = why_not or SUPERSEDED
                    base = self.base
            if is_cut and kind in ("index", "timeindex", "txnindex", "snapshot"):
                why_not = why_not or SUPERSEDED  # they describe the part that is cut off, too
            yield replace(file, kind=KINDS.get(kind, kind), base_offset=base, why_not=why_not)


def with_remote(log: PartitionLog, storage: Storage, *, strict: bool) -> PartitionLog:
    """Return *log* with the files of the remote segments in its `uploads` added to its `files`.

    The segment of a damaged manifest is left out, with a finding; if *strict*, FormatError is raised.
    Raises InputError where a segment that is needed is encrypted.
    """
    bases = [file.base_offset for file in log.logs if file.base_offset is not None]
    local_start = min(bases, default=None)
    read = partial(_read, log=log, local_start=local_start, strict=strict)
    if any(is_url(upload.folder) for upload in log.uploads):
        from concurrent.futures import ThreadPoolExecutor  # takes its time, and most read no store

        with ThreadPoolExecutor(AT_A_TIME) as pool:
            segments = list(pool.map(read, log.uploads))
    else:
        segments = list(map(read, log.uploads))
    findings = [one.finding for one in segments if one.finding is not None]
    there = [one for one in segments if one.why_not is None]
    _guess_ends(there, local_start)
    if _overlap(there):
        for one in there:
            one.end = _end_by_headers(one)  # a manifest may say more than there is
        _guess_ends(there, local_start)
    if _overlap(there):
        local_store = storage.store_of(log.folder)
        _follow_lineage(there, read_lineage(log.folder, local_store) if bases else None)
    passed_over = _choose(there, local_start)
    if passed_over:
        findings.append(
            log.finding(
                "remote-overlap",
                f"{len(passed_over)} remote segments are not read, or not to their ends, "
                f"because others hold their offsets: {', '.join(passed_over[:MAX_NAMED_SEGMENTS])}"
                + (", …" if len(passed_over) > MAX_NAMED_SEGMENTS else ""),
                found=str(len(passed_over)),
            )
        )
    taken = {
        file.base_offset
        for file in log.files
        if file.kind == "snapshot" and file.live and file.base_offset is not None
    }
    files = [*log.files, *(file for one in segments for file in one.listed(taken))]
    files.sort(key=file_order)
    return replace(log, files=tuple(files), uploads=(), findings=(*log.findings, *findings))


# Files of one uploaded segment


def _read(
    upload: UploadedSegment, log: PartitionLog, *, local_start: int | None, strict: bool
) -> _Segment:
    """Return the segment of *upload*. No file is read if the local log holds all of its offsets."""
    out = _Segment(upload, _plain_files(upload))
    if local_start is not None and upload.base_offset >= local_start:
        out.why_not = SUPERSEDED
        return out
    if upload.has_manifest and "manifest" not in out.files:
        out.why_not = UNFINISHED
        out.finding = log.finding(
            "remote-unfinished",
            "the segment has no manifest, which is uploaded last: it is ignored",
            file=out.name,
            base_offset=upload.base_offset,
        )
        return out
    if "log" not in out.files:
        out.why_not = UNFINISHED
        out.finding = log.finding(
            "segment-missing",
            f"files of {upload.prefix} are present without their segment",
            file=next(iter(out.files.values())).name,
            found=str(upload.base_offset),
        )
        return out
    if upload.has_manifest:
        try:
            _take_manifest(out)
        except (FormatError, UnreadableError) as error:
            if strict:
                raise
            out.why_not = INVALID
            out.finding = replace(
                error.finding.at(log.topic, log.partition, out.files["manifest"].name),
                message=f"{error.finding.message}; the segment is ignored",
            )
            return out
    if out.end is None or out.end <= out.base:
        out.end = _end_by_headers(out)
    return out


def _plain_files(upload: UploadedSegment) -> dict[str, LogFile]:
    return {
        kind: LogFile(
            f"{upload.folder}/{item.name}",
            item.name,
            kind,
            upload.base_offset,
            item.size_bytes,
            store=upload.store,
            is_remote=True,
            listed_version=item.listed_version,
        )
        for kind, item in upload.files.items()
    }


def _take_manifest(segment: _Segment) -> None:
    """Locate the files of *segment* as its manifest states."""
    files, log = segment.files, segment.log
    indexes = files.pop("indexes", None)
    manifest = read_manifest(
        files["manifest"], log.size_bytes, None if indexes is None else indexes.size_bytes
    )
    files["log"] = _within(log, manifest.log)
    for kind, embedded in manifest.indexes.items():
        # A broker keeps no empty file of the other kinds: an empty range means an absent file.
        if indexes is not None and (embedded.size_bytes or kind in ("index", "timeindex")):
            suffix = LEADER_EPOCHS if kind == "epochs" else f".{kind}"
            name = f"{segment.upload.prefix}{suffix}"
            files[kind] = replace(_within(indexes, embedded), name=name, kind=kind)
    segment.end = manifest.end_offset


def _within(file: LogFile, embedded: EmbeddedRange) -> LogFile:
    is_whole = embedded == EmbeddedRange(file.size_bytes, file.size_bytes)
    return replace(file, size_bytes=embedded.size_bytes, embedded=None if is_whole else embedded)


def _end_by_headers(segment: _Segment) -> int | None:
    """Return the offset after the last one of *segment*; None if the segment is damaged."""
    index = segment.files.get("index")
    starts = [0]
    if index is not None and len(table := positions_of(index, segment.log)):
        starts.insert(0, int(table["ofs_batch"][-1]))
    for start in starts:
        end = _walk(segment, start, None)[1]
        if end is not None and end > segment.base:
            return end
    return None


def _walk(segment: _Segment, start: int, stop: int | None) -> tuple[int, int | None]:
    """Return the position and the offset after the last entry below the offset *stop*, from byte *start* on.

    The offset is None if the bytes that follow are damaged. Without *stop* all entries are passed.
    """
    position, end = start, None
    with segment.log.open() as file:
        try:
            for frame in frames(file, begin=start, limits=Limits()):
                if stop is not None and frame.last_offset >= stop:
                    break
                position, end = frame.end, frame.last_offset + 1
        except (FormatError, LimitError):
            return position, None
    return position, end


# The choice between segments


def _in_order(segments: Sequence[_Segment]) -> list[_Segment]:
    return sorted(segments, key=lambda one: (one.base, -one.stops, one.name))


def _overlap(segments: Sequence[_Segment]) -> bool:
    return any(one.base < (before.end or 0) for before, one in pairwise(_in_order(segments)))


def _guess_ends(segments: Sequence[_Segment], local_start: int | None) -> None:
    """Set where reading each segment ends: at its end, or at the next base offset if it is damaged."""
    bases = sorted({one.base for one in segments})
    for one in segments:
        later = bisect_right(bases, one.base)
        following = bases[later] if later < len(bases) else local_start
        one.stops = one.end or following or END_OF_OFFSETS


def _follow_lineage(segments: Sequence[_Segment], epochs: Epochs | None) -> None:
    """End reading each of *segments* at the first offset whose leader epoch differs from the partition's.

    *epochs* are the partition's; None or empty: the segment with the highest epoch decides.
    """
    own = {one.upload.prefix: _epochs_of(one) for one in segments}
    if not epochs:
        epochs = max(own.values(), key=lambda known: known[-1] if known else (-1, -1), default=[])
    for one in segments:
        known = own[one.upload.prefix]
        points = {one.base, *(start for _, start in [*known, *epochs])}
        for offset in sorted(point for point in points if one.base <= point < one.stops):
            theirs, ours = _epoch_at(known, offset), _epoch_at(epochs, offset)
            if theirs is not None and ours is not None and theirs != ours:
                one.stops = offset
                break


def _epoch_at(epochs: Epochs, offset: int) -> int | None:
    number = bisect_right([start for _, start in epochs], offset)
    return epochs[number - 1][0] if number else None


def _epochs_of(segment: _Segment) -> Epochs:
    file = segment.files.get("epochs")
    try:
        data = b"" if file is None else file.read_small(MAX_CHECKPOINT_BYTES)
        return lineage(parse_epochs(data))
    except (FormatError, MissingError, UnreadableError):
        return []


def _choose(segments: Sequence[_Segment], local_start: int | None) -> list[str]:
    """Choose the *segments* to read, so that every offset is read once; return the names of the others.

    Each chosen segment is read up to the next one's base offset, the last up to the local log. So
    only segments within the range of others are left out.
    """
    unread_names, chosen = [], []
    reach = -1
    for one in _in_order(segments):
        if local_start is not None:
            one.stops = min(one.stops, local_start)
        if one.stops <= max(reach, one.base):
            one.why_not = SUPERSEDED
            unread_names.append(f"{one.name} (left out)")
        else:
            chosen.append(one)
            reach = one.stops
    for one, following in zip_longest(chosen, chosen[1:]):
        if following is not None:
            one.stops = min(one.stops, following.base)
        limit = local_start if following is None else following.base
        # No offset is read twice, even if the end that the segment states is wrong or unknown.
        one.files["log"] = replace(one.log, end_offset=limit)
        if one.end is not None and one.stops < one.end:
            _cut(one)
            if one.stops != local_start:
                unread_names.append(f"{one.name} (up to offset {one.stops - 1})")
    return unread_names


def _cut(segment: _Segment) -> None:
    """Shorten *segment* to the entries that are read from it; it ends earlier if it is damaged before."""
    position, _ = _walk(segment, 0, segment.stops)
    segment.files["log"] = replace(segment.log, size_bytes=position)
