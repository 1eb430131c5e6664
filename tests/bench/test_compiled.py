"""Tests of readers in other languages: each is compiled once, or left out with the reason."""

import re
from pathlib import Path

import pytest

from magicbyte_tools.bench import contenders as who
from magicbyte_tools.bench import go_reader, rust_reader
from magicbyte_tools.bench.foreign_programs import ProgramUnavailable, compiled, sources

READERS = {"go": go_reader, "cargo": rust_reader}

FAILS = """
echo 'no such host, or no compiler' >&2
exit 1
"""

COMPILES = """
echo "$1" >> {log}
while [ $# -gt 1 ]; do
    case $1 in
        -o) echo program > "$2" ;;
        --target-dir) mkdir -p "$2/release" && echo program > "$2/release/segment-reader" ;;
    esac
    shift
done
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide an empty folder, first on a PATH that otherwise has only /bin and /usr/bin."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")
    return folder


def put(tool: Path, script: str) -> None:
    tool.write_text("#!/bin/sh" + script)
    tool.chmod(0o755)


def test_reader_without_its_toolchain_is_skipped_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    here, left_out = who.contenders("reference", tmp_path)
    assert left_out == {
        "Java": "there is no java on the PATH",
        who.GO: "there is no go on the PATH",
        who.RUST: "there is no cargo on the PATH",
    }
    assert who.OURS in {contender.name for contender in here}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_that_cannot_be_compiled_is_unavailable(
    tools: Path, tmp_path: Path, name: str
) -> None:
    put(tools / name, FAILS)
    cache = tmp_path / "cache"
    complaint = f"{name} build fails: no such host, or no compiler"
    with pytest.raises(ProgramUnavailable, match=complaint):
        READERS[name].reader(cache)
    assert not list(cache.iterdir())


@pytest.mark.parametrize("name", READERS)
def test_a_reader_is_compiled_once(tools: Path, tmp_path: Path, name: str) -> None:
    log = tmp_path / "log"
    put(tools / name, COMPILES.format(log=log))
    commands = [READERS[name].reader(tmp_path / "cache") for _ in range(2)]
    assert commands[0] == commands[1]
    assert Path(commands[0][0]).read_text() == "program\n"
    assert log.read_text() == "build\n"


def test_other_sources_are_compiled_anew(tmp_path: Path) -> None:
    built: list[Path] = []

    def build(place: Path) -> None:
        built.append(place)
        place.touch()

    places = [compiled("any", [text], tmp_path, build) for text in (b"a", b"b", b"a")]
    assert places[0] == places[2] != places[1]
    assert len(built) == 2
    assert sorted(tmp_path.iterdir()) == sorted(places[:2])


@pytest.mark.parametrize("folder", [go_reader.SOURCES, rust_reader.SOURCES])
def test_sources_name_no_registry(folder: Path) -> None:
    files = sources(folder)
    assert files
    for file in files:
        assert not re.search(r"registry\+|://", file.read_text("utf-8")), file
