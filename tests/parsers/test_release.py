"""Tests of the archives that `make parsers-release` writes."""

import io
import tarfile
import tomllib

from magicbyte_tools.parsers.compiler_output import Files
from magicbyte_tools.parsers.examples import EXAMPLES
from magicbyte_tools.parsers.packages import version
from magicbyte_tools.parsers.release import archive
from paths import CHECKOUT


def test_an_archive_has_the_same_bytes_each_time(packages: dict[str, Files]) -> None:
    files = packages["go"]
    shuffled = dict(reversed(files.items()))
    packed = archive(files, "kafka-formats-go-1")
    assert archive(shuffled, "kafka-formats-go-1") == packed
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        assert {(member.mtime, member.uid, member.uname) for member in tar} == {(0, 0, "")}
        names = tar.getnames()
        assert names == sorted(f"kafka-formats-go-1/{path}" for path in files)
        reader = tar.extractfile("kafka-formats-go-1/reader.go")
        assert reader and reader.read().decode() == files["reader.go"]


def test_packages_have_the_version_of_magicbyte(packages: dict[str, Files]) -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    assert version() == project["version"]
    for target in EXAMPLES:
        assert not [path for path, text in packages[target].items() if "@VERSION@" in text]
    for target, path in {
        "cpp_stl": "CMakeLists.txt",
        "csharp": "KafkaFormats.csproj",
        "java": "pom.xml",
        "javascript": "package.json",
        "php": "composer.json",
        "python": "pyproject.toml",
        "rust": "Cargo.toml",
    }.items():
        assert version() in packages[target][path], target
