"""Remote storage in a store, below a log.dir of this machine: one log."""

from pathlib import Path

import pytest

import magicbyte as mb
from paths import shared
from s3_server import S3Server
from tiered_segments import aiven_partition

TIERED = shared() / "logs" / "3.9" / "tiered"


@pytest.mark.skipif(
    not TIERED.is_dir(), reason="the logs of a tiered cluster are not at hand (MAGICBYTE_SHARED)"
)
@pytest.mark.parametrize("max_objects", [None, 3])
def test_chunks_in_a_store_and_local_segments_are_one_log(
    s3: S3Server, tmp_path: Path, max_objects: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if max_objects is not None:  # each folder is listed by itself
        monkeypatch.setattr("magicbyte.storage._storage.MAX_TREE_OBJECTS", max_objects)
    for name in ("tiered-0", "tiered-transactions-1"):
        aiven_partition(TIERED / "remote", tmp_path / "upload", name)
    url = s3.upload(tmp_path / "upload", "tiered/prefix")
    plain = mb.open(TIERED / "log-0", TIERED / "remote").records().to_table().to_pylist()
    names = {("tiered", 0), ("tiered-transactions", 1)}
    table = s3.open(TIERED / "log-0", url).records().to_table()
    rows = [row for row in table.to_pylist() if (row["topic"], row["partition"]) in names]
    assert rows == [row for row in plain if (row["topic"], row["partition"]) in names]
    found = mb.verify(url, storage_options=s3.options)
    assert {one.code for one in found.findings} == {"transaction-open"}
