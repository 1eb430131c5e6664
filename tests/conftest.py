"""Fixtures that tests of all folders share."""

import gc
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from clusters import lines
from extent import mixed_part
from file_scheduling import FileScheduling, file_of, start_order
from log_builder import Folder
from log_reader import Read
from magicbyte import storage
from magicbyte.engines.columnar import _kernel_library
from magicbyte.engines.columnar._processor_levels import levels_here
from magicbyte.storage import File
from magicbyte_tools.kernels import library_builder, link
from paths import DATA
from s3_server import S3Server
from sampled_tests import VARIANTS
from slow_tests import SLOW

collect_ignore = ["vectors/examples"]
"""Tests for users of the vectors: they need a package of them, and a client."""

TESTS = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    parser.addoption("--fast", action="store_true", help="leave out the tests of slow_tests.py")
    if pluginmanager.is_blocked("cacheprovider"):
        # With -p no:cacheprovider nobody else defines our setting, and --strict-config refuses it.
        parser.addini("cache_dir", "not used without pytest's cache")


def pytest_configure(config: pytest.Config) -> None:
    """Build the library of kernels if sources have changed; other processes of the run find it there.

    A mutant of `magicbyte` elsewhere has none: its kernels are compiled in each process. They are, too, where
    ziglang is not installed, which links.
    """
    is_worker = hasattr(config, "workerinput")
    if not is_worker and _kernel_library.BUILT == library_builder.BUILT and link.is_available():
        library_builder.build(levels_here()[:1])


def pytest_report_header() -> list[str]:
    path = _kernel_library.library_path()
    return [f"kernels: {path or 'compiled in each process, because ziglang is not installed'}"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    path = collection_path.relative_to(TESTS).as_posix()
    return True if config.getoption("fast") and path in SLOW else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("fast"):
        slow = [i for i in items if i.nodeid.partition("[")[0].removeprefix("tests/") in SLOW]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]
    leave_out_variants(config, items)
    items.sort(key=lambda item: start_order(file_of(item.nodeid)))


def leave_out_variants(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the variants of the tests in VARIANTS that are drawn, of as many values of each parameter as possible."""
    variants: dict[str, list[pytest.Item]] = {}
    for item in items:
        function = item.nodeid.partition("[")[0].removeprefix("tests/")
        if function in VARIANTS:
            variants.setdefault(function, []).append(item)
    drawn = {
        name: mixed_part(found, VARIANTS[name], name, parameters)
        for name, found in variants.items()
    }
    left_out = {item for name, found in variants.items() for item in found} - {
        item for found in drawn.values() for item in found
    }
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def parameters(variant: pytest.Item) -> list[tuple[str, int]]:
    """Return each parameter of *variant*, with the identity of its value: variants share the objects."""
    assert isinstance(variant, pytest.Function)
    return [(name, id(value)) for name, value in variant.callspec.params.items()]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    return FileScheduling(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt the 13,000 tests from garbage collection: each full collection would look at 450,000 objects of theirs."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def no_disk_flushes() -> Iterator[None]:
    """Leave the files in the page cache: flushing hundreds of small files takes minutes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: None)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder with the logs of real brokers."""
    return DATA


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[str], Path]:
    """A function that copies a cluster of the real brokers' logs, so that a test can change it."""

    def copy(cluster: str) -> Path:
        target = tmp_path / cluster.replace("/", "-")
        shutil.copytree(DATA / cluster, target)
        return target

    return copy


@pytest.fixture(scope="session")
def oracle() -> Callable[..., list[dict[str, Any]]]:
    """A function that returns what Kafka itself read from a partition of the real brokers' logs."""

    def rows(
        cluster: str, partition: str, what: str = "records", isolation: str = "read_uncommitted"
    ) -> list[dict[str, Any]]:
        folder = DATA / cluster / "oracle" / what
        path = folder / f"{partition}.ndjson.gz"
        if what == "records":
            names = (f"{partition}.{level}.ndjson.gz" for level in (isolation, "read_uncommitted"))
            path = next(filter(Path.exists, map(folder.joinpath, names)))
        return list(lines(path))

    return rows


@pytest.fixture(params=["reference", "columnar"])
def read(request: pytest.FixtureRequest) -> type[Read]:
    """The class `Read`, once with each engine: tests of rows run with both."""
    return type("Read", (Read,), {"engine": request.param})


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def ranges_read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """(position, length) of each read of a local file during the test."""
    ranges: list[tuple[int, int]] = []
    read_at = storage.LocalFile.read_at

    def watched(file: storage.LocalFile, position: int, length: int) -> bytes:
        ranges.append((position, length))
        return read_at(file, position, length)

    monkeypatch.setattr(storage.LocalFile, "read_at", watched)
    return ranges


@pytest.fixture
def names_opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the local files that are opened during the test."""
    names: list[str] = []

    def watched(path: str, *args: Any, local_file: Callable[..., File], **how: Any) -> File:
        names.append(Path(path).name)
        return local_file(path, *args, **how)

    for name in ("LocalFile", "SegmentFile"):
        patched = partial(watched, local_file=getattr(storage, name))
        monkeypatch.setattr(storage, name, patched)
    return names
