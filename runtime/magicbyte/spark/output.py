"""Where a pipeline writes: a folder that is whole or not there, and never somebody else's."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from magicbyte.errors import InputError
from magicbyte.outside import check_outside
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
    check_outside(out, dataset, paths)
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


@contextmanager
def staged(out: Path, *, overwrite: bool) -> Iterator[Path]:
    """Give a folder beside *out* that takes its place at the end, and is gone after an error."""
    made = _make_parents(out.parent)
    folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".part", dir=out.parent))
    try:
        yield folder
        umask = os.umask(0)
        os.umask(umask)
        folder.chmod(0o777 & ~umask)
        check_replaceable(out, overwrite=overwrite)
        _replace(folder, out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


def _make_parents(parent: Path) -> list[Path]:
    """Make *parent* and return the folders that were made, the deepest first."""
    missing = []
    for folder in (parent, *parent.parents):
        if folder.exists():
            break
        missing.append(folder)
    parent.mkdir(parents=True, exist_ok=True)
    return missing


def _replace(folder: Path, out: Path) -> None:
    if not os.path.lexists(out):
        folder.rename(out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".old", dir=out.parent))
    try:
        out.rename(old / "out")
        try:
            folder.rename(out)
        except BaseException:
            (old / "out").rename(out)
            raise
    finally:
        if not os.path.lexists(out):  # never delete what could not be put back
            raise InputError("could not be put back", "the folder", path=str(old / "out"))
        shutil.rmtree(old, ignore_errors=True)
