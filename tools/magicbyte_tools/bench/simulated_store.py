"""A store of any size that holds nothing: listings and bytes are computed when they are requested.

It has the log.dir of a broker that was shut down cleanly: partitions of equal segments without
transactions, with their indexes, producer snapshots and checkpoints. It is a file system of fsspec,
so that a URL `simulated://logs/log-0` opens it like any other store.
"""

import base64
import io
import struct
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar

import fsspec

import magicbyte_construct as twin
from magicbyte.limits import MIB
from magicbyte_tools.vectors import entry_parts

SCHEME = "simulated"
ROOT = "logs/log-0"
URL = f"{SCHEME}://{ROOT}"

PARTITIONS_PER_TOPIC = 100
RECORDS_PER_BATCH = 16
VALUE_BYTES = 1000
NUM_TEMPLATES = 16
"""Batches of different records; a batch of a segment is one of them with another base offset."""

INDEX_INTERVAL_BYTES = 4096
"""Kafka's default of `index.interval.bytes`."""

MODIFIED = 1_700_000_000
"""Time of all objects, in seconds since the Unix epoch."""

OFFSET = struct.Struct(">q")
INDEX_ENTRY = struct.Struct(">ii")
TIME_ENTRY = struct.Struct(">qi")

Record = tuple[int, int, bytes]
"""Offset, timestamp and value of a record."""


def _values(template_number: int) -> list[bytes]:
    return [
        (b"%d/%d " % (template_number, number)).ljust(VALUE_BYTES, b".")
        for number in range(RECORDS_PER_BATCH)
    ]


