"""Files and folders of other programs, told by their first bytes, their structure or their names.

Only what people have next to Kafka's logs, or pass for one, is told apart: archives, files of tables
and databases, disk images, segments of other systems. The signatures are in each format's specification.
"""

import re
from dataclasses import dataclass

from magicbyte import checksum
from magicbyte.errors import InputError
from magicbyte.logdir.file_names import parse_file
from magicbyte.storage import File, FolderItem, Storage

UNPACK = "unpack it first, and name what is inside"
IMAGE = "mount it, or search it for batches with --search"
PACKED_SEGMENT = "unpack it first; a segment keeps its name, <20 digits>.log"


@dataclass(frozen=True, slots=True)
class ForeignType:
    """A type of file or folder that is not Kafka's."""

    name: str
    """Name with its article: `a zip archive`."""
    advice: str = ""
    """The words that follow: how to get at Kafka's records, if there may be some."""
    is_archive: bool = False

    @property
    def sentence(self) -> str:
        return f"{self.name}: {self.advice}" if self.advice else self.name


ZIP = ForeignType("a zip archive", UNPACK, True)
TAR = ForeignType("a tar archive", UNPACK, True)
GZIP = ForeignType("a gzip file", PACKED_SEGMENT, True)
ZSTD = ForeignType("a zstd file", PACKED_SEGMENT, True)
XZ = ForeignType("an xz file", PACKED_SEGMENT, True)
BZIP2 = ForeignType("a bzip2 file", PACKED_SEGMENT, True)
LZ4 = ForeignType("an lz4 file", PACKED_SEGMENT, True)
SNAPPY = ForeignType("a file of framed snappy", PACKED_SEGMENT, True)
SEVEN_ZIP = ForeignType("a 7z archive", UNPACK, True)
RAR = ForeignType("a RAR archive", UNPACK, True)
AR = ForeignType("an ar archive or a Debian package", UNPACK, True)
RPM = ForeignType("an RPM package", UNPACK, True)
CPIO = ForeignType("a cpio archive", UNPACK, True)
PARQUET = ForeignType("a Parquet file", "read it with pyarrow or DuckDB")
ARROW = ForeignType("an Arrow file", "read it with pyarrow")
AVRO = ForeignType("an Avro file", "read it with a reader of Avro files")
ORC = ForeignType("an ORC file", "read it with pyarrow")
SEQUENCE_FILE = ForeignType("a Hadoop sequence file", "read it with Hadoop")
SQLITE = ForeignType("an SQLite database", "read it with sqlite3")
CLASS = ForeignType("a Java class, or a universal binary of macOS")
ELF = ForeignType("an ELF program or library")
PNG, JPEG, PDF = map(ForeignType, ("a PNG image", "a JPEG image", "a PDF document"))
PCAP = ForeignType(
    "a capture of network packets",
    "`magicbyte pcap` and magicbyte.read_pcap read the records in it",
)
ZOOKEEPER_LOG = ForeignType("a transaction log of ZooKeeper", "it has no records of topics")
ZOOKEEPER_SNAPSHOT = ForeignType("a snapshot of ZooKeeper", "it has no records of topics")
DISK = ForeignType("a disk image", IMAGE)
DISK_IN_FORMAT = ForeignType(
    "a disk image of a virtual machine",
    "convert it with qemu-img to raw, then mount or --search it",
)
LEVELDB_TABLE = ForeignType("a table of LevelDB or RocksDB", "it is no segment of Kafka")
LEVELDB_LOG = ForeignType("a log of LevelDB or RocksDB", "it is no segment of Kafka")
REDPANDA = ForeignType(
    "a segment of Redpanda",
    "its numbers are little-endian, which is not read; copy the topic to Kafka with Redpanda",
)
PULSAR_LEDGER = ForeignType("an entry log of BookKeeper", "it is not read")
TEXT = ForeignType("a text file")

