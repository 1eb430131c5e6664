"""Simulates a broker that changes a partition's folder between any two system calls of a reader."""

import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CALLS = {"scandir", "open", "fstat", "pread"}

DOES = ("append", "roll", "delete_oldest", "remove_deleted", "truncate", "crash", "clean")
"""Operations that a simulated broker can do; each takes several steps."""


class Broker:
    """Changes a partition's folder as brokers do, one step at a time."""

    def __init__(self, folder: Path, build: Any, seed: int, *, does: Sequence[str] = DOES) -> None:
        self.folder, self.build, self._does = folder, build, does
        self.random = random.Random(seed)
        self.values: dict[int, set[bytes]] = {}
        """Every value that a record at this offset ever had."""
        self.lost: set[int] = set()
        """Offsets that retention, truncation or compaction removed at any time."""
        self.end = 0
        self.lowest_end = 0
        self.version = 0
        self.entries: dict[int, list[tuple[int, bytes]]] = {}
        """Batches (first offset and bytes) by the base offset of their segment."""
        self.is_uniform = self.random.random() < 0.5
        """True if all batches have the same size, so that one can replace another in place."""
        self._under_way: Iterator[None] = iter(())
        folder.mkdir(parents=True)
        for _ in range(4):
            list(self.roll())
        self.lowest_end = self.end

    def step(self) -> None:
        """Do the next step of the current operation, or begin a random new one."""
        for _ in self._under_way:
            return
        self._under_way = getattr(self, self.random.choice(self._does))()

    @property
    def last(self) -> int:
        return max(self.entries)

    def _path(self, base: int, kind: str = "log") -> Path:
        return self.folder / f"{base:020}.{kind}"

    def append(self) -> Iterator[None]:
        """Append a batch in two steps: its first bytes, then the rest."""
        base, count = self.end, 1 if self.is_uniform else self.random.randint(1, 4)
        content = []
        for delta in range(count):
            times = 1 if self.is_uniform else self.random.randint(1, 9)
            value = b"%5d of %3d" % (base + delta, self.version) * times
            self.values.setdefault(base + delta, set()).add(value)
            content.append(self.build.record(value, delta=delta))
        codec = 0 if self.is_uniform else self.random.choice([0, 0, 4])
        data = self.build.batch(content, base, codec=codec)
        self.entries[self.last].append((base, data))
        self.end += count
        cut = self.random.randrange(len(data))
        with self._path(self.last).open("ab", buffering=0) as file:
            file.write(data[:cut])
            yield
            file.write(data[cut:])

    def roll(self) -> Iterator[None]:
        self.entries[self.end] = []
        self._path(self.end).touch()
        for _ in range(self.random.randint(1, 12 if self.is_uniform else 4)):
            yield
            yield from self.append()

    def delete_oldest(self) -> Iterator[None]:
        base, *others = sorted(self.entries)
        if len(others) >= 2:
            self.lost.update(range(base, others[0]))
            del self.entries[base]
            yield
            self._delete(base)

    def _delete(self, base: int) -> None:
        self._path(base).rename(self._path(base, "log.deleted"))

    def remove_deleted(self) -> Iterator[None]:
        for path in self.folder.glob("*.deleted"):
            yield
            path.unlink()

    def truncate(self) -> Iterator[None]:
        """Truncate batches from the end, as a follower does, and append others at their offsets."""
        entries = self.entries[self.last]
        if len(entries) >= 2:
            kept = self.random.randrange(1, len(entries))
            self._end_at(entries[kept][0])
            del entries[kept:]
            yield
            os.truncate(self._path(self.last), sum(len(data) for _, data in entries))
            self.version += 1
            for _ in range(self.random.randrange(4)):
                yield
                yield from self.append()

    def _end_at(self, offset: int) -> None:
        self.lost.update(range(offset, self.end))
        self.end = offset
        self.lowest_end = min(self.lowest_end, offset)

    def crash(self) -> Iterator[None]:
        """Cut the last segment inside a batch; in the next step, truncate it as recovery does."""
        entries = self.entries[self.last]
        if entries:
            first, data = entries.pop()
            self._end_at(first)
            whole = sum(len(data) for _, data in entries)
            os.truncate(self._path(self.last), whole + self.random.randrange(len(data)))
            yield
            os.truncate(self._path(self.last), whole)
            self.version += 1

    def clean(self) -> Iterator[None]:
        """Compact the first two segments into one that lacks some of their batches."""
        *sealed, _ = sorted(self.entries)
        bases = sealed[:2]
        entries = [entry for base in bases for entry in self.entries[base]]
        if not entries:
            return
        ends = [first for first, _ in entries[1:]] + [[*sealed, self.last][len(bases)]]
        kept = []
        for (first, data), end in zip(entries, ends, strict=True):
            if self.random.random() < 0.5:
                kept.append((first, data))
            else:
                self.lost.update(range(first, end))
        for base in bases:
            del self.entries[base]
        base = bases[0]
        self.entries[base] = kept
        cleaned, swap = self._path(base, "log.cleaned"), self._path(base, "log.swap")
        cleaned.write_bytes(b"".join(data for _, data in kept))
        yield
        cleaned.rename(swap)
        for old in bases:
            yield
            self._delete(old)
        yield
        swap.rename(self._path(base))


class Watched:
    """Module `os` for `magicbyte.storage._local`; *before* is called with the name of each call."""

    def __init__(self, before: Callable[[str], None]) -> None:
        self._before = before

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, *args: Any) -> int:
        self._before("open")
        return os.open(*args)

    def pread(self, *args: Any) -> bytes:
        self._before("pread")
        return os.pread(*args)

    def fstat(self, *args: Any) -> os.stat_result:
        self._before("fstat")
        return os.fstat(*args)

    @contextmanager
    def scandir(self, path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        with os.scandir(path) as names:
            yield self._each(names)

    def _each(self, names: Iterable[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
        for name in names:
            self._before("scandir")
            yield name
