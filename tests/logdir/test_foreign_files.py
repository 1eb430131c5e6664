"""Tests of telling other programs' files: each is named for what it is, and none is called a sound log."""

import bz2
import gzip
import io
import lzma
import os
import random
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest
import zstandard

import log_builder as build
import magicbyte as mb
from magicbyte import checksum
from magicbyte.logdir.foreign_files import identify
from paths import CAPTURE

SEGMENT = build.batch(build.records(5))


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("t-0/00000000000000000000.log", SEGMENT)
    return out.getvalue()


def tarred(form: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        member = tarfile.TarInfo("t-0/00000000000000000000.log")
        member.size = len(SEGMENT)
        archive.addfile(member, io.BytesIO(SEGMENT))
    return out.getvalue()


def old_tar() -> bytes:
    """Return a tar archive from before POSIX, without `ustar`."""
    block = bytearray(tarred(tarfile.USTAR_FORMAT))
    block[257:512] = bytes(255)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block[:512])
    return bytes(block)


def written(write: Callable[[pa.Table, io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    write(pa.table({"value": [b"a", b"b"]}), out)
    return out.getvalue()


def arrow() -> bytes:
    out = io.BytesIO()
    table = pa.table({"value": [1]})
    with pa.ipc.new_file(out, table.schema) as file:
        file.write_table(table)
    return out.getvalue()


def sqlite() -> bytes:
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (a)")
        return database.serialize()


def leveldb_log() -> bytes:
    """Return a log of one record: a masked CRC-32C of type and data, the length and the type."""
    data = b"\x01" + bytes(range(40))
    crc = checksum.crc32c(data)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return masked.to_bytes(4, "little") + (40).to_bytes(2, "little") + data


def redpanda() -> bytes:
    """Return a batch with Redpanda's header of 61 bytes, whose numbers are little-endian."""
    rest = (61 + 10).to_bytes(4, "little") + bytes(8) + b"\x01" + bytes(44)
    return checksum.crc32c(rest).to_bytes(4, "little") + rest + bytes(10)


FILES = {
    "zip": (zipped, "zip"),
    "tar": (lambda: tarred(tarfile.PAX_FORMAT), "tar"),
    "gnu tar": (lambda: tarred(tarfile.GNU_FORMAT), "tar"),
    "old tar": (old_tar, "tar"),
    "gzip": (lambda: gzip.compress(SEGMENT), "gzip"),
    "zstd": (lambda: zstandard.compress(SEGMENT), "zstd"),
    "xz": (lambda: lzma.compress(SEGMENT), "xz"),
    "bzip2": (lambda: bz2.compress(SEGMENT), "bzip2"),
    "lz4": (lambda: lz4.frame.compress(SEGMENT), "lz4"),
    "parquet": (lambda: written(pyarrow.parquet.write_table), "Parquet"),
    "orc": (lambda: written(pyarrow.orc.write_table), "ORC"),
    "arrow": (arrow, "Arrow"),
    "avro": (lambda: b"Obj\x01\x04\x16avro.schema" + SEGMENT, "Avro"),
    "sqlite": (sqlite, "SQLite"),
    "class": (lambda: b"\xca\xfe\xba\xbe\0\0\0\x41" + SEGMENT, "Java class"),
    "leveldb": (leveldb_log, "LevelDB"),
    "leveldb table": (lambda: bytes(100) + bytes.fromhex("57fb808b247547db"), "LevelDB"),
    "redpanda": (redpanda, "Redpanda"),
    "zookeeper log": (lambda: b"ZKLG\0\0\0\x02" + bytes(100), "ZooKeeper"),
    "zookeeper snapshot": (lambda: b"ZKSN\0\0\0\x02" + bytes(100), "ZooKeeper"),
    "pcap": (CAPTURE.read_bytes, "`magicbyte pcap`"),
    "ext4": (lambda: bytes(1080) + b"\x53\xef" + bytes(4000) + SEGMENT, "disk image"),
    "text": (lambda: b"topic,partition,offset\n" * 20, "text"),
    "utf-8": ("äöü\n".encode, "text"),
    "long text": (lambda: "ä".encode() * 70_000, "text"),
}


@pytest.mark.parametrize("name", FILES)
def test_file_is_named_for_what_it_is(name: str, tmp_path: Path) -> None:
    make, word = FILES[name]
    path = tmp_path / "backup.bin"
    path.write_bytes(make())
    for call in (mb.open, mb.verify):
        with pytest.raises(mb.InputError) as caught:
            call(str(path))
        assert word in caught.value.found
        assert "a segment" in caught.value.expected


@pytest.mark.parametrize("kind", ["index", "timeindex", "txnindex", "snapshot"])
def test_companion_of_a_segment_is_named_too(kind: str) -> None:
    foreign_type = identify(bytes(24), f"{0:020}.{kind}")
    assert foreign_type is not None and "magicbyte dump" in foreign_type.sentence


def test_unknown_bytes_have_no_type() -> None:
    assert identify(bytes(range(200)), "x") is None
    assert identify(b"", "x") is None


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (["CURRENT", "MANIFEST-000001", "000003.log"], "LevelDB"),
        (["0-1-v1.log", "0-1-v1.base_index"], "Redpanda"),
        (["log.1", "log.a2", "snapshot.0"], "ZooKeeper"),
        (["version-2/log.1"], "ZooKeeper"),
        (["data/kafka/orders/0_22/0-1-v1.log"], "Redpanda"),
        (["db/CURRENT", "db/MANIFEST-000001", "notes.txt"], "LevelDB"),
    ],
)
def test_folder_is_named_for_what_it_is(names: list[str], word: str, tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(40))
    with pytest.raises(mb.InputError) as caught:
        mb.open(str(tmp_path))
    assert word in caught.value.found


def test_archive_in_a_folder_without_a_log_is_named(tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "kafka-logs.tgz").write_bytes(gzip.compress(SEGMENT))
    (tmp_path / "notes.txt").write_text("a")
    with pytest.raises(mb.InputError, match=r"kafka-logs\.tgz is a gzip file: unpack it first"):
        mb.open(str(tmp_path))


def drawn_files(count: int, seed: int) -> list[Path]:
    """Return *count* files, each drawn by a walk downwards from /usr or from the installed packages."""
    draw = random.Random(seed)
    roots = [Path(pa.__file__).parents[1], Path("/usr/lib"), Path("/usr/share"), Path("/usr")]
    files: dict[Path, None] = {}
    while len(files) < count:
        path = draw.choice([root for root in roots if root.is_dir()])
        while path.is_dir() and not path.is_symlink():
            names = sorted(os.listdir(path))
            if not names:
                break
            path /= draw.choice(names)
        if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
            files[path] = None
    return list(files)


ARCHIVES = {".zip", ".jar", ".whl", ".gz", ".bz2", ".xz", ".zst", ".tar", ".parquet", ".orc"}

NUM_FILES = int(os.environ.get("MAGICBYTE_DRAWN_FILES", "150"))


def test_no_file_of_this_system_is_called_sound() -> None:
    """With 3,000 files, MAGICBYTE_DRAWN_FILES=3000: none was, and each archive was named."""
    for path in drawn_files(NUM_FILES, seed=38):
        with pytest.raises(mb.InputError) as caught:
            mb.verify(str(path))
        found = caught.value.found
        if path.suffix in ARCHIVES and path.stat().st_size:
            assert "without a sound batch" not in found, f"{path}: {found}"
