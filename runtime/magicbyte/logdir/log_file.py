"""Which files of a partition's folder a broker would use (LogLoader, rules at start-up)."""

from dataclasses import dataclass, field, replace

from magicbyte import storage
from magicbyte.engines.entry import HEADER_BYTES, read_entry
from magicbyte.errors import FormatError
from magicbyte.logdir.embedded_file import EmbeddedFile, EmbeddedRange
from magicbyte.logdir.file_names import parse_file
from magicbyte.storage import File, FolderItem, Store


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file in a partition's folder, or one that was named alone."""

    path: str
    name: str
    kind: str
    base_offset: int | None
    size_bytes: int
    why_not: str | None = None
    """Why a broker would not use it; None: it is live."""
    store: Store | None = field(default=None, compare=False)
    """Where it lies; None: on this machine."""
    embedded: EmbeddedRange | None = None
    """Where in *path*, which is an object of remote storage, it lies; None: it is all of that."""
    is_remote: bool = False
    """Whether it lies in remote storage (KIP-405), where no broker's start looks."""
    end_offset: int | None = None
    """The offset from which on another segment counts, where this one may have it too; None: none."""

    @property
    def live(self) -> bool:
        return self.why_not is None

    def open(self) -> File:
        """Open it as long as it was when it was listed."""
        return self._open(self.size_bytes)

    def read_small(self, max_bytes: int) -> bytes:
        """Return the whole of it as it is now, up to *max_bytes*."""
        with self._open(None) as file:
            return file.read_at(0, min(file.size_bytes, max_bytes))

    def _open(self, size_bytes: int | None) -> File:
        if self.embedded is None:
            return storage.open_file(self.path, size_bytes=size_bytes, store=self.store)
        return EmbeddedFile(self.path, self.embedded, size_bytes=size_bytes, store=self.store)

    @property
    def is_live_log(self) -> bool:
        return self.live and self.kind == "log"


def classify(
    folder: str, items: list[FolderItem], folder_state: str | None, store: Store | None = None
) -> tuple[LogFile, ...]:
    """Return the files of *folder*, which lies in *store*, with what a broker's start would make of each.

    `.deleted` and `.cleaned` go. `.swap` files at or above the lowest `.cleaned` base go too: the
    step that made them did not finish. The `.swap` logs that are left replace every regular
    segment from the lowest of their bases up to the next offset of the highest.
    """
    files, suffixes = [], []
    for item in items:
        if item.is_folder:
            continue
        name = parse_file(item.name)
        why_not = folder_state or (name.suffix if name.suffix in ("deleted", "cleaned") else None)
        files.append(
            LogFile(
                f"{folder}/{item.name}",
                item.name,
                name.kind,
                name.base_offset,
                item.size_bytes,
                why_not,
                store,
            )
        )
        suffixes.append(name.suffix)
    if folder_state is None and "swap" in suffixes:
        files = _swap(files, suffixes)
    return tuple(sorted(files, key=file_order))


def file_order(file: LogFile) -> tuple[int, str]:
    """Sort key of files: base offset, name."""
    return -1 if file.base_offset is None else file.base_offset, file.name


def _swap(files: list[LogFile], suffixes: list[str | None]) -> list[LogFile]:
    cleaned = [f.base_offset or 0 for f, s in zip(files, suffixes, strict=True) if s == "cleaned"]
    barrier = min(cleaned, default=None)
    swaps = [f for f, s in zip(files, suffixes, strict=True) if s == "swap"]
    kept = [f for f in swaps if barrier is None or (f.base_offset or 0) < barrier]
    logs = [f for f in kept if f.kind == "log"]
    bases = {f.base_offset for f in logs}
    low = min((f.base_offset or 0 for f in logs), default=None)
    high = _next_offset(max(logs, key=lambda f: f.base_offset or 0)) if logs else None
    out = []
    for file, suffix in zip(files, suffixes, strict=True):
        base = file.base_offset
        if suffix == "swap" and file not in kept:
            file = replace(file, why_not="swap")
        elif (
            suffix is None
            and base is not None
            and file.live
            and file.kind in ("log", "index", "timeindex", "txnindex")
            and low is not None
            and high is not None
            # A swapped log without a readable entry still replaces the log of its own name.
            and (low <= base < high or (file.kind == "log" and base in bases))
        ):
            file = replace(file, why_not="superseded")
        out.append(file)
    return out


def _next_offset(file: LogFile) -> int:
    """Return the offset behind the last whole entry of *file*, by its headers alone; its base
    offset where there is none."""
    next_offset, position = file.base_offset or 0, 0
    with storage.open_file(file.path, store=file.store) as log:
        while position < log.size_bytes:
            header = log.read_at(position, min(HEADER_BYTES, log.size_bytes - position))
            try:
                entry = read_entry(header, 0)
            except FormatError:
                break
            if position + entry.size_bytes > log.size_bytes:
                break
            next_offset = entry.last_offset + 1
            position += entry.size_bytes
    return next_offset
