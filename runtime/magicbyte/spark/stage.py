"""Where a pipeline works until its output is whole: a folder beside it, which outlives the run.

    .OUT.part/lock              held by the one run that works here
              DIGEST/           of the plan: work of another plan is of no use
                     plan.jsonl
                     files/     what tasks write, under names that nobody else has
                     notes/     what a task has written: it is done when its note is there
                     out/       takes the place of OUT when it is whole
              old/              what was OUT, for the moment between two renames

A run that is killed, at whatever moment, leaves notes or none: the next one with the same plan
does only what no note says is done.
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
from magicbyte.spark.plan import is_plan

OWN = "_magicbyte"
"""The folder in an output that holds its plan, and so marks it as ours."""


def plan_path(folder: Path) -> Path:
    return folder / OWN / "plan.jsonl"


def check_output(out: Path, dataset: Dataset, paths: Iterable[str], *, overwrite: bool) -> Path:
    """Return *out* without links, if a pipeline that reads *dataset* from *paths* may write there.

    Raises InputError where it is not ours, or ours and *overwrite* is false, or where it and
    what is read lie inside one another.
    """
    check_outside(out, dataset.all_logs, paths)
    real = Path(os.path.realpath(out))
    check_replaceable(real, overwrite=overwrite)
    return real


def check_replaceable(out: Path, *, overwrite: bool) -> None:
    """Raise InputError unless *out* is not there, is an empty folder, or ours to *overwrite*."""
    if not os.path.lexists(out):
        return
    if not out.is_dir():
        raise InputError("a file", "a new name for a folder", path=str(out))
    if not any(out.iterdir()):
        return
    if not is_plan(plan_path(out)):
        raise InputError(
            "a folder that pipeline did not make", "a new or an empty one", path=str(out)
        )
    if not overwrite:
        raise InputError("there already", "a new name, or --overwrite", path=str(out))


class Stage:
    """The folder beside *out* in which it is made."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out.parent / f".{out.name}.part"
        self._work: Work | None = None

    def begin(self, plan: str) -> "Work":
        """Return the place to work on *plan*, the text of a plan; work on others is deleted."""
        digest = hashlib.sha256(plan.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        for path in self.folder.iterdir():
            if path.is_dir() and path.name != digest:
                shutil.rmtree(path)
        self._work = Work(self.folder / digest)
        self._work.make(plan)
        return self._work

    @property
    def ready(self) -> Path:
        """The folder that takes the place of the output."""
        if self._work is None:
            raise RuntimeError("no work was begun")
        return self._work.out

    @property
    def is_worth_keeping(self) -> bool:
        """Whether a task has been done, which the next run need not do again."""
        return self._work is not None and self._work.has_notes()

    def clear(self) -> None:
        """Delete all work, of this plan and of others."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
        self._work = None

    def put_back(self) -> None:
        """End what a run that was killed while it replaced the output has left."""
        old = self.folder / "old"
        if not old.exists():
            return
        if os.path.lexists(self.out):
            shutil.rmtree(old)
        else:
            old.rename(self.out)

    def publish(self) -> None:
        """Let what is ready take the place of the output."""
        old = self.folder / "old"
        if os.path.lexists(self.out):
            self.out.rename(old)
        try:
            self.ready.rename(self.out)
        except BaseException:
            self.put_back()
            raise


@contextmanager
def staged(
    out: Path, *, overwrite: bool, restart: bool = False, say: Callable[[str], None]
) -> Iterator[Stage]:
    """Give a stage whose `ready` folder takes the place of *out* at the end.

    After an error *out* is what it was. What tasks have done by then is kept for the next run,
    which *restart* has begin anew; *say* is told so. Raises InputError where another run works on *out*.
    """
    made = _make_parents(out.parent)
    stage = Stage(out)
    is_kept = False
    try:
        with _locked(stage.folder):
            try:
                stage.put_back()
                check_replaceable(out, overwrite=overwrite)
                if restart:
                    stage.clear()
                yield stage
                check_replaceable(out, overwrite=overwrite)
                stage.publish()
            except BaseException:
                is_kept = stage.is_worth_keeping
                if is_kept:
                    say(f"what is done is kept in {stage.folder}: the same command goes on with it")
                raise
            finally:
                if not is_kept:
                    shutil.rmtree(stage.folder, ignore_errors=True)
    except BaseException:
        if not is_kept:
            for parent in made:
                with suppress(OSError):
                    parent.rmdir()
        raise


LOCK = b"A run of magicbyte pipeline works here, or was killed: the next one goes on.\n"
"""What the lock's file says; it marks the folder as ours."""


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold *folder*, which is made, for this process alone: the system lets go of it with us."""
    path = folder / "lock"
    with suppress(FileExistsError):
        folder.mkdir()
    if path.is_symlink() or (any(folder.iterdir()) and not path.exists()):
        raise InputError("a folder that pipeline did not make", "none", path=str(folder))
    with path.open("ab+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_same = path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())
        except BlockingIOError:
            is_same = False
        if not is_same:  # who held it is at work, or has just deleted it
            raise InputError("another run writes there", "one at a time", path=str(folder))
        file.seek(0)
        said = file.read(len(LOCK) + 1)
        if not LOCK.startswith(said):
            raise InputError("a folder that pipeline did not make", "none", path=str(folder))
        file.truncate(0)
        file.write(LOCK)
        file.flush()
        yield


def _make_parents(parent: Path) -> list[Path]:
    """Make *parent* and return the folders that were made, the deepest first."""
    missing = []
    for folder in (parent, *parent.parents):
        if folder.exists():
            break
        missing.append(folder)
    parent.mkdir(parents=True, exist_ok=True)
    return missing


@dataclass(frozen=True, slots=True)
class Work:
    """What is done for one plan, and how far it is. Goes to the tasks."""

    folder: Path

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def plan(self) -> Path:
        return self.folder / "plan.jsonl"

    def make(self, plan: str) -> None:
        for folder in (self.folder, self.folder / "files", self.folder / "notes", self.out):
            folder.mkdir(exist_ok=True)
        (self.out / OWN).mkdir(exist_ok=True)
        self.plan.write_text(plan, encoding="utf-8", errors="surrogateescape")

    def has_notes(self) -> bool:
        with suppress(OSError):
            return any((self.folder / "notes").iterdir())
        return False

    def new_file(self) -> Path:
        """Return a name for a file that a task writes, which no attempt at a task has had."""
        return self.file(f"{secrets.token_hex(16)}.parquet")

    def file(self, name: str) -> Path:
        """Return the file of that *name*, which a task has written."""
        return self.folder / "files" / name

    def note_of(self, task: int) -> str | None:
        """Return the note on *task*; None where there is none."""
        try:
            return self._note(task).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def keep_note(self, task: int, note: str) -> None:
        """Keep *note* on *task*, whole or not at all. Of two attempts that end, either will do."""
        draft = self.file(f"{secrets.token_hex(16)}.note")
        draft.write_text(note, encoding="utf-8")
        draft.replace(self._note(task))

    def _note(self, task: int) -> Path:
        return self.folder / "notes" / f"{task:06d}.json"