SIGNATURES: tuple[tuple[int, bytes, ForeignType], ...] = (
    *((0, b"PK" + kind, ZIP) for kind in (b"\3\4", b"\5\6", b"\7\x08")),
    (0, b"\x1f\x8b", GZIP),
    (0, b"\x28\xb5\x2f\xfd", ZSTD),
    *((0, bytes([0x50 + number]) + b"\x2a\x4d\x18", ZSTD) for number in range(16)),
    (0, b"\xfd7zXZ\0", XZ),
    (0, b"BZh", BZIP2),
    (0, b"\x04\x22\x4d\x18", LZ4),
    (0, b"\x02\x21\x4c\x18", LZ4),
    (0, b"\xff\x06\0\0sNaPpY", SNAPPY),
    (0, b"7z\xbc\xaf\x27\x1c", SEVEN_ZIP),
    (0, b"Rar!\x1a\x07", RAR),
    (0, b"!<arch>\n", AR),
    (0, b"\xed\xab\xee\xdb", RPM),
    *((0, b"07070" + kind, CPIO) for kind in (b"1", b"2", b"7")),
    (257, b"ustar", TAR),
    (0, b"PAR1", PARQUET),
    (0, b"PARE", PARQUET),
    (0, b"ARROW1", ARROW),
    (0, b"FEA1", ARROW),
    (0, b"Obj\x01", AVRO),
    (0, b"ORC", ORC),
    (0, b"SEQ\x06", SEQUENCE_FILE),
    (0, b"SQLite format 3\0", SQLITE),
    (0, b"\xca\xfe\xba\xbe", CLASS),
    (0, b"\x7fELF", ELF),
    (0, b"\x89PNG\r\n\x1a\n", PNG),
    (0, b"\xff\xd8\xff", JPEG),
    (0, b"%PDF-", PDF),
    *(
        (0, magic, PCAP)
        for magic in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\n\r\r\n")
    ),
    (0, b"ZKLG", ZOOKEEPER_LOG),
    (0, b"ZKSN", ZOOKEEPER_SNAPSHOT),
    (0, b"BKLO", PULSAR_LEDGER),
    (0, b"XFSB", DISK),
    (0, b"LUKS\xba\xbe", DISK),
    (0, b"hsqs", DISK),
    (0, b"QFI\xfb", DISK_IN_FORMAT),
    (0, b"KDMV", DISK_IN_FORMAT),
    (0, b"conectix", DISK_IN_FORMAT),
    (0, b"vhdxfile", DISK_IN_FORMAT),
    (512, b"EFI PART", DISK),
    (1080, b"\x53\xef", DISK),  # ext2, ext3 and ext4
    (0x8001, b"CD001", DISK),
    (0x10040, b"_BHRfS_M", DISK),  # btrfs
    (510, b"\x55\xaa", DISK),  # a boot record; last, because two bytes may be there by chance
)
"""Position, bytes and type of each signature."""

MAX_FOLDERS = 64
MAX_FILES = 32
"""Most folders and files that are looked into to say what a folder without a log is."""

HEAD_BYTES = max(position + len(magic) for position, magic, _ in SIGNATURES)
"""Bytes at the beginning of a file that hold every signature."""

TABLE_MAGICS = (
    bytes.fromhex("57fb808b247547db"),  # LevelDB
    bytes.fromhex("f7cff485b741e288"),  # RocksDB, block-based
)
"""The last eight bytes of a table."""

LEVELDB_BLOCK = 1 << 15
LEVELDB_HEADERS = {**dict.fromkeys(range(1, 5), 7), **dict.fromkeys(range(5, 9), 11)}
"""Bytes of the header of a log record by its type; those above 4 are RocksDB's, with a log number."""

REDPANDA_HEADER_BYTES = 61
_REDPANDA_NAME = re.compile(r"\d+-\d+-v\d+\.log")

TAR_BLOCK = 512
TAR_CHECKSUM = slice(148, 156)

CONTROL_BYTES = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\b\x1b")

KAFKAS_OWN = {
    "index": "an offset index",
    "timeindex": "a time index",
    "txnindex": "a transaction index",
    "snapshot": "a producer snapshot",
}
"""Companion files by kind."""


def identify_file(file: File) -> ForeignType | None:
    """Return the type of *file*, whose name is no segment's; None if it is not known."""
    head = file.read_at(0, min(HEAD_BYTES, file.size_bytes))
    length = min(8, file.size_bytes)
    return identify(head, file.name, tail=file.read_at(file.size_bytes - length, length))


def identify(head: bytes, name: str, *, tail: bytes = b"") -> ForeignType | None:
    """Return the type of the file *name* that begins with *head*; None if it is not known.

    *head* has at least HEAD_BYTES unless the file is shorter, *tail* the last eight bytes.
    """
    own = KAFKAS_OWN.get(parse_file(name).kind)
    if own is not None:
        return ForeignType(f"{own} of a segment", "magicbyte dump prints it")
    for position, magic, foreign_type in SIGNATURES:
        if head.startswith(magic, position):
            return foreign_type
    if _is_tar(head):
        return TAR
    if tail in TABLE_MAGICS:
        return LEVELDB_TABLE
    if _is_leveldb_log(head):
        return LEVELDB_LOG
    if _is_redpanda(head, name):
        return REDPANDA
    return TEXT if _is_text(head) else None


