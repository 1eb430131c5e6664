"""Changes of an output that are listed in it before they are made, so that any run can finish them.

A store cannot rename a folder, and an output that grows is not replaced. So the files of a run are first written
into a folder beside the output, then a list of them into the output. From then on the output changes as listed,
whoever does it. At last the list is deleted.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from magicbyte.errors import InputError
from magicbyte.spark._work_folder import METADATA_FOLDER, PLAN_FILE, THREADS, WorkFolder
from magicbyte.storage.output_folder import OutputFolder

COMMIT_PATH = f"{METADATA_FOLDER}/commit.json"
"""Path of the list in the output."""

PLAN_PATH = f"{METADATA_FOLDER}/{PLAN_FILE}"


@dataclass(frozen=True, slots=True)
class Commit:
    """Changes of an output. The output stores them as JSON."""

    digest: str
    """Name of the work folder beside the output."""
    files: tuple[tuple[str, str], ...]
    """Files of tasks: their names in the work folder, and their paths in the output."""
    ready: tuple[str, ...]
    """Files of the driver, in the folder `ready`: their paths in the output. They are put in place at last."""
    is_whole: bool
    """True if the output has no other files afterwards."""

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Commit":
        """Return the changes that `to_json` has written; InputError for other content."""
        try:
            value: dict[str, Any] = json.loads(data)
            files = tuple((name, path) for name, path in value["files"])
            commit = cls(value["digest"], files, tuple(value["ready"]), value["is_whole"] is True)
            paths = [commit.digest, *commit.ready, *(each for pair in files for each in pair)]
            is_ours = not any({"", ".", ".."} & set(path.split("/")) for path in paths)
        except (ValueError, TypeError, KeyError, AttributeError):
            is_ours = False
        if not is_ours:
            raise InputError("the list of changes is malformed", "a new output", path=COMMIT_PATH)
        return commit


def finish_commit(destination: OutputFolder, staging: OutputFolder) -> bool:
    """Make the changes that *destination* lists, even if an earlier run has made some; return False if it lists none.

    Their files are in the folder *staging*, beside *destination*.

    Raises InputError if a file is missing.
    """
    data = destination.read(COMMIT_PATH)
    if data is None:
        return False
    commit = Commit.from_json(data)
    work = WorkFolder(staging.child(commit.digest))
    existing = cache(destination.files)  # a listing of all runs: only if it is needed
    _transfer_all(work.files, destination, commit.files, existing)
    # The plan marks a complete output, so it comes last.
    for is_plan in (False, True):
        paths = [(path, path) for path in commit.ready if (path == PLAN_PATH) is is_plan]
        _transfer_all(work.root.child("ready"), destination, paths, existing)
    if commit.is_whole:
        listed = {COMMIT_PATH, *commit.ready, *(path for _, path in commit.files)}
        for path in existing().keys() - listed:
            destination.delete(path)
    destination.delete(COMMIT_PATH)
    work.root.delete_folder()
    return True


def _transfer_all(
    work_files: OutputFolder,
    destination: OutputFolder,
    pairs: Sequence[tuple[str, str]],
    existing: Callable[[], Mapping[str, int]],
) -> None:
    """Move or copy files of *work_files*, by their names, to paths in *destination*; a local file may be there already."""
    left = work_files.files()

    def transfer(name: str, path: str) -> None:
        if name in left:
            work_files.transfer(name, destination, path)
        elif path not in existing():
            raise InputError(
                f"the file {name} of an unfinished commit is gone",
                "a new output, or --overwrite",
                path=destination.path,
            )

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(lambda pair: transfer(*pair), pairs))