class LogGenerator:
    """The files of *num_partitions* partitions with *num_segments* segments each, by position.

    Segments have as many whole batches as fit into *segment_bytes*.
    """

    def __init__(self, num_partitions: int, num_segments: int, segment_bytes: int) -> None:
        self.num_partitions, self.num_segments = num_partitions, num_segments
        self.templates = [
            entry_parts.batch(
                *(entry_parts.rec(*pair) for pair in enumerate(_values(number))),
                partition_leader_epoch=0,
            ).data
            for number in range(NUM_TEMPLATES)
        ]
        self.batch_bytes = max(map(len, self.templates))
        assert all(len(template) == self.batch_bytes for template in self.templates)
        self.num_batches = max(segment_bytes // self.batch_bytes, 1)
        self.offsets_per_segment = self.num_batches * RECORDS_PER_BATCH

    @cached_property
    def contents(self) -> dict[str, bytes]:
        """Contents of the companion files, by the ending of their names: the same for all segments."""
        entries, since_last = [], 0
        for number in range(self.num_batches):
            if since_last > INDEX_INTERVAL_BYTES:
                last_offset = (number + 1) * RECORDS_PER_BATCH - 1
                entries.append(INDEX_ENTRY.pack(last_offset, number * self.batch_bytes))
                since_last = 0
            since_last += self.batch_bytes
        last_time = entry_parts.T0 + RECORDS_PER_BATCH - 1
        return {
            "index": b"".join(entries),
            "timeindex": TIME_ENTRY.pack(last_time, RECORDS_PER_BATCH - 1),
            "snapshot": bytes(twin.ProducerSnapshot.build({"producers": []})),
            "leader-epoch-checkpoint": b"0\n1\n0 0\n",
        }

    @cached_property
    def checkpoint(self) -> bytes:
        """Content of the checkpoints of the log.dir that have the log end offset of each partition."""
        end = self.num_segments * self.offsets_per_segment
        lines = [
            f"{topic} {number} {end}\n"
            for topic, number in map(self.topic_and_number, range(self.num_partitions))
        ]
        return f"0\n{self.num_partitions}\n{''.join(lines)}".encode()

    def topic_and_number(self, partition: int) -> tuple[str, int]:
        topic, number = divmod(partition, PARTITIONS_PER_TOPIC)
        return f"topic-{topic:05}", number

    def folder(self, partition: int) -> str:
        """Return the name of the folder of *partition*."""
        topic, number = self.topic_and_number(partition)
        return f"{topic}-{number}"

    def partition_of(self, folder: str) -> int | None:
        """Return the number of the partition that has *folder*; None if there is none."""
        topic, _, number = folder.removeprefix("topic-").partition("-")
        if not (topic.isdigit() and number.isdigit()):
            return None
        partition = int(topic) * PARTITIONS_PER_TOPIC + int(number)
        is_there = partition < self.num_partitions and self.folder(partition) == folder
        return partition if is_there else None

    def log_dir_files(self) -> dict[str, bytes]:
        """Return the contents of the files of the log.dir, by name."""
        return {
            ".kafka_cleanshutdown": b"0\n",
            "cleaner-offset-checkpoint": b"0\n0\n",
            "log-start-offset-checkpoint": b"0\n0\n",
            "meta.properties": b"version=1\ncluster.id=MkTv-x9ERN6gwVYOfqE3Ag\nnode.id=1\n",
            "recovery-point-offset-checkpoint": self.checkpoint,
            "replication-offset-checkpoint": self.checkpoint,
        }

    def partition_files(self) -> Iterator[tuple[str, int]]:
        """Yield name and size of each file in the folder of any partition."""
        contents = self.contents
        log_bytes = self.num_batches * self.batch_bytes
        for segment in range(self.num_segments + 1):
            base = segment * self.offsets_per_segment
            if segment < self.num_segments:
                yield f"{base:020}.index", len(contents["index"])
                yield f"{base:020}.log", log_bytes
            if segment:
                yield f"{base:020}.snapshot", len(contents["snapshot"])
            if segment < self.num_segments:
                yield f"{base:020}.timeindex", len(contents["timeindex"])
        yield "leader-epoch-checkpoint", len(contents["leader-epoch-checkpoint"])
        yield "partition.metadata", len(self.metadata(0))

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Sizes of the files of any partition, by name."""
        return dict(self.partition_files())

    def metadata(self, partition: int) -> bytes:
        """Return the content of `partition.metadata`: the topic id is made of the topic's number."""
        topic_id = base64.urlsafe_b64encode((partition // PARTITIONS_PER_TOPIC + 1).to_bytes(16))
        return b"version: 0\ntopic_id: %s\n" % topic_id.rstrip(b"=")

    def read(self, partition: int, name: str, start: int, end: int) -> bytes:
        """Return the bytes from *start* to *end* of the file *name* of *partition*."""
        if name == "partition.metadata":
            return self.metadata(partition)[start:end]
        base, _, kind = name.rpartition(".")
        if kind != "log":
            return self.contents[kind or name][start:end]
        first, last = start // self.batch_bytes, -(-end // self.batch_bytes)
        segment = int(base) // self.offsets_per_segment
        data = b"".join(self.batch(partition, segment, number) for number in range(first, last))
        at = first * self.batch_bytes
        return data[start - at : end - at]

    def batch(self, partition: int, segment: int, number: int) -> bytes:
        """Return the batch with *number* in *segment* of *partition*: a checksum does not cover the base offset."""
        template = self.templates[(partition + segment + number) % NUM_TEMPLATES]
        base = segment * self.offsets_per_segment + number * RECORDS_PER_BATCH
        return OFFSET.pack(base) + template[OFFSET.size :]

    def records(self, partition: int, segment: int) -> Iterator[Record]:
        """Yield the records of *segment* of *partition*, without decoding any bytes."""
        offset = segment * self.offsets_per_segment
        for number in range(self.num_batches):
            template = (partition + segment + number) % NUM_TEMPLATES
            for position, value in enumerate(_values(template)):
                yield offset, entry_parts.T0 + position, value
                offset += 1


class SimulatedFileSystem(fsspec.AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """The log.dir of a LogGenerator as a file system, which counts requests and its own CPU time."""

    protocol = SCHEME
    cachable = False
    request_counts: ClassVar[Counter[str]] = Counter()
    """LIST, HEAD and GET requests of this process, the bytes of the latter, and objects that were listed."""
    busy: ClassVar[list[int]] = [0, 0]
    """Requests for bytes that are being answered, and their largest number so far."""
    cpu_seconds: ClassVar[list[float]] = [0.0]
    """CPU time of the generator."""
    _lock = Lock()

    def __init__(
        self,
        num_partitions: int | str = 1,
        num_segments: int | str = 20,
        segment_bytes: int | str = 10 * MIB,
        latency_ms: float | str = 0,
        **rest: Any,
    ) -> None:
        super().__init__(**rest)
        self.logs = LogGenerator(int(num_partitions), int(num_segments), int(segment_bytes))
        self.latency = float(latency_ms) / 1000
        self.log_dir = self.logs.log_dir_files()

    @classmethod
    def reset(cls) -> None:
        """Set all counts to 0."""
        cls.request_counts.clear()
        cls.busy[:], cls.cpu_seconds[:] = [0, 0], [0.0]

    @contextmanager
    def _request(self, kind: str, num_bytes: int = 0) -> Iterator[None]:
        """Count a request, and the CPU time of the block that answers it."""
        with self._lock:
            self.request_counts[kind] += 1
            self.request_counts["bytes"] += num_bytes
            self.busy[0] += 1
            self.busy[1] = max(self.busy)
        if self.latency:
            time.sleep(self.latency)
        start = time.thread_time()
        yield
        seconds = time.thread_time() - start
        with self._lock:
            self.cpu_seconds[0] += seconds
            self.busy[0] -= 1

    def _place(self, path: str) -> tuple[int, str] | None:
        """Return partition and file name of *path* below a partition's folder; None if it is elsewhere."""
        folder, _, name = path.removeprefix(f"{ROOT}/").partition("/")
        partition = self.logs.partition_of(folder) if path.startswith(f"{ROOT}/") else None
        return None if partition is None else (partition, name)

    def _size(self, path: str) -> int | None:
        """Return the size of the file *path*; None if it is no file."""
        place = self._place(path)
        if place is not None:
            return self.logs.sizes.get(place[1])
        folder, _, name = path.rpartition("/")
        data = self.log_dir.get(name) if folder == ROOT else None
        return None if data is None else len(data)

    def isfile(self, path: str) -> bool:
        return self._size(path) is not None

    def isdir(self, path: str) -> bool:
        place = self._place(path)
        return f"{ROOT}/".startswith(f"{path}/") or (place is not None and not place[1])

    def exists(self, path: str, **_: Any) -> bool:
        return self.isdir(path) or self.isfile(path)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        with self._request("HEAD"):
            size = self._size(path)
            if size is None and not self.isdir(path):
                raise FileNotFoundError(path)
            return _item(path, size)

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        items = self.find(path, maxdepth=1)
        return list(items.values()) if detail else list(items)

    def find(self, path: str, maxdepth: int | None = None, **_: Any) -> dict[str, dict[str, Any]]:
        """Return the items below *path* by their paths: a listing."""
        with self._request("LIST"):
            found = {item["name"]: item for item in self._below(path, maxdepth != 1)}
        with self._lock:
            self.request_counts["listed"] += len(found)
        return found

    def _below(self, path: str, is_recursive: bool) -> Iterator[dict[str, Any]]:
        place = self._place(path)
        if place is not None:
            for name, size in () if place[1] else self.logs.sizes.items():
                yield _item(f"{path}/{name}", size)
        elif path == ROOT:
            for name, data in self.log_dir.items():
                yield _item(f"{path}/{name}", len(data))
            for folder in map(self.logs.folder, range(self.logs.num_partitions)):
                yield _item(f"{path}/{folder}", None)
                if is_recursive:
                    yield from self._below(f"{path}/{folder}", is_recursive)
        elif f"{ROOT}/".startswith(f"{path}/"):
            below = ROOT.removeprefix(f"{path}/").partition("/")[0]
            yield _item(f"{path}/{below}", None)
            if is_recursive:
                yield from self._below(f"{path}/{below}", is_recursive)

    def read_range(self, path: str, start: int, end: int) -> bytes:
        """Return the bytes from *start* to *end* of the file *path*: a request."""
        with self._request("GET", end - start):
            place = self._place(path)
            if place is None:
                return self.log_dir[path.rpartition("/")[2]][start:end]
            return self.logs.read(*place, start, end)

    def open(self, path: str, mode: str = "rb", **_: Any) -> "SimulatedFile":
        with self._request("HEAD"):
            size = self._size(path)
        if size is None:
            raise FileNotFoundError(path)
        return SimulatedFile(self, path, size)


class SimulatedFile(io.RawIOBase):
    """A file of a SimulatedFileSystem; each read is a request."""

    def __init__(self, system: SimulatedFileSystem, path: str, size_bytes: int) -> None:
        self._system, self._path, self._size, self._position = system, path, size_bytes, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = start + position
        return self._position

    def readinto(self, buffer: Any) -> int:
        end = min(self._position + len(buffer), self._size)
        if end <= self._position:
            return 0
        data = self._system.read_range(self._path, self._position, end)
        buffer[: len(data)] = data
        self._position = end
        return len(data)


def _item(path: str, size_bytes: int | None) -> dict[str, Any]:
    """Return fsspec's description of the file *path*, or of a folder if it has no *size_bytes*."""
    kind = "directory" if size_bytes is None else "file"
    return {"name": path, "size": size_bytes or 0, "type": kind, "mtime": MODIFIED}


def register() -> None:
    """Let URLs of the scheme `simulated` open a SimulatedFileSystem, in this process."""
    fsspec.register_implementation(SCHEME, SimulatedFileSystem, clobber=True)
