"""`magicbyte extract`: writes the decompressed payload of one batch or compressed message."""

import re
import sys
from io import BytesIO
from pathlib import Path

import click
from kaitaistruct import KaitaiStream, KaitaiStructError

from magicbyte import FormatError, InputError, LimitError, Limits, codecs
from magicbyte.engines.entry import HEADER_BYTES, Entry, checksum_of, cut_entry, read_entry
from magicbyte.errors import ChecksumError, TruncatedError
from magicbyte.output_guard import check_beside
from magicbyte.storage import File, Storage, StorageOptions, is_url, normalize_path
from magicbyte_cli import parameters
from magicbyte_cli.display import counted
from magicbyte_cli.option_completion import complete_path
from magicbyte_cli.output_files import check_writable, write_whole
from magicbyte_cli.selection import (
    limit_options,
    limits_of,
    overwrite_option,
    store_options,
    with_options,
)
from magicbyte_cli.stderr_messages import warn
from magicbyte_formats.kaitai.kafka_message import KafkaMessage
from magicbyte_formats.wire import RecordBatchHeader

POSITION = re.compile("[0-9]{1,19}")


@click.command(
    short_help="Write the decompressed payload of a batch.",
    epilog="""\b
    Examples:
      magicbyte extract orders-0/00000000000000000000.log@4096 -o payload.bin
      magicbyte extract orders-0/00000000000000000000.log@0 | xxd | less
    """,
)
@click.argument("target", metavar="FILE@POSITION", shell_complete=complete_path)
@click.option(
    "-o",
    "path",
    metavar="OUT",
    type=parameters.OutPath(),
    help="Write to this file instead of stdout. It appears whole or not at all.",
)
@overwrite_option
@click.option("--no-check", is_flag=True, help="Accept a wrong CRC.")
@with_options((*limit_options, *store_options))
@click.pass_context
def extract(
    ctx: click.Context,
    *,
    target: str,
    path: Path | None,
    overwrite: bool,
    no_check: bool,
    max_batch_bytes: int | None,
    max_entry_bytes: int | None,
    storage_option: StorageOptions,
) -> None:
    """Write the decompressed payload of the batch or message that begins at byte POSITION of FILE.

    The payload is the records of a v2 batch, or the message set inside a compressed v0 or v1
    message. `magicbyte dump --table batches` prints the positions.
    """
    name, position = _file_and_position(target)
    if path is None and sys.stdout.isatty():
        raise click.UsageError("a payload is binary; expected -o OUT, or a pipe")
    if path is not None:
        check_writable(path, replace=overwrite)
        if not is_url(name):
            check_beside(path, normalize_path(name))
    storage, location = Storage(storage_option), normalize_path(name)
    storage.check([name])
    if storage.kind_of(location) != "file":
        raise InputError("not a file", "a segment", path=name)
    limits = limits_of(max_batch_bytes, max_entry_bytes)
    try:
        with storage.open_file(location) as file:
            entry, payload = _payload(file, name, position, limits, check=not no_check)
    except (FormatError, LimitError) as error:
        warn(
            f"Error: {name} byte {position}: {error.message}; `magicbyte dump --table batches --columns "
            "file,position` prints where batches begin"
        )
        ctx.exit(1)
    if path is not None:
        write_whole(path, payload)
    else:
        out = sys.stdout.buffer
        out.write(payload)
        out.flush()
    format_file = "kafka_records.ksy" if entry.magic == 2 else "kafka_log.ksy"
    warn(f"{counted(len(payload), 'byte')}; the format is {format_file}")


def _file_and_position(text: str) -> tuple[str, int]:
    """Return the file and the byte position in *text*; InputError if it is not FILE@POSITION."""
    name, _, position = text.rpartition("@")
    if not name or not POSITION.fullmatch(position):
        raise InputError(repr(text), "FILE@POSITION, such as 00000000000000000000.log@4096")
    return name, int(position)


def _payload(
    file: File, name: str, position: int, limits: Limits, *, check: bool
) -> tuple[Entry, bytes]:
    """Return the log entry at *position* of *file*, and its decompressed payload."""
    available = file.size_bytes - position
    if available <= 0:
        raise InputError(
            f"byte {position}", f"a byte below the file's size, {file.size_bytes}", path=name
        )
    entry = read_entry(file.read_at(position, min(HEADER_BYTES, available)), 0)
    if entry.size_bytes > limits.max_entry_bytes:
        raise LimitError(entry.over_limit(limits))
    if entry.size_bytes > available:
        raise TruncatedError(cut_entry(0, available, entry.size_bytes))
    data = memoryview(file.read_at(position, entry.size_bytes))
    computed = checksum_of(data, entry)
    if check and computed != entry.crc:
        raise ChecksumError(entry.checksum_mismatch(computed))
    section = data[RecordBatchHeader.SIZE :] if entry.magic == 2 else _wrapped(data, entry, name)
    payload = codecs.decompress(
        entry.codec, section, magic=entry.magic, max_bytes=limits.max_batch_bytes
    )
    return entry, payload


def _wrapped(data: memoryview, entry: Entry, name: str) -> bytes:
    """Return the compressed message set in the v0 or v1 message *data*."""
    if not entry.is_wrapper:
        raise InputError(
            f"the v{entry.magic} message at this byte is not compressed",
            "a compressed message, or a v2 batch",
            path=name,
        )
    try:
        message = KafkaMessage(KaitaiStream(BytesIO(bytes(data)))).message
    except (EOFError, ValueError, KaitaiStructError) as error:
        reason = f"the fields of a message do not fit in its size: {error}"
        raise FormatError(entry.finding("bad-message", reason)) from error
    if message.value is None:
        raise FormatError(entry.finding("bad-wrapper", "a compressed message without a value"))
    value: bytes = message.value
    return value
