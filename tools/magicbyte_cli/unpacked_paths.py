"""Standard input, and archives of logs: unpacked into a private temporary folder that is removed at the end.

Logs are read at any position, so a stream has to be on a disk first.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from magicbyte import InputError
from magicbyte.storage import is_url, local_path
from magicbyte_cli.archive_signatures import is_archive
from magicbyte_cli.display import byte_size, counted
from magicbyte_cli.exit_statuses import IS_INCOMPLETE
from magicbyte_cli.output_files import signals_as_exits
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.stderr_messages import warn

if TYPE_CHECKING:
    from magicbyte_cli.unpacker import Unpacker

STDIN = "-"

DEFAULT_LIMIT = 16 << 30
LIMIT = "magicbyte_cli.unpacked_paths.limit"
"""Key of a context's `meta`: the most bytes that are unpacked."""


def keep_limit(ctx: click.Context, _: click.Parameter, limit: int) -> None:
    """Keep the value of `--unpack-limit`, which is needed before the command begins; a callback for click."""
    ctx.meta[LIMIT] = limit


def unpacked(ctx: click.Context, _: click.Parameter, paths: Sequence[str]) -> tuple[str, ...]:
    """Return *paths* with the folders of their contents instead of archives and `-`; a callback for click.

    The folders are removed when the command of *ctx* ends.
    """
    texts = tuple(paths)
    if ctx.resilient_parsing:
        return texts
    if texts.count(STDIN) > 1:
        raise click.UsageError("standard input, '-', can be read only once", ctx)
    packed = [text for text in texts if text == STDIN or _is_archive(text)]
    if not packed:
        return texts
    from magicbyte_cli.unpacker import Unpacker  # most paths are no archives

    limit = ctx.meta.get(LIMIT, DEFAULT_LIMIT)
    folder = ctx.with_resource(_private_folder())
    with ProgressBar() as bar:
        unpacker = Unpacker(folder, limit, bar)
        replaced = {text: str(_unpack_path(ctx, unpacker, text)) for text in packed}
    left_out = (
        f"; left out: {counted(unpacker.num_left_out, 'link or other member', 'links or other members')}"
        if unpacker.num_left_out
        else ""
    )
    warn(
        f"unpacked {byte_size(unpacker.num_bytes)} to a temporary folder, {folder}, which is removed at the end "
        f"(--unpack-limit {byte_size(limit)}){left_out}"
    )
    return tuple(replaced.get(text, text) for text in texts)


def _unpack_path(ctx: click.Context, unpacker: "Unpacker", text: str) -> Path:
    """Unpack one path and return the path to read instead; of a damaged archive, the part before the damage."""
    from magicbyte_cli.unpacker import DAMAGE_ERRORS

    name = "standard input" if text == STDIN else text
    before = unpacker.num_bytes
    try:
        if text == STDIN:
            return unpacker.unpack(name, sys.stdin.buffer, None)
        source = Path(local_path(text))
        with source.open("rb") as stream:
            return unpacker.unpack(name, stream, source)
    except DAMAGE_ERRORS as error:
        unpacked_bytes = unpacker.num_bytes - before
        reason = str(error) or type(error).__name__
        if not unpacked_bytes:
            raise InputError(
                f"it cannot be unpacked: {reason}", "a sound archive", path=name
            ) from error
        ctx.meta[IS_INCOMPLETE] = True
        warn(
            f"{name} is damaged: {reason}; the {counted(unpacked_bytes, 'byte')} before the damage are read"
        )
        return unpacker.last_path


def _is_archive(text: str) -> bool:
    return not is_url(text) and is_archive(Path(local_path(text)))


@contextmanager
def _private_folder() -> Iterator[Path]:
    """Yield a folder that only this user can read, and remove it at the end, also after a signal."""
    base = None
    if not os.environ.get("TMPDIR") and os.access("/var/tmp", os.W_OK):
        base = "/var/tmp"  # /tmp is in memory on many systems
    with signals_as_exits():
        folder = Path(tempfile.mkdtemp(prefix="magicbyte-", dir=base))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