def identify_folder(items: list[FolderItem]) -> ForeignType | None:
    """Return the type of a folder with *items*; None if it is not known."""
    names = {item.name for item in items}
    if "CURRENT" in names and any(name.startswith("MANIFEST-") for name in names):
        return ForeignType("a database of LevelDB or RocksDB", "its logs are not Kafka's")
    if "version-2" in names or (
        names
        and all(
            re.match(r"(log|snapshot)\.[0-9a-f]+$|currentEpoch$|acceptedEpoch$", name)
            for name in names
        )
    ):
        return ForeignType(
            "a folder of ZooKeeper", "records of topics are in the log.dirs of the brokers"
        )
    if any(_REDPANDA_NAME.fullmatch(name) for name in names):
        return ForeignType("a folder of Redpanda", REDPANDA.advice)
    return None


def identify_below(path: str, storage: Storage) -> str | None:
    """Return a sentence about the first folder or archive of another program in *path*; None without one.

    At most MAX_FOLDERS folders are listed, and MAX_FILES files are opened.
    """
    folders = [path]
    # In a store, opening a file is a request for megabytes.
    num_files = MAX_FILES if storage.store_of(path) else 0
    for folder in folders:
        try:
            items = storage.list_folder(folder)
        except InputError:
            continue
        where = "" if folder == path else f"{folder} is "
        foreign_type = identify_folder(items)
        if foreign_type is not None:
            return where + foreign_type.sentence
        for item in items:
            below = f"{folder}/{item.name}"
            if item.is_folder and not item.is_link and len(folders) < MAX_FOLDERS:
                folders.append(below)
            elif not item.is_folder and item.obstacle is None and num_files < MAX_FILES:
                num_files += 1
                archive_type = _archive_type(below, storage)
                if archive_type is not None:
                    return f"{below} is {archive_type.sentence}"
    return None


def _archive_type(path: str, storage: Storage) -> ForeignType | None:
    try:
        with storage.open_file(path) as file:
            foreign_type = identify_file(file)
    except InputError:
        return None
    return foreign_type if foreign_type is not None and foreign_type.is_archive else None


def _is_tar(head: bytes) -> bool:
    """Return whether *head* begins with the header of an old tar archive, by its checksum."""
    block = head[:TAR_BLOCK]
    stated = block[TAR_CHECKSUM].strip(b" \0")
    if len(block) < TAR_BLOCK or not block[0] or not re.fullmatch(rb"[0-7]{1,7}", stated):
        return False
    start, stop = TAR_CHECKSUM.start, TAR_CHECKSUM.stop
    return int(stated, 8) == sum(block[:start]) + sum(block[stop:]) + 8 * ord(" ")


def _is_leveldb_log(head: bytes) -> bool:
    """Return whether *head* begins with a record of a LevelDB log, by its masked CRC-32C."""
    if len(head) < 7:
        return False
    stored, length, kind = int.from_bytes(head[:4], "little"), head[4] | head[5] << 8, head[6]
    header = LEVELDB_HEADERS.get(kind)
    if header is None or header + length > min(len(head), LEVELDB_BLOCK):
        return False
    crc = checksum.crc32c(head[6 : header + length])
    return stored == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _is_redpanda(head: bytes, name: str) -> bool:
    """Return whether *head* begins with a batch of Redpanda, by the CRC-32C of its header or its *name*."""
    if len(head) < REDPANDA_HEADER_BYTES:
        return False
    stored = int.from_bytes(head[:4], "little")
    if stored == checksum.crc32c(head[4:REDPANDA_HEADER_BYTES]):
        return True
    size = int.from_bytes(head[4:8], "little", signed=True)
    return bool(_REDPANDA_NAME.fullmatch(name)) and size >= REDPANDA_HEADER_BYTES


def _is_text(head: bytes) -> bool:
    """Return whether *head* is UTF-8 without control characters, up to a character that it cuts."""
    if not head or not CONTROL_BYTES.isdisjoint(head):
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4 and len(head) >= HEAD_BYTES
    return True
