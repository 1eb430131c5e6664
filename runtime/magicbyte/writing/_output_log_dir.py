"""A folder of rewritten partitions, laid out like a log.dir: each partition appears whole or not at all.

A partition is written into a hidden folder, and moved when it is complete and was verified. A manifest lists the
finished partitions, so that a run that was killed can be repeated and writes only the missing ones.
"""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte.errors import InputError
from magicbyte.logdir.file_names import OUTPUT_MANIFEST
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.storage.output_folder import LocalFolder
from magicbyte.writing._new_folder import create_output_folder

MANIFEST_VERSION = 1

DRAFTS = ".unfinished"
"""Folder in the output folder with the partition that is being written."""

SAVE_SHARE = 0.05
"""Largest share of a run's time in which the manifest is written, which lists all partitions."""

CHECKPOINT_NAMES = {
    "log_start": "log-start-offset-checkpoint",
    "cleaner": "cleaner-offset-checkpoint",
}
"""Names of the checkpoint files of a log.dir that are written, by field of CheckpointOffsets."""


@dataclass(frozen=True, slots=True)
class RewriteJob:
    """The command that writes a folder, with the options that decide its contents."""

    command: str
    options: dict[str, Any]

    def __str__(self) -> str:
        words = [f"magicbyte {self.command}"]
        for name, value in self.options.items():
            words.append(f"{name}={value}")
        return " ".join(words)


def source_state(log: PartitionLog) -> list[list[Any]]:
    """Return names, sizes and versions of the live segments of *log*, which tell whether it has changed."""
    file_states: list[list[Any]] = []
    for file in log.logs:
        file_states.append([file.path, file.size_bytes, file.start])
    return file_states


