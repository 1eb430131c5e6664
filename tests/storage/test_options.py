"""Paths and options of stores: what they mean, what is refused, and what is never shown."""

import pickle
import sys
import traceback
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import magicbyte as mb
from magicbyte import storage
from magicbyte.storage import Storage, StorageOptions, Store, _filesystems
from magicbyte.storage._options import KNOWN_OPTIONS
from magicbyte.storage._urls import parse_url
from paths import CHECKOUT
from s3_server import ACCESS_KEY, SECRET, S3Server
from surveys import surveys_of

from .conftest import segment

RUNTIME = str(CHECKOUT / "runtime")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("s3://b", "s3://b"),
        ("S3A://b//x/", "s3://b/x"),
        ("gcs://b/x//y", "gs://b/x/y"),
        ("abfs://c@a.dfs.core.windows.net/x", "abfss://c@a.dfs.core.windows.net/x"),
        ("hdfs:///x", "hdfs:///x"),
        ("hdfs://me@host:8020/x/", "hdfs://me@host:8020/x"),
        ("sftp://host/x@y:z", "sftp://host/x@y:z"),
        ("file:/x/y", None),
        ("file:///x/y", None),
        ("C://x", None),
        ("x/s3://y", None),
        ("/x", None),
    ],
)
def test_a_path_is_of_this_machine_or_a_url_in_one_form(path: str, found: str | None) -> None:
    url = parse_url(path)
    assert (None if url is None else str(url)) == found
    assert storage.is_url(path) == (found is not None)


@pytest.mark.parametrize("path", ["file:/x/y", "file:///x/y", "FILE:/x/y", "/x/y"])
def test_file_is_this_machine(path: str) -> None:
    assert storage.absolute_path(path) == "/x/y"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("s3://AKIA:hidden@b/x", "s3://...@b/x"),
        ("s3://AKIA:hid/den@b/x", "s3://...@b/x"),
        ("s3://AKIA:hidden", "s3://..."),
        ("s3://hidden@b/x", "s3://hidden@b/x"),
        ("hdfs://me:hidden@host/x", "hdfs://...@host/x"),
        ("sftp://me:hid/den@host/x", "sftp://...@host/x"),
        ("s3://b/x?secret_key=hidden", "s3://b/x"),
        ("abfss://c@a.dfs.core.windows.net/x?sig=hidden", "abfss://c@a.dfs.core.windows.net/x"),
    ],
)
def test_a_path_with_what_may_be_a_password_is_refused_and_not_shown(path: str, shown: str) -> None:
    with pytest.raises(mb.InputError) as raised:
        mb.open(path)
    assert str(raised.value).startswith(f"{shown}: the URL seems to contain a password")
    assert raised.value.path == shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"zone": "x"}, "no storage option 'zone' for s3:; expected some of access_key, secret_"),
        (
            {"anonymous": "perhaps"},
            "storage option anonymous has an invalid value; expected true",
        ),
        ({"secret_key": 5}, "storage option secret_key has an invalid value; expected a string"),
        ({"request_timeout": "soon"}, "request_timeout has an invalid value; expected a number"),
        (
            {"access_key": ACCESS_KEY},
            "refuses these storage options: In order to initialize with explicit",
        ),
        (
            {"scheme": "gopher"},
            "refuses these storage options: Invalid S3 connection scheme 'gopher'",
        ),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(mb.InputError, match=message) as raised:
        mb.open("s3://b/x", storage_options=options)
    assert ACCESS_KEY not in str(raised.value)


def test_options_without_a_store_are_refused(tmp_path: Path) -> None:
    with pytest.raises(mb.InputError, match="storage options region, but all paths are local"):
        mb.open(tmp_path, storage_options={"region": "x"})


def test_options_have_the_types_of_their_file_system() -> None:
    texts = {"anonymous": "TRUE", "request_timeout": "1.5", "load_frequency": "60", "region": "x"}
    assert StorageOptions(texts).for_scheme("s3") == {
        "anonymous": True,
        "request_timeout": 1.5,
        "load_frequency": 60,
        "region": "x",
    }
    times = {"retry_time_limit": "9", "credential_token_expiration": "2030-01-01T00:00:00Z"}
    assert StorageOptions(times).for_scheme("gs") == {
        "retry_time_limit": timedelta(seconds=9),
        "credential_token_expiration": datetime(2030, 1, 1, tzinfo=UTC),
    }
    assert StorageOptions({"region": None}).names == ()


def test_every_option_is_one_of_the_file_system() -> None:
    from pyarrow import fs

    classes = {
        "s3": fs.S3FileSystem,
        "gs": fs.GcsFileSystem,
        "abfss": fs.AzureFileSystem,
        "hdfs": fs.HadoopFileSystem,
    }
    for scheme, known in KNOWN_OPTIONS.items():
        documented = classes[scheme].__doc__
        assert [name for name in known if f"\n{name} : " not in documented] == []


def test_each_scheme_has_its_file_system() -> None:
    azure, inner = _filesystems.connect(
        "abfss", "c@account.dfs.core.windows.net", StorageOptions({"account_key": "Zm9v"})
    )
    assert (azure.type_name, inner("x/y"), inner("")) == ("abfs", "c/x/y", "c")
    google, inner = _filesystems.connect("gs", "b", StorageOptions({"anonymous": True}))
    assert (google.type_name, inner("x")) == ("gcs", "b/x")
    with pytest.raises(
        mb.InputError, match="the URL names no storage account; expected abfss://CONTAINER@ACCOUNT"
    ):
        mb.open("abfss://c/x")


