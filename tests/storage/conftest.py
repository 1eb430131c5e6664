import os
import shutil
from pathlib import Path

import pytest

from log_builder import batch_of
from magicbyte.storage._small_files import small_files
from magicbyte.storage._storage import forget_small_trees
from paths import DATA
from s3_server import S3Server

BROKERS = DATA / "4.3" / "transactions" / "log-0"
PARTITIONS = ("aborted-0", "deleted-records-0", "interleaved-0", "open-0", "__consumer_offsets-0")


@pytest.fixture(scope="session")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some of a real broker's log.dir, on a disk: the more files, the longer it takes to put them."""
    folder = tmp_path_factory.mktemp("disk") / "log-0"
    for name in PARTITIONS:
        shutil.copytree(BROKERS / name, folder / name)
    for path in BROKERS.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    return folder


@pytest.fixture(scope="session")
def tree(s3: S3Server, log_dir: Path) -> str:
    """The same in the store, with what others leave beside: the URL of the tree above it."""
    url = s3.upload(log_dir, "tree/broker-1/log-0")
    for junk in ("tree/_SUCCESS", "tree/broker-1/", "tree/broker-1/log-0/_SUCCESS"):
        s3.put(junk, b"")
    s3.put("tree/broker-1/log-0/aborted-0/_temporary/0", b"x")
    return url.removesuffix("/broker-1/log-0")


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)


def segment(count: int, size: int) -> bytes:
    """Return *count* batches of a record of *size* bytes."""
    return b"".join(batch_of(offset, bytes([offset % 251]) * size) for offset in range(count))


@pytest.fixture(scope="session")
def large(s3: S3Server) -> tuple[str, int]:
    """The URL of a partition's folder with one segment of 20 MiB, and its number of batches."""
    count = 20 << 10
    s3.put(f"large/t-0/{0:020}.log", segment(count, 950))
    return "s3://logs/large/t-0", count


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """Let each test request small files, and find out how large trees are."""
    small_files.clear()
    forget_small_trees()
