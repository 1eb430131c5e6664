"""Base of the tasks whose cases are partition folders with mutated files."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Self

from magicbyte_tools.fuzz.log_changes import ChangedFiles
from magicbyte_tools.fuzz.partition import SeedPartition
from magicbyte_tools.fuzz.task import Failure, Message, Tally, What

LEVELS = ("read_committed", "read_uncommitted")
ENGINES = ("reference", "columnar")

TOLD_EVERY = 20
"""Cases after which a task sends its tally."""

SMALL_ENTRIES = 20
"""Log entries of a partition up to which it is drawn about as often as a smaller one."""


@dataclass(frozen=True)
class FolderFuzzTask:
    """Task whose cases are partition folders; subclasses mutate files and compare reads."""

    first: int
    end: int
    seed: int
    directories: tuple[Path, ...]
    """Folders whose small partitions are mutated, besides partitions that are built from the seed."""
    is_changed: bool = True
    """False to read the partitions unchanged, as `--replay` does."""

    word: str = ""
    """Seeds the cases of the subclass, so that it has others than the other subclasses."""

    @cached_property
    def partitions(self) -> Sequence[SeedPartition]:
        """The partitions whose files are mutated."""
        raise NotImplementedError

    def changed(self, chance: Random, seed_partition: SeedPartition) -> ChangedFiles:
        """Return mutated files of *seed_partition*; None stands for a file that is removed."""
        raise NotImplementedError

    def outcomes(self, folder: Path, number: int, send: Callable[[Message], None]) -> Iterator[str]:
        """Read the partition *folder* of case *number*; send failures, and yield names for the tally."""
        raise NotImplementedError

    @cached_property
    def _weights(self) -> list[float]:
        """Chances of the partitions: a case of many entries takes longer, and finds no more."""
        counts = (
            sum(len(entries) for entries in partition.entries.values())
            for partition in self.partitions
        )
        return [1 / (SMALL_ENTRIES + count) for count in counts]

    def case(self, number: int) -> tuple[SeedPartition, ChangedFiles]:
        chance = Random(f"{self.seed} {self.word} {number}")
        (partition,) = chance.choices(self.partitions, self._weights)
        return partition, self.changed(chance, partition) if self.is_changed else {}

    def run(self, begin: Callable[[int], None], send: Callable[[Message], None]) -> None:
        tally: Tally = Counter()
        with TemporaryDirectory(prefix="magicbyte-fuzz-") as root:
            for number in range(self.first, self.end):
                begin(number)
                partition, files = self.case(number)
                # Partitions of two clusters may have the same name.
                own = Path(root, str(id(partition)), partition.name)
                with changed_folder(own, partition, files) as folder:
                    for became in self.outcomes(folder, number, send):
                        tally["partitions", became] += 1
                if number % TOLD_EVERY == 0:
                    send(tally)
                    tally = Counter()
        send(tally)

    def alone(self, case: int) -> Self | None:
        return None

    def behind(self, case: int) -> Self:
        return replace(self, first=case + 1)

    def failure(self, what: What, case: int, message: str) -> Failure:
        partition, files = self.case(case)
        whole = {
            f"{partition.name}/{name}": data
            for name, data in (partition.files | files).items()
            if data is not None
        }
        return Failure(what, case, partition.name, message, whole)


@contextmanager
def changed_folder(
    folder: Path, seed_partition: SeedPartition, files: Mapping[str, bytes | None]
) -> Iterator[Path]:
    """Overwrite *files* of the partition in *folder*; restore them at the end of the context.

    A file without content is removed. Other files stay in place for the next case.
    """
    if not folder.exists():
        folder.mkdir(parents=True)
        _write(folder, seed_partition.files)
    _write(folder, files)
    try:
        yield folder
    finally:
        _write(folder, {name: seed_partition.files[name] for name in files})


def _write(folder: Path, files: Mapping[str, bytes | None]) -> None:
    for name, data in files.items():
        if data is None:
            (folder / name).unlink(missing_ok=True)
        else:
            (folder / name).write_bytes(data)
