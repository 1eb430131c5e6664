"""The stage of an output in a store, or of one that grows: it is changed by a commit, file by file.

.OUT.part/DIGEST/           one plan: plan.jsonl, files/ and notes/ of the tasks, ready/ of the driver
OUT/_magicbyte/commit.json  the list of changes, while they are made
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from magicbyte.errors import InputError, MagicbyteError
from magicbyte.spark._commit import COMMIT_PATH, PLAN_PATH, Commit, finish_commit
from magicbyte.spark._pipeline_plan import is_plan_text
from magicbyte.spark._stage import (
    LOCK,
    LOCK_FILE,
    create_parents,
    delete_empty,
    digest_of,
    foreign_folder,
    kept_work_message,
    locked,
    parquet_files,
)
from magicbyte.spark._work_folder import METADATA_FOLDER, PLAN_FILE, WorkFolder
from magicbyte.storage.output_folder import LocalFolder, OutputFolder, StoreFolder


class CommitStage:
    """A change of the output folder *destination*: all of it, or, with *is_append*, only more files."""

    def __init__(
        self, destination: OutputFolder, staging: OutputFolder, scratch: Path, *, is_append: bool
    ) -> None:
        """Work in the folder *staging* beside *destination*; *scratch* is an empty folder on this machine."""
        self._destination, self._staging = destination, staging
        self._is_append = is_append
        self._work: WorkFolder | None = None
        self._targets: Mapping[str, str] = {}
        self.ready = scratch
        """Folder on this machine for the driver's files."""

    def begin(self, plan: str) -> WorkFolder:
        """Return the folder for *plan*, the text of a plan, and delete work for other plans."""
        digest = digest_of(plan)
        self._delete_work(keep=digest)
        self._work = WorkFolder(self._staging.child(digest))
        text = plan.encode("utf-8", "surrogateescape")
        self._work.root.write(PLAN_FILE, text)
        (self.ready / METADATA_FOLDER).mkdir(parents=True, exist_ok=True)
        (self.ready / PLAN_PATH).write_bytes(text)
        return self._work

    def placed_sizes(self) -> dict[str, int]:
        """Return nothing: the files of tasks stay in the work folder until the commit."""
        return {}

    def place(self, targets: Mapping[str, str]) -> None:
        """Let the files of tasks, the keys of *targets*, become these paths of the output."""
        self._targets = targets

    @property
    def is_worth_keeping(self) -> bool:
        """True if some task has finished, so that the next run need not repeat it."""
        return self._work is not None and bool(self._work.notes.files())

    def clear(self) -> None:
        """Delete the files and notes of the tasks of all plans."""
        self._delete_work(keep=None)
        self._work = None

    def _delete_work(self, *, keep: str | None) -> None:
        for name in {path.partition("/")[0] for path in self._staging.files() if "/" in path}:
            if name != keep:
                self._staging.child(name).delete_folder()

    def files_of(self, table: str) -> Iterator[tuple[str, Any]]:
        """Yield the Parquet files of *table*: paths below its folder, and what pyarrow.parquet reads."""
        assert self._work is not None
        for name, path in sorted(self._targets.items(), key=lambda item: item[1]):
            if path.startswith(f"{table}/"):
                yield path.removeprefix(f"{table}/"), self._work.files.open_parquet(name)
        yield from parquet_files(self.ready / table)

    def publish(self) -> None:
        """Change the output."""
        if self._work is None:
            return
        local = LocalFolder(self.ready)
        names = sorted(local.files(), key=lambda path: (path == PLAN_PATH, path))
        ready = self._work.root.child("ready")
        for name in names:
            ready.write(name, local.read(name) or b"")
        digest = self._work.root.path.rpartition("/")[2]
        commit = Commit(
            digest, tuple(self._targets.items()), tuple(names), is_whole=not self._is_append
        )
        self._destination.write(COMMIT_PATH, commit.to_json())
        finish_commit(self._destination, self._staging)


def check_folder(destination: OutputFolder, *, overwrite: bool, is_append: bool) -> None:
    """Raise InputError unless *destination* is absent, empty, or an output of a pipeline to overwrite or append to."""
    if (
        isinstance(destination, LocalFolder)
        and os.path.lexists(destination.folder)
        and not destination.folder.is_dir()
    ):
        raise InputError("this is a file", "a new name for a folder", path=destination.path)
    plan = destination.read(PLAN_PATH)
    if plan is None and not destination.files():
        return
    if plan is None or not is_plan_text(plan):
        raise InputError(
            "the folder was not written by pipeline",
            "a new or an empty folder",
            path=destination.path,
        )
    if not overwrite and not is_append:
        raise InputError("the output exists", "a new name, or --overwrite", path=destination.path)


def folder_beside(destination: OutputFolder) -> OutputFolder:
    """Return the folder in which a pipeline works that writes to *destination*."""
    parent, _, name = destination.path.rpartition("/")
    path = f"{parent}/.{name}.part"
    return (
        StoreFolder(destination.store, path)
        if isinstance(destination, StoreFolder)
        else LocalFolder(Path(path))
    )


@contextmanager
def committed(
    destination: OutputFolder,
    *,
    overwrite: bool,
    is_append: bool,
    restart: bool = False,
    say: Callable[[str], None],
) -> Iterator[CommitStage]:
    """Provide a stage that changes *destination* at the end.

    A commit that an earlier run has left is finished first. After an error *destination* is unchanged, and finished
    tasks are kept for the next run, unless that run has *restart*; *say* gets a sentence about it. Raises
    InputError if another run writes to a local *destination*; a store has no lock.
    """
    staging = folder_beside(destination)
    is_local = isinstance(destination, LocalFolder)
    created = create_parents(Path(destination.path).parent) if is_local else []
    scratch = Path(tempfile.mkdtemp(prefix="magicbyte-pipeline-"))
    is_kept = False
    try:
        with locked(Path(staging.path)) if is_local else _marked(staging):
            try:
                if finish_commit(destination, staging):
                    say(f"an earlier run was killed while it changed {destination.path}: finished")
                check_folder(destination, overwrite=overwrite, is_append=is_append)
                stage = CommitStage(destination, staging, scratch, is_append=is_append)
                if restart:
                    stage.clear()
                try:
                    yield stage
                    check_folder(destination, overwrite=overwrite, is_append=is_append)
                    stage.publish()
                except BaseException:
                    is_kept = stage.is_worth_keeping or _is_unfinished(destination)
                    if is_kept:
                        say(kept_work_message(staging.path))
                    raise
            finally:
                if not is_kept and not _is_unfinished(destination):
                    staging.delete_folder()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        delete_empty(created)


@contextmanager
def _marked(staging: OutputFolder) -> Iterator[None]:
    """Mark *staging*, a folder in a store, as ours. Raises InputError if it has foreign files."""
    if staging.read(LOCK_FILE) is None and staging.files():
        raise foreign_folder(staging.path)
    staging.write(LOCK_FILE, LOCK)
    yield


def _is_unfinished(destination: OutputFolder) -> bool:
    """Return whether *destination* has a commit that is not finished, or cannot be read."""
    try:
        return destination.read(COMMIT_PATH) is not None
    except (MagicbyteError, OSError):
        return True
