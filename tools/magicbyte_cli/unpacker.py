"""Unpacks gzip, zstd, tar and zip: what an archive claims about itself decides nothing.

Bytes are counted while they are written, and no member is written outside of the folder.
"""

import gzip
import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import zstandard

from magicbyte import InputError
from magicbyte_cli.archive_signatures import (
    EMPTY_ZIP,
    GZIP,
    HEAD_BYTES,
    TAR_MAGIC,
    TAR_MAGIC_POSITION,
    ZIP,
    ZSTD,
)
from magicbyte_cli.display import byte_size
from magicbyte_cli.progress import ProgressBar

COPIED_BYTES = 1 << 16
"""Bytes that are read at a time. A damaged archive loses as many before the damage."""

MAX_MEMBERS = 1_000_000
MAX_HEADER_BYTES = 1 << 20
"""Largest extended header of a tar member, which tarfile keeps in memory."""

SUFFIXES = (".gz", ".tgz", ".zst", ".tzst")

DAMAGE_ERRORS = (
    *(OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile, RuntimeError),
    *(NotImplementedError, zstandard.ZstdError),
)
"""Errors of the libraries at damaged archives, and at ones that they do not support."""


class TooLargeError(InputError):
    """An archive whose contents are larger than the limit."""


class Unpacker:
    """Unpacks archives below one folder, all together at most *limit* bytes."""

    def __init__(self, folder: Path, limit: int, bar: ProgressBar) -> None:
        self._folder = folder
        self._limit = limit
        self._bar = bar
        self._num_archives = 0
        self.last_path = folder
        """Path of the contents that were unpacked last, in part if the archive is damaged."""
        self.num_bytes = 0
        self.num_left_out = 0
        """Members that are neither files nor folders, or whose names lead out of the folder."""

    def unpack(self, name: str, stream: IO[bytes], archive_path: Path | None) -> Path:
        """Write the contents of *stream*, which came from *name*, and return the path to read instead.

        Raises InputError if it is too large, OSError and the errors of the archives' libraries for one that is damaged.
        """
        self._num_archives += 1
        folder = self._folder / str(self._num_archives)
        folder.mkdir()
        self.last_path = folder
        stem = "stdin" if archive_path is None else archive_path.name
        for _ in range(2):  # a tar archive or a file in one compression
            head, stream = _peeked(stream)
            if head.startswith(GZIP):
                stream = cast(IO[bytes], gzip.GzipFile(fileobj=stream))
            elif head.startswith(ZSTD):
                stream = _decompressed_zstd(stream)
            else:
                break
            stem = _without_suffix(stem)
        head, stream = _peeked(stream)
        if head.startswith((ZIP, EMPTY_ZIP)):
            self._unpack_zip(folder, stream, name)
            return folder
        if head[TAR_MAGIC_POSITION:].startswith(TAR_MAGIC):
            self._unpack_tar(folder, stream, name)
            return folder
        # A partition folder tells the topic of a segment in it.
        parent = (
            folder
            if archive_path is None
            else folder / (archive_path.absolute().parent.name or "files")
        )
        parent.mkdir(exist_ok=True)
        self.last_path = path = parent / stem
        with path.open("xb") as file:
            self._copy(stream, file, name)
        return path

    def _unpack_tar(self, folder: Path, stream: IO[bytes], name: str) -> None:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_BoundedTarInfo) as archive:
            for number, member in enumerate(archive):
                self._check_number(number, name)
                vars(archive)["members"] = []  # it would keep all of them
                path = self._path_in(folder, member.name)
                if path is None:
                    continue
                if member.isdir():
                    path.mkdir(parents=True, exist_ok=True)
                elif member.isfile():
                    contents = archive.extractfile(member)
                    assert contents is not None
                    self._write(path, contents, name, member.mtime)
                elif member.islnk():
                    self._link(self._path_in(folder, member.linkname), path)
                else:
                    self.num_left_out += 1

    def _unpack_zip(self, folder: Path, stream: IO[bytes], name: str) -> None:
        packed = folder.with_suffix(".zip")
        with packed.open("x+b") as file:  # its directory is at its end
            self._copy(stream, file, name)
            with zipfile.ZipFile(file) as archive:
                for number, member in enumerate(archive.infolist()):
                    self._check_number(number, name)
                    path = self._path_in(folder, member.filename)
                    file_type = stat.S_IFMT(member.external_attr >> 16)
                    if path is None:
                        continue
                    if member.is_dir():
                        path.mkdir(parents=True, exist_ok=True)
                    elif file_type in (0, stat.S_IFREG):
                        with archive.open(member) as contents:
                            self._write(path, contents, name, None)
                    else:
                        self.num_left_out += 1
        packed.unlink()

    def _check_number(self, number: int, name: str) -> None:
        if number >= MAX_MEMBERS:
            raise TooLargeError(
                f"an archive of more than {MAX_MEMBERS:,} members", "fewer", path=name
            )

    def _path_in(self, folder: Path, member_name: str) -> Path | None:
        """Return the path of a member below *folder*; None for a name that leads out of it."""
        parts = PurePosixPath(member_name).parts
        if not parts or parts[0] == "/" or ".." in parts or "\0" in member_name:
            if member_name.strip("./"):
                self.num_left_out += 1
            return None
        return folder.joinpath(*parts)

    def _write(self, path: Path, stream: IO[bytes], name: str, mtime: float | None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # the last member of a name counts
        with path.open("xb") as file:
            self._copy(stream, file, name)
        if mtime is not None:
            with suppress(OSError, OverflowError):  # a time that the file system does not have
                os.utime(path, (mtime, mtime))

    def _link(self, linked: Path | None, path: Path) -> None:
        """Write a hard link to a member before it; None has been counted as left out."""
        if linked is None or not linked.is_file():
            self.num_left_out += linked is not None
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.link(linked, path)

    def _copy(self, stream: IO[bytes], file: IO[bytes], name: str) -> None:
        while data := stream.read(COPIED_BYTES):
            self.num_bytes += len(data)
            if self.num_bytes > self._limit:
                raise TooLargeError(
                    f"more than {byte_size(self._limit)} when it is unpacked",
                    "a higher --unpack-limit, and room in the folder of TMPDIR",
                    path=name,
                )
            file.write(data)
            self._bar.show_bytes(self.num_bytes)


class _BoundedTarInfo(tarfile.TarInfo):
    """A member whose extended headers are small; tarfile reads these into memory without a limit."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        is_extension = self.type in (
            *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
            *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
        )
        if is_extension and self.size > MAX_HEADER_BYTES:
            raise tarfile.ReadError(f"a header of {self.size:,} bytes")
        # typeshed has no private methods; the class has no other hook before extended headers are read.
        return super()._proc_member(archive)  # type: ignore[misc]


class _Peeked(io.RawIOBase):
    """A stream whose first bytes have been read already."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head = head
        # read() of gzip would drop its bytes when the stream ends too early.
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._read(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def _peeked(stream: IO[bytes]) -> tuple[bytes, IO[bytes]]:
    """Return the first bytes of *stream*, and a stream that still has them."""
    head = b""
    while len(head) < HEAD_BYTES and (data := stream.read(HEAD_BYTES - len(head))):
        head += data
    return head, cast(IO[bytes], io.BufferedReader(_Peeked(head, stream), COPIED_BYTES))


def _decompressed_zstd(stream: IO[bytes]) -> IO[bytes]:
    reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
    return cast(IO[bytes], reader)


def _without_suffix(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and f".{suffix}" in SUFFIXES and stem else name
