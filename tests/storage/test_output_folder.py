"""Tests of folders that are written to: the same on this machine, in S3, and in a file system of fsspec."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from magicbyte.errors import InputError, MagicbyteError
from magicbyte.storage import NO_OPTIONS, StorageOptions
from magicbyte.storage.output_folder import OutputFolder, output_folder
from s3_server import ACCESS_KEY, BUCKET, SECRET, S3Server

KINDS = ("local", "s3", "memory")


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> OutputFolder:
    if request.param == "local":
        return output_folder(tmp_path / "out", NO_OPTIONS)
    if request.param == "memory":
        return output_folder(f"memory://{tmp_path}/out", NO_OPTIONS)
    s3: S3Server = request.getfixturevalue("s3")
    return output_folder(f"s3a://{BUCKET}{tmp_path}/out/", StorageOptions(s3.options))


def test_files_are_written_read_listed_moved_and_deleted(folder: OutputFolder) -> None:
    assert folder.files() == {} and folder.read("a") is None
    folder.write("a", b"one")
    folder.write("a", b"two!")
    with folder.create("deep/er/b.parquet") as stream:
        stream.write(b"12")
        stream.write(b"345")
        assert stream.tell() == 5
    assert folder.read("a") == b"two!"
    assert folder.files() == {"a": 4, "deep/er/b.parquet": 5}
    work = folder.child("deep")
    work.transfer("er/b.parquet", folder, "tables/c.parquet")
    assert folder.child("tables").files() == {"c.parquet": 5}
    for _ in range(2):
        folder.delete("a")
        work.delete_folder()
    assert folder.files() == {"tables/c.parquet": 5}
    folder.delete_folder()
    assert folder.files() == {}


def test_a_copy_in_another_process_writes_to_the_same_folder(folder: OutputFolder) -> None:
    if folder.path.startswith("memory"):
        pytest.skip("the memory is this process's")
    copy = pickle.loads(pickle.dumps(folder))
    copy.write("a", b"one")
    assert folder.read("a") == b"one" and copy.path == folder.path


def test_parquet_goes_through_the_stream(folder: OutputFolder) -> None:
    table = pa.table({"x": list(range(100_000))})
    with folder.create("t.parquet") as stream, pq.ParquetWriter(stream, table.schema) as writer:
        writer.write_table(table)
    with pq.ParquetFile(folder.open_parquet("t.parquet")) as file:
        assert file.read().equals(table)


def test_new_file_never_replaces_a_local_one(tmp_path: Path) -> None:
    folder = output_folder(tmp_path, NO_OPTIONS)
    folder.create("a").close()
    with pytest.raises(FileExistsError):
        folder.create("a")


@pytest.mark.parametrize("act", [
    lambda folder: folder.write("a", b"1"),
    lambda folder: folder.create("a"),
    lambda folder: folder.read("a"),
    lambda folder: folder.files(),
    lambda folder: folder.transfer("a", folder, "b"),
    lambda folder: folder.delete_folder(),
])  # fmt: skip
def test_errors_of_a_store_are_ours_and_show_no_secret(
    s3: S3Server, act: Callable[[OutputFolder], object]
) -> None:
    folder = output_folder(f"s3://{BUCKET}/out", StorageOptions(s3.options))
    with s3.checking_credentials(), pytest.raises(MagicbyteError) as raised:
        act(folder)
    assert SECRET not in str(raised.value) and ACCESS_KEY not in str(raised.value)
    assert "INVALID_ACCESS_KEY_ID" in str(raised.value) or "ACCESS_DENIED" in str(raised.value)


def test_a_bucket_is_no_output_folder() -> None:
    with pytest.raises(InputError, match="a whole bucket"):
        output_folder("s3://bucket/", NO_OPTIONS)
