"""Tests of the tarball and the packages that `make vectors-release` writes."""

import base64
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from magicbyte_tools.vectors_release.__main__ import main
from magicbyte_tools.vectors_release.packages import NAME, release_archives, vector_files

VERSION = json.loads(vector_files()["manifest.json"])["version"]

PREFIXES = {
    f"{NAME}-{VERSION}.tar.gz": f"{NAME}-{VERSION}",
    f"{NAME}-{VERSION}.0.tgz": "package/vectors",
    f"{NAME}-{VERSION}.jar": NAME,
    f"kafka_record_vectors-{VERSION}-py3-none-any.whl": "kafka_record_vectors/vectors",
    f"{NAME}-go-{VERSION}.zip": "kafkarecordvectors/vectors",
}
"""Folder of the vectors in each archive."""


@pytest.fixture(scope="module")
def archives() -> dict[str, bytes]:
    return release_archives()


def contents(name: str, archive: bytes) -> dict[str, bytes]:
    """Return the files of the *archive* called *name*."""
    if name.endswith("gz"):
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            members: Iterable[tarfile.TarInfo] = tar.getmembers()
            return {one.name: opened.read() for one in members if (opened := tar.extractfile(one))}
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        return {one: packed.read(one) for one in packed.namelist()}


@pytest.mark.parametrize("name", PREFIXES)
def test_each_package_has_all_vectors(name: str, archives: dict[str, bytes]) -> None:
    found = contents(name, archives[name])
    vectors = vector_files()
    assert len(vectors) > 1600
    for path, data in vectors.items():
        if not path.startswith(("examples/", "runners/")):
            assert found[f"{PREFIXES[name]}/{path}"] == data, path
    assert any(path.endswith("/examples/go/vectors_test.go") for path in found)
    assert not any(b"@VERSION@" in data for data in found.values())


def test_examples_depend_on_this_version() -> None:
    files = vector_files()
    assert f"<version>{VERSION}</version>".encode() in files["examples/java/pom.xml"]
    assert f"require kafkarecordvectors v{VERSION}.0\n".encode() in files["examples/go/go.mod"]


def test_a_second_release_has_the_same_bytes(
    archives: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "dist")]) == 0
    written = {path.name: path.read_bytes() for path in (tmp_path / "dist").iterdir()}
    assert written == archives
    assert f"{NAME}-{VERSION}.tar.gz: " in capsys.readouterr().out
    with tarfile.open(fileobj=io.BytesIO(archives[f"{NAME}-{VERSION}.tar.gz"])) as tar:
        assert {(one.mtime, one.uid, one.uname, one.mode) for one in tar.getmembers()} == {
            (315532800, 0, "", 0o644)
        }


def test_the_wheel_lists_its_files_and_yields_the_vectors_of_a_level(
    archives: dict[str, bytes], tmp_path: Path
) -> None:
    (name,) = (name for name in archives if name.endswith(".whl"))
    found = contents(name, archives[name])
    record = next(path for path in found if path.endswith("/RECORD"))
    rows = [line.split(",") for line in found[record].decode().splitlines()]
    assert [row[0] for row in rows] == list(found)
    for path, checksum, size in rows[:-1]:
        padded = checksum.removeprefix("sha256=") + "="
        assert base64.urlsafe_b64decode(padded) == hashlib.sha256(found[path]).digest()
        assert int(size) == len(found[path])
    with zipfile.ZipFile(io.BytesIO(archives[name])) as wheel:
        wheel.extractall(tmp_path / "site")
    program = (
        "from kafka_record_vectors import vectors\n"
        "for level in ('v2-read', 'directory', None):\n"
        "    print(len(list(vectors(level))))\n"
        "(one,) = (v for v in vectors('v2-read') if v.id == 'kafka_log/v2-gzip')\n"
        "print(one.content['verdict'], len(one.data))\n"
        "print(any('gzip' in v.content.get('needs', ()) for v in vectors(lacks=['gzip'])))\n"
    )
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path.insert(0, 'site')\n{program}",
    ]
    lines = subprocess.check_output(command, text=True, cwd=tmp_path).splitlines()
    manifest = json.loads(vector_files()["manifest.json"])["cases"]
    levels = [one.get("levels", []) for one in manifest]
    data = vector_files()["valid/kafka_log/v2-gzip.bin"]
    assert lines == [
        str(sum("v2-read" in names for names in levels)),
        str(sum("directory" in names for names in levels)),
        str(len(manifest)),
        f"valid {len(data)}",
        "False",
    ]


def test_example_for_maven_has_the_version_of_the_package(archives: dict[str, bytes]) -> None:
    """Or a stranger's `mvn test` finds no such package."""
    example = vector_files()["examples/java/pom.xml"].decode()
    package = archives[f"{NAME}-{VERSION}.pom"].decode()
    dependency = example.partition(f"<artifactId>{NAME}</artifactId>")[2]
    assert f"<version>{VERSION}</version>" in package
    assert dependency.lstrip().startswith(f"<version>{VERSION}</version>")
