"""The folder beside its output in which a pipeline works; it outlives a run that is killed.

    .OUT.part/lock              held by the run that works here
              DIGEST/           one plan; work for another plan is deleted
                     plan.jsonl
                     files/     written by tasks, under names that no other attempt has
                     notes/     a note per finished task, on the files that it has written
                     out/       replaces OUT when it is complete
              old/              the previous OUT, between two renames

A run may be killed at any moment. The next run with the same plan does only the tasks that have
left no note.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from magicbyte.errors import InputError
from magicbyte.output_guard import check_outside
from magicbyte.reading.dataset import Dataset
from magicbyte.spark._commit import finish_commit
from magicbyte.spark._pipeline_plan import is_plan
from magicbyte.spark._work_folder import METADATA_FOLDER, PLAN_FILE, WorkFolder
from magicbyte.storage.output_folder import LocalFolder


def plan_path(folder: Path) -> Path:
    return folder / METADATA_FOLDER / PLAN_FILE


def parquet_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the paths of the Parquet files below *folder*: relative to it, and whole."""
    for path in sorted(folder.rglob("*.parquet")):
        yield str(path.relative_to(folder)), path


def digest_of(plan: str) -> str:
    """Return the name of the work folder for *plan*, the text of a plan."""
    return hashlib.sha256(plan.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def check_output(out: Path, dataset: Dataset, paths: Iterable[str], *, overwrite: bool) -> Path:
    """Return *out* without links, if a pipeline that reads *dataset* from *paths* may write there.

    Raises InputError if *out* and the input are inside one another, or if *out* exists and is not to
    be overwritten or was not written by a pipeline.
    """
    check_outside(out, dataset.all_logs, paths)
    real = Path(os.path.realpath(out))
    check_replaceable(real, overwrite=overwrite)
    return real


def check_replaceable(out: Path, *, overwrite: bool) -> None:
    """Raise InputError unless *out* is absent, an empty folder, or an output to *overwrite*."""
    if not os.path.lexists(out):
        return
    if not out.is_dir():
        raise InputError("this is a file", "a new name for a folder", path=str(out))
    if not any(out.iterdir()):
        return
    if not is_plan(plan_path(out)):
        raise InputError(
            "the folder was not written by pipeline", "a new or an empty folder", path=str(out)
        )
    if not overwrite:
        raise InputError("the output exists", "a new name, or --overwrite", path=str(out))


class Stage:
    """The working folder beside the output folder *out*."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out.parent / f".{out.name}.part"
        self._work: WorkFolder | None = None

    def begin(self, plan: str) -> WorkFolder:
        """Return the folder for *plan*, the text of a plan, and delete work for other plans."""
        digest = digest_of(plan)
        self._delete_work(keep=digest)
        self._work = WorkFolder(LocalFolder(self.folder / digest))
        for folder in (self.folder / digest / name for name in ("files", "notes")):
            folder.mkdir(parents=True, exist_ok=True)
        (self.ready / METADATA_FOLDER).mkdir(parents=True, exist_ok=True)
        for path in (self.folder / digest / PLAN_FILE, plan_path(self.ready)):
            path.write_bytes(plan.encode("utf-8", "surrogateescape"))
        return self._work

    @property
    def ready(self) -> Path:
        """Folder that will replace the output."""
        if self._work is None:
            raise RuntimeError("begin() was not called")
        return Path(self._work.root.path) / "out"

    def placed_sizes(self) -> dict[str, int]:
        """Return the sizes of the files that are in `ready`, by path."""
        return LocalFolder(self.ready).files()

    def place(self, targets: Mapping[str, str]) -> None:
        """Move the files of tasks, the keys of *targets*, to their paths in `ready`.

        An earlier run may have moved some of them. Parquet files of other runs are deleted.
        """
        assert self._work is not None
        ready = LocalFolder(self.ready)
        for name, path in targets.items():
            if (Path(self._work.files.path) / name).exists():
                self._work.files.transfer(name, ready, path)
        for path in ready.files().keys() - set(targets.values()):
            if path.endswith(".parquet"):
                ready.delete(path)

    @property
    def is_worth_keeping(self) -> bool:
        """True if some task has finished, so that the next run need not repeat it."""
        return self._work is not None and bool(self._work.notes.files())

    def clear(self) -> None:
        """Delete the files and notes of the tasks of all plans."""
        self._delete_work(keep=None)
        self._work = None

    def _delete_work(self, *, keep: str | None) -> None:
        for path in self.folder.iterdir():
            if path.is_dir() and path.name != keep:
                shutil.rmtree(path)

    def recover_old_output(self) -> None:
        """Restore or delete the old output of a run that was killed while it replaced it."""
        old = self.folder / "old"
        if not old.exists():
            return
        if os.path.lexists(self.out):
            shutil.rmtree(old)
        else:
            old.rename(self.out)

    def files_of(self, table: str) -> Iterator[tuple[str, Any]]:
        """Yield the Parquet files of *table*: paths below its folder, and what pyarrow.parquet reads."""
        yield from parquet_files(self.ready / table)

    def publish(self) -> None:
        """Replace the output by the folder `ready`."""
        old = self.folder / "old"
        if os.path.lexists(self.out):
            self.out.rename(old)
        try:
            self.ready.rename(self.out)
        except BaseException:
            self.recover_old_output()
            raise


@contextmanager
def staged(
    out: Path, *, overwrite: bool, restart: bool = False, say: Callable[[str], None]
) -> Iterator[Stage]:
    """Provide a stage whose `ready` folder replaces *out* at the end.

    After an error *out* is unchanged, and finished tasks are kept for the next run, unless that run has
    *restart*; *say* gets a sentence about it. Raises InputError if another run writes to *out*.
    """
    created = create_parents(out.parent)
    stage = Stage(out)
    is_kept = False
    try:
        with locked(stage.folder):
            try:
                stage.recover_old_output()
                finish_commit(LocalFolder(out), LocalFolder(stage.folder))
                check_replaceable(out, overwrite=overwrite)
                if restart:
                    stage.clear()
                yield stage
                check_replaceable(out, overwrite=overwrite)
                stage.publish()
            except BaseException:
                is_kept = stage.is_worth_keeping
                if is_kept:
                    say(kept_work_message(str(stage.folder)))
                raise
            finally:
                if not is_kept:
                    shutil.rmtree(stage.folder, ignore_errors=True)
    except BaseException:
        if not is_kept:
            delete_empty(created)
        raise


def kept_work_message(folder: str) -> str:
    """Return the advice after an error that leaves finished tasks in *folder*."""
    return f"finished tasks are kept in {folder}: run the same command to continue"


def delete_empty(created: Iterable[Path]) -> None:
    """Delete the folders of *created* that are empty."""
    for folder in created:
        with suppress(OSError):
            folder.rmdir()


LOCK_FILE = "lock"

LOCK = b"A run of magicbyte pipeline works here, or was killed: the next one goes on.\n"
"""Content of the lock file. It marks the folder as ours."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create *folder* and lock it for this process; the system unlocks it when the process ends."""
    path = folder / LOCK_FILE
    with suppress(FileExistsError):
        folder.mkdir()
    if path.is_symlink() or (any(folder.iterdir()) and not path.exists()):
        raise foreign_folder(str(folder))
    with path.open("ab+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_same = path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())
        except BlockingIOError:
            is_same = False
        if not is_same:  # another run holds the lock, or has just deleted the folder
            raise InputError("another run writes there", "one at a time", path=str(folder))
        file.seek(0)
        if not LOCK.startswith(file.read(len(LOCK) + 1)):
            raise foreign_folder(str(folder))
        file.truncate(0)
        file.write(LOCK)
        file.flush()
        yield


def foreign_folder(folder: str) -> InputError:
    return InputError("the folder was not written by pipeline", "no such folder", path=folder)


def create_parents(parent: Path) -> list[Path]:
    """Create *parent* and return the folders that were created, the deepest first."""
    missing = []
    for folder in (parent, *parent.parents):
        if folder.exists():
            break
        missing.append(folder)
    parent.mkdir(parents=True, exist_ok=True)
    return missing