class OutputLogDir:
    """The output folder of one job."""

    def __init__(self, path: str | os.PathLike[str], job: RewriteJob) -> None:
        self.path = Path(os.path.abspath(path))
        self.given_path = os.fspath(path)
        self.job = job
        self._folder = LocalFolder(self.path)
        self._partitions: dict[str, dict[str, Any]] = {}
        self._next_save = 0.0

    def open(self) -> None:
        """Create the folder, or read the manifest of an earlier run of the same job.

        Raises InputError if it holds anything else, OSError if files cannot be created in it.
        """
        has_manifest = self.read_manifest()
        create_output_folder(self.path)
        if not has_manifest:
            self.save()

    def read_manifest(self) -> bool:
        """Read the manifest of an earlier run of the same job; return False where the folder is new or empty.

        Raises InputError if it holds anything else.
        """
        text = self._folder.read(OUTPUT_MANIFEST)
        if text is None:
            with suppress(FileNotFoundError):
                names = sorted(os.listdir(self.path))
                foreign = [name for name in names if not name.startswith(DRAFTS)]
                if foreign:
                    raise InputError(
                        f"the folder holds {foreign[0]} and no {OUTPUT_MANIFEST}",
                        "a new or empty folder, or the output of an earlier run",
                        path=str(self.path),
                    )
            return False
        try:
            manifest = json.loads(text)
            version, command = manifest["version"], manifest["command"]
            options, partitions = manifest["options"], manifest["partitions"]
        except (ValueError, KeyError, TypeError):
            raise InputError(
                f"{OUTPUT_MANIFEST} is no manifest", "a new or empty folder", path=str(self.path)
            ) from None
        expected = json.loads(json.dumps(self.job.options))
        if version != MANIFEST_VERSION or (command, options) != (self.job.command, expected):
            earlier = RewriteJob(str(command), options if isinstance(options, dict) else {})
            raise InputError(
                f"the folder was written by `{earlier}`",
                f"the output of `{self.job}`, or a new folder",
                path=str(self.path),
            )
        self._partitions = partitions
        return True

    def finished(self, log: PartitionLog) -> dict[str, Any] | None:
        """Return the report of an earlier run about *log*, if its output is whole and its source unchanged."""
        row = self._partitions.get(log.name)
        if row is None or not (self.path / log.name).is_dir():
            return None
        if row["source"] != source_state(log):
            return None
        report: dict[str, Any] = row["report"]
        return report

    def draft(self, log: PartitionLog, checkpoint_offsets: "CheckpointOffsets") -> LocalFolder:
        """Return the empty folder in which the partition *log* is written.

        Its parent is laid out like a log.dir, whose checkpoints have the *checkpoint_offsets* of the partition.
        """
        self.drop_draft()
        drafts = self._folder.child(DRAFTS)
        folder = drafts.child(log.name)
        folder.folder.mkdir(parents=True)
        for name, data in _checkpoints({log.name: checkpoint_offsets.as_row()}).items():
            drafts.write(name, data)
        return folder

    def drop_draft(self) -> None:
        """Delete the unfinished partition."""
        with suppress(OSError):
            self._folder.child(DRAFTS).delete_folder()

    def publish(
        self, log: PartitionLog, report: dict[str, Any], checkpoint_offsets: "CheckpointOffsets"
    ) -> None:
        """Make the draft of *log* its output, after all of it is on the disk.

        Its offsets are in the checkpoints before it appears. The manifest may lack it until `save`: if the run is
        killed before, the next one writes it again.
        """
        draft, target = self.path / DRAFTS / log.name, self.path / log.name
        sync_folder_tree(draft)
        if target.exists():  # of an earlier run, from a source that has changed since
            LocalFolder(target).delete_folder()
        self._partitions[log.name] = {
            "source": source_state(log),
            "report": report,
            "offsets": checkpoint_offsets.as_row(),
        }
        self._write_checkpoints()
        draft.replace(target)
        _sync_folder(self.path)
        self.drop_draft()
        if time.monotonic() >= self._next_save:
            self.save()

    @property
    def partition_names(self) -> list[str]:
        """Names of the partitions in the folder that earlier runs have written."""
        return [name for name in sorted(self._partitions) if (self.path / name).is_dir()]

    def publish_drafts(
        self, drafts: Path, reports: Mapping[str, dict[str, Any]], *, is_whole: bool
    ) -> None:
        """Move partitions from the folder *drafts* into the output, after all of them are on the disk.

        *reports* has the row of each by its name. Partitions of earlier runs with these names are replaced, and if
        *is_whole* the others deleted. The manifest is written first, so that it lists every partition in the folder,
        also where a run was killed in between.
        """
        for name in reports:
            sync_folder_tree(drafts / name)
        others = [name for name in self.partition_names if name not in reports]
        offsets = CheckpointOffsets(log_start=None, cleaner=None).as_row()
        for name, row in reports.items():
            self._partitions[name] = {"source": [], "report": row, "offsets": offsets}
        self.save()
        for name in reports:
            LocalFolder(self.path / name).delete_folder()
            (drafts / name).replace(self.path / name)
        if is_whole:
            for name in others:
                LocalFolder(self.path / name).delete_folder()
                del self._partitions[name]
        self.save()

    def save(self) -> None:
        """Write the checkpoints and the manifest."""
        begin = time.monotonic()
        self._write_checkpoints()
        self._folder.write(OUTPUT_MANIFEST, self._manifest())
        _sync_folder(self.path)
        end = time.monotonic()
        self._next_save = end + (end - begin) / SAVE_SHARE

    def _manifest(self) -> bytes:
        """Return the manifest: JSON with a line for each partition."""
        header = {
            "version": MANIFEST_VERSION,
            "command": self.job.command,
            "options": self.job.options,
        }
        rows = [f" {json.dumps(name)}: {json.dumps(row)}" for name, row in self._partitions.items()]
        head = json.dumps(header).removesuffix("}")
        return (head + ', "partitions": {\n' + ",\n".join(rows) + "\n}}\n").encode()

    def _write_checkpoints(self) -> None:
        rows = {name: row["offsets"] for name, row in sorted(self._partitions.items())}
        checkpoints = _checkpoints(rows)
        for name in CHECKPOINT_NAMES.values():
            if name not in checkpoints:
                self._folder.delete(name)
            elif checkpoints[name] != self._folder.read(name):
                self._folder.write(name, checkpoints[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointOffsets:
    """Offsets of a partition that the checkpoint files of its log.dir state."""

    log_start: int | None
    """Log start offset, if it is above the base offset of the first segment."""
    cleaner: int | None
    """Offset up to which the log was compacted; None: the source's log.dir does not say."""

    def as_row(self) -> dict[str, int | None]:
        """Return the offsets as a dict of JSON values."""
        return {"log_start": self.log_start, "cleaner": self.cleaner}


def _checkpoints(offset_rows: dict[str, dict[str, int | None]]) -> dict[str, bytes]:
    """Return the checkpoint files of a log.dir, by name, with the offsets *offset_rows* of its partitions."""
    files = {}
    for field, file_name in CHECKPOINT_NAMES.items():
        lines = []
        for name, offsets in offset_rows.items():
            if offsets[field] is not None:
                topic, _, partition = name.rpartition("-")
                lines.append(f"{topic} {partition} {offsets[field]}")
        # A partition that is not in cleaner-offset-checkpoint was never compacted.
        if lines and (field != "cleaner" or len(lines) == len(offset_rows)):
            text = "\n".join(["0", str(len(lines)), *lines, ""])
            files[file_name] = text.encode()
    return files


def sync_folder_tree(folder: Path) -> None:
    """Flush all files of *folder* and the folder itself to the disk."""
    for path in sorted(folder.iterdir()):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):  # Windows has no folders that can be flushed
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
