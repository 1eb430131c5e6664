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
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from magicbyte.errors import InputError
from magicbyte.output_guard import check_outside
from magicbyte.reading.dataset import Dataset
from magicbyte.spark.pipeline_plan import is_plan

METADATA_FOLDER = "_magicbyte"
"""Folder in an output with its plan. It marks the output as written by a pipeline."""


def plan_path(folder: Path) -> Path:
    return folder / METADATA_FOLDER / "plan.jsonl"


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

    def begin(self, plan: str) -> "WorkFolder":
        """Return the folder for *plan*, the text of a plan, and delete work for other plans."""
        digest = hashlib.sha256(plan.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._delete_work(keep=digest)
        self._work = WorkFolder(self.folder / digest)
        self._work.create(plan)
        return self._work

    @property
    def ready(self) -> Path:
        """Folder that will replace the output."""
        if self._work is None:
            raise RuntimeError("begin() was not called")
        return self._work.out

    @property
    def is_worth_keeping(self) -> bool:
        """True if some task has finished, so that the next run need not repeat it."""
        with suppress(OSError):
            return self._work is not None and any(self._work.notes.iterdir())
        return False

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
    created = _create_parents(out.parent)
    stage = Stage(out)
    is_kept = False
    try:
        with _locked(stage.folder):
            try:
                stage.recover_old_output()
                check_replaceable(out, overwrite=overwrite)
                if restart:
                    stage.clear()
                yield stage
                check_replaceable(out, overwrite=overwrite)
                stage.publish()
            except BaseException:
                is_kept = stage.is_worth_keeping
                if is_kept:
                    say(
                        f"finished tasks are kept in {stage.folder}: run the same command to continue"
                    )
                raise
            finally:
                if not is_kept:
                    shutil.rmtree(stage.folder, ignore_errors=True)
    except BaseException:
        if not is_kept:
            for parent in created:
                with suppress(OSError):
                    parent.rmdir()
        raise


LOCK = b"A run of magicbyte pipeline works here, or was killed: the next one goes on.\n"
"""Content of the lock file. It marks the folder as ours."""


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Create *folder* and lock it for this process; the system unlocks it when the process ends."""
    path = folder / "lock"
    with suppress(FileExistsError):
        folder.mkdir()
    if path.is_symlink() or (any(folder.iterdir()) and not path.exists()):
        raise _foreign_folder(folder)
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
            raise _foreign_folder(folder)
        file.truncate(0)
        file.write(LOCK)
        file.flush()
        yield


def _foreign_folder(folder: Path) -> InputError:
    return InputError("the folder was not written by pipeline", "no such folder", path=str(folder))


def _create_parents(parent: Path) -> list[Path]:
    """Create *parent* and return the folders that were created, the deepest first."""
    missing = []
    for folder in (parent, *parent.parents):
        if folder.exists():
            break
        missing.append(folder)
    parent.mkdir(parents=True, exist_ok=True)
    return missing


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """The files and notes of one plan's tasks. It is sent to the tasks."""

    folder: Path

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def plan(self) -> Path:
        return self.folder / "plan.jsonl"

    def create(self, plan: str) -> None:
        for folder in (self.folder, self.folder / "files", self.notes, self.out):
            folder.mkdir(exist_ok=True)
        (self.out / METADATA_FOLDER).mkdir(exist_ok=True)
        self.plan.write_text(plan, encoding="utf-8", errors="surrogateescape")

    @property
    def notes(self) -> Path:
        return self.folder / "notes"

    def new_file(self) -> Path:
        """Return a path for a task's file that no other attempt at a task uses."""
        return self.file(f"{secrets.token_hex(16)}.parquet")

    def file(self, name: str) -> Path:
        """Return the path of the file *name*, which a task has written."""
        return self.folder / "files" / name

    def read_note(self, task: int) -> str | None:
        """Return the note on *task*; None if it has not finished."""
        try:
            return self._note(task).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def write_note(self, task: int, note: str) -> None:
        """Write *note* on *task* atomically. If two attempts finish, either note will do."""
        draft = self.file(f"{secrets.token_hex(16)}.note")
        draft.write_text(note, encoding="utf-8")
        draft.replace(self._note(task))

    def _note(self, task: int) -> Path:
        return self.notes / f"{task:06d}.json"
