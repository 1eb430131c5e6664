"""Archives and compressed files that are unpacked, by their first bytes."""

from pathlib import Path

from magicbyte.logdir.file_names import parse_file

GZIP, ZSTD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\3\4"
EMPTY_ZIP = b"PK\5\6"
TAR_MAGIC, TAR_MAGIC_POSITION = b"ustar", 257

HEAD_BYTES = 512
"""First bytes that decide."""


def is_archive(path: Path) -> bool:
    """Return whether *path* is a file in one of the formats that are unpacked, by its first bytes."""
    if parse_file(path.name).kind == "log":  # a segment is read as one
        return False
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False  # the command reports the error
    is_tar = head[TAR_MAGIC_POSITION:].startswith(TAR_MAGIC)
    return is_tar or head.startswith((GZIP, ZSTD, ZIP, EMPTY_ZIP))
