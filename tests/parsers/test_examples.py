"""Tests of the example programs in the parsers' folders, run as a user runs them."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from log_builder import message
from magicbyte_tools.generate import kaitai
from paths import DATA

Run = Callable[..., str]

REAL = {
    "v2": DATA / "3.9/transactions/log-0/open-1/00000000000000000073.log",
    "markers": DATA / "3.9/transactions/log-0/open-1/00000000000000000076.log",
    "compressed": DATA / "2.8/formats/log-0/v2-java-zstd-0/00000000000000000000.log",
    "wrapped": DATA / "2.8/formats/log-0/v1-java-gzip-0/00000000000000000000.log",
}


@pytest.fixture(scope="session")
def segments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Provide segments of each message format, a truncated one, and one that ends with zeros."""
    folder = tmp_path_factory.mktemp("segments")
    markers = REAL["markers"].read_bytes()
    built = {"cut": markers[:-20], "zeros": markers + bytes(100)}
    for magic in (0, 1):
        built[f"v{magic}"] = message("größer".encode(), 3, magic=magic) + message(
            None, 4, b"", magic=magic
        )
    for name, data in built.items():
        (folder / name).write_bytes(data)
    return {name: folder / name for name in built} | REAL


@pytest.fixture(scope="session")
def python(segments: dict[str, Path], folders: Path, run: Run) -> dict[str, str]:
    """Provide the Python example's output for each segment."""
    return {
        name: run([sys.executable, "print_log.py", path], folders / "python")
        for name, path in segments.items()
    }


def text(value: Any) -> str:
    """Return *value* as the examples print it."""
    return "null" if value is None else value.decode() if isinstance(value, bytes) else str(value)


@pytest.mark.parametrize("name", ["v0", "v1", "v2"])
def test_the_example_prints_the_records_that_are_there(
    name: str, segments: dict[str, Path], python: dict[str, str]
) -> None:
    columns = ["offset", "timestamp", "key", "value"]
    table = pa.table(mb.from_bytes(segments[name].read_bytes()).records(columns=columns))
    table = table.set_column(1, "timestamp", table["timestamp"].cast(pa.int64()))
    begins = "  {} " if name == "v2" else "message {}: "
    expected = [
        begins.format(offset) + " ".join(map(text, rest))
        for offset, *rest in (row.values() for row in table.to_pylist())
    ]
    printed = python[name].splitlines()
    assert expected and [line for line in printed if not line.startswith("batch")] == expected


def test_the_example_says_what_it_does_not_print(python: dict[str, str]) -> None:
    assert all(line.endswith(", compressed") for line in python["compressed"].splitlines())
    assert all(line.endswith(": compressed") for line in python["wrapped"].splitlines())
    assert "control record" in python["markers"]
    assert python["cut"].splitlines()[-1].endswith("bytes of an entry that was cut off")
    assert python["zeros"].splitlines()[-1] == "100 zeros"


def test_javascript_prints_the_same(
    segments: dict[str, Path], python: dict[str, str], folders: Path, run: Run
) -> None:
    kaitai.install()
    installed = folders / "javascript" / "node_modules"
    shutil.copytree(
        kaitai.INSTALLED / "node_modules" / "kaitai-struct", installed / "kaitai-struct"
    )
    for name, path in segments.items():
        printed = run([kaitai.NODE, "print_log.js", path], folders / "javascript")
        assert printed == python[name]


def test_java_prints_the_same(
    segments: dict[str, Path], python: dict[str, str], folders: Path, run: Run, java_build: Path
) -> None:
    folder = folders / "java"
    # The parsers were compiled for the dumper; only the example is compiled here.
    parsers = [str(java_build / "classes"), str(java_build / "runtime.jar")]
    options = ["-encoding", "UTF-8", "-cp", os.pathsep.join(parsers), "-d", "classes"]
    run(["javac", *options, "src/main/java/PrintLog.java"], folder)
    path = os.pathsep.join(["classes", *parsers])
    java = ["java", "-Dfile.encoding=UTF-8", "-cp", path, "PrintLog"]
    for name, segment in segments.items():
        assert run([*java, segment], folder) == python[name]