def test_a_library_that_does_not_load_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import fs

    error = OSError("Unable to load libhdfs: no\nand more lines\n")
    monkeypatch.setattr(fs, "HadoopFileSystem", Mock(side_effect=error))
    with pytest.raises(mb.StoreError) as raised:
        mb.open("hdfs://host:8020/x")
    assert str(raised.value).startswith("hdfs://host:8020/x: Unable to load libhdfs: no; expected")


# fsspec


def test_other_schemes_are_read_by_fsspec() -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe_file(f"/place/log/t-0/{0:020}.log", segment(20, 1000))
    memory.pipe_file("/place/log/meta.properties", b"version=1\ncluster.id=abc\n")
    for path in ("memory://place", "memory://place/log", "memory://place/log/t-0"):
        dataset = mb.open(path, threads=3)
        assert [one.cluster_id for one in dataset.log_dirs] == ["abc"]
        assert dataset.records().to_table().num_rows == 20
    dataset = mb.open(path)
    memory.pipe_file(f"/place/log/t-0/{0:020}.log", segment(10, 1000))
    with pytest.raises(mb.ChangedError):
        dataset.batches().to_table()


def test_a_file_of_any_name_is_a_segment_by_its_first_entry() -> None:
    import fsspec

    fsspec.filesystem("memory").pipe_file("/odd/name", segment(5, 10))
    assert mb.open("memory://odd/name").records().to_table().num_rows == 5


def test_a_size_that_a_listing_does_not_tell_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    memory = fsspec.filesystem("memory")
    memory.pipe_file(f"/sizes/t-0/{0:020}.log", segment(5, 10))
    find = MemoryFileSystem.find

    def found(*given: Any, **more: Any) -> dict[str, Any]:
        return {name: {**one, "size": None} for name, one in find(*given, **more).items()}

    monkeypatch.setattr(MemoryFileSystem, "find", found)
    (log,) = mb.open("memory://sizes").logs
    assert [file.size_bytes for file in log.files] == [len(segment(5, 10))]


def test_options_are_pickled_whole_and_nothing_else_is() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for values in ({}, {"region": "x", "secret_key": SECRET}):
            store = Store("s3", "b", StorageOptions(values))
            back = pickle.loads(pickle.dumps(store, protocol))
            assert (back.scheme, back.authority) == ("s3", "b")
            assert back.options.for_scheme("s3") == values


def test_without_fsspec_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(mb.InputError) as raised:
        mb.open("memory://place")
    assert str(raised.value) == (
        "memory://place: memory: paths need the package fsspec, which is not installed; "
        "expected s3:, gs:, abfss:, hdfs: or a local path; for others, pip install fsspec"
    )


def test_a_scheme_that_nobody_knows_is_refused() -> None:
    with pytest.raises(
        mb.InputError, match="nobody://x: fsspec cannot open nobody: paths: Protocol not known"
    ):
        mb.open("nobody://x/y")


# Secrets


def test_secrets_are_in_nothing_that_is_shown(s3: S3Server, tree: str) -> None:
    options = s3.options
    dataset = mb.open(tree, storage_options=options)
    splits = mb.plan(dataset)
    wrapped = StorageOptions(options)
    shown = [
        *map(repr, (dataset, dataset.options, dataset.logs, surveys_of(dataset), splits)),
        *map(str, (dataset.logs, splits, wrapped, Storage(wrapped))),
        repr(Store("s3", "b", wrapped)),
        repr(dataset.records().schema),
        str(dataset.problems().to_table().to_pylist()),
        str(mb.verify(tree, storage_options=options)),
    ]
    for text in shown:
        assert SECRET not in text
        assert ACCESS_KEY not in text
    assert "<StorageOptions access_key, secret_key, region, endpoint_override>" in repr(splits)
    assert SECRET.encode() in pickle.dumps(splits), "what reads it in another process needs it"


def test_secrets_are_in_no_error(s3: S3Server, tree: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_filesystems, "S3_ATTEMPTS", 1)
    options = s3.options

    def errors() -> list[str]:
        found = []
        wrong = [
            (tree.replace("logs", "absent", 1), options),
            (tree, {**options, "endpoint_override": "http://127.0.0.1:1"}),
            (tree, {**options, "anonymous": SECRET}),
            (tree, {**options, "proxy_options": f"{SECRET}://x"}),
            (tree, {**options, "secretkey": SECRET}),
            ("abfss://c/x", {"account_key": SECRET}),
            ("nobody://x/y", {"key": SECRET}),
        ]
        for path, given in wrong:
            try:
                mb.open(path, storage_options=given)
            except mb.InputError as error:
                assert "\n" not in str(error)
                lines = traceback.TracebackException.from_exception(error, capture_locals=True)
                # The frames of this test hold what it gave.
                of_ours = [frame for frame in lines.stack if frame.filename.startswith(RUNTIME)]
                found += ["".join(traceback.format_exception(error)), repr(error), str(of_ours)]
                found += [repr(frame.locals) for frame in of_ours]
                found.append(repr((error.__cause__, error.__context__)))
        return found

    with s3.checking_credentials():
        try:
            mb.open(tree, storage_options=options)
        except mb.StoreError as error:
            assert error.found.startswith("INVALID_ACCESS_KEY_ID")
    texts = errors()
    assert len(texts) > 5 * 4
    for text in texts:
        assert SECRET not in text


def test_message_of_a_store_is_shown_without_secrets() -> None:
    store = Store("s3", "b", StorageOptions({"secret_key": SECRET, "region": "north"}))
    error = store._error("s3://b/x", OSError(f"AWS Error X during Y operation: {SECRET} in north"))
    assert error.found == "X during Y: ... in north"
