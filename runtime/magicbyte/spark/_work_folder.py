"""The files and notes that the tasks of a pipeline leave in a folder, on this machine or in a store."""

import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import BinaryIO

from magicbyte.storage.output_folder import OutputFolder

METADATA_FOLDER = "_magicbyte"
"""Folder in an output with its plan. It marks the output as written by a pipeline."""

PLAN_FILE = "plan.jsonl"

THREADS = 16
"""Requests to a store that wait for their answers at a time."""

_NOTE = re.compile(r"(\d+)\.json")


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """The files and notes of one plan's tasks. It is sent to the tasks.

    plan.jsonl  the plan
    files/      written by tasks, under names that no other attempt has
    notes/      a note per finished task, on the files that it has written
    """

    root: OutputFolder

    @property
    def files(self) -> OutputFolder:
        return self.root.child("files")

    @property
    def notes(self) -> OutputFolder:
        return self.root.child("notes")

    def create_file(self) -> tuple[str, BinaryIO]:
        """Open a new file that no other attempt at a task uses; return its name, too."""
        name = f"{secrets.token_hex(16)}.parquet"
        return name, self.files.create(name)

    def read_notes(self) -> dict[int, str]:
        """Return the note of each task that has finished, by its number."""
        matches = map(_NOTE.fullmatch, self.notes.files())
        names = [match[0] for match in matches if match is not None]
        with ThreadPoolExecutor(THREADS) as threads:
            texts = threads.map(self.notes.read, names)
            return {
                int(name.removesuffix(".json")): text.decode()
                for name, text in zip(names, texts, strict=True)
                if text is not None
            }

    def write_note(self, task: int, note: str) -> None:
        """Write *note* on *task*. If two attempts finish, either note will do."""
        self.notes.write(f"{task:06d}.json", note.encode())
