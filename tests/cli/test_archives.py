"""Tests of archives and standard input in place of paths."""

import gzip
import io
import os
import signal
import stat
import subprocess
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
import zstandard

from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.unpacker import MAX_HEADER_BYTES, TooLargeError, Unpacker

from .conftest import COMMAND, PLAIN, TRANSACTIONS, error_line, run

NAMES = ("committed-0", "aborted-0")


def tar_of(mode: str = "w") -> bytes:
    out = io.BytesIO()
    # The types of tarfile know modes as literals alone.
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name in NAMES:
            archive.add(TRANSACTIONS / name, f"log-0/{name}")
    return out.getvalue()


def zip_of() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in NAMES:
            for file in sorted((TRANSACTIONS / name).iterdir()):
                archive.write(file, f"log-0/{name}/{file.name}")
    return out.getvalue()


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "log.tar": tar_of,
    "log.tar.gz": lambda: tar_of("w:gz"),
    "log.tgz": lambda: tar_of("w:gz"),
    "log.tar.zst": lambda: zstandard.compress(tar_of()),
    "log.zip": zip_of,
}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide the folder of temporary files, which a test leaves empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


@pytest.fixture
def expected(tmp_path: Path) -> str:
    return run("dump", *(TRANSACTIONS / name for name in NAMES), "--format", "csv").stdout


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_has_the_rows_of_its_folders(
    name: str, expected: str, tmp_path: Path, temporary: Path
) -> None:
    (path := tmp_path / name).write_bytes(ARCHIVES[name]())
    result = run("dump", path, "--format", "csv")
    assert (result.exit_code, result.stdout) == (0, expected)
    assert "to a temporary folder" in result.stderr and "16.0 GiB" in result.stderr
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("name", [*ARCHIVES, "segment"])
def test_standard_input_is_read(name: str, expected: str, temporary: Path) -> None:
    segment = PLAIN / "headers-0" / "00000000000000000000.log"
    data = segment.read_bytes() if name == "segment" else ARCHIVES[name]()
    done = subprocess.run(
        [*COMMAND, "dump", "-", "--format", "csv", "--columns", "offset,value"],
        input=data,
        capture_output=True,
        check=False,
    )
    paths = [segment] if name == "segment" else [TRANSACTIONS / each for each in NAMES]
    rows = run("dump", *paths, "--format", "csv", "--columns", "offset,value").stdout
    assert (done.returncode, done.stdout.decode().replace("\r\n", "\n")) == (0, rows), done.stderr
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".zst", zstandard.compress)]
)
def test_a_compressed_segment_keeps_its_topic(
    suffix: str, compress: Callable[[bytes], bytes], tmp_path: Path, temporary: Path
) -> None:
    segment = PLAIN / "headers-0" / "00000000000000000000.log"
    (folder := tmp_path / "headers-0").mkdir()
    path = folder / f"{segment.name}{suffix}"
    path.write_bytes(compress(segment.read_bytes()))
    result = run("dump", path, "--format", "csv")
    assert result.stdout == run("dump", segment, "--format", "csv").stdout
    assert result.stdout.count("headers,0,") > 10


def test_other_commands_read_archives_too(tmp_path: Path, temporary: Path) -> None:
    (path := tmp_path / "log.tar.gz").write_bytes(ARCHIVES["log.tar.gz"]())
    assert "2 partitions" in run("verify", path).stdout
    assert "committed" in run("stats", path).stdout
    out = tmp_path / "out.csv"
    assert run("export", path, "-o", out).exit_code == 0
    assert out.stat().st_size > 1000
    assert list(temporary.iterdir()) == []


def test_a_damaged_archive_is_read_as_far_as_it_goes(tmp_path: Path, temporary: Path) -> None:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        archive.add(TRANSACTIONS / "committed-0", "committed-0")
        info = tarfile.TarInfo("noise")
        info.size = 1 << 13
        archive.addfile(info, io.BytesIO(os.urandom(info.size)))
    packed = gzip.compress(whole.getvalue())
    (path := tmp_path / "cut.tar.gz").write_bytes(packed[: len(packed) * 2 // 3])
    result = run("dump", path, "--format", "csv")
    assert result.exit_code == 2
    assert "is damaged: " in result.stderr and "before the damage are read" in result.stderr
    assert result.stdout == run("dump", TRANSACTIONS / "committed-0", "--format", "csv").stdout


@pytest.mark.parametrize("data", [b"\x1f\x8b" + bytes(50), b"\x28\xb5\x2f\xfd" + b"\xff" * 50])
def test_an_archive_without_contents_is_an_error(
    data: bytes, tmp_path: Path, temporary: Path
) -> None:
    (path := tmp_path / "x.gz").write_bytes(data)
    assert "x.gz: it cannot be unpacked: " in run("dump", path).stderr


def test_an_archive_without_a_log_is_an_error(tmp_path: Path, temporary: Path) -> None:
    (path := tmp_path / "notes.gz").write_bytes(gzip.compress(b"topic,partition\n" * 90))
    result = run("verify", path)
    assert result.exit_code == 2 and "notes: a text file" in result.stderr
    assert list(temporary.iterdir()) == []


def test_a_bomb_ends_at_the_limit(tmp_path: Path, temporary: Path) -> None:
    (path := tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(64 << 20)))
    line = error_line("dump", path, "--unpack-limit", "1MiB")
    assert "more than 1.0 MiB when it is unpacked; expected a higher --unpack-limit" in line
    assert list(temporary.iterdir()) == []


def test_standard_input_is_read_once() -> None:
    assert "can be read only once" in run("dump", "-", "-").stderr


def unpacked(data: bytes, folder: Path, limit: int = 1 << 20) -> tuple[Unpacker, list[str]]:
    """Unpack *data*; return the unpacker, and the paths of the files in *folder*."""
    (inner := folder / "inner").mkdir()
    with ProgressBar(is_shown=False) as bar:
        unpacker = Unpacker(inner, limit, bar)
        unpacker.unpack("archive", io.BytesIO(data), Path("archive.tar"))
    files = [path for path in folder.rglob("*") if not path.is_dir()]
    return unpacker, sorted(str(path.relative_to(folder)) for path in files)


def member(
    name: str, data: bytes = b"x", **attributes: object
) -> tuple[tarfile.TarInfo, IO[bytes]]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in attributes.items():
        setattr(info, key, value)
    return info, io.BytesIO(data)


def tar_with(*members: tuple[tarfile.TarInfo, IO[bytes]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for info, content in members:
            archive.addfile(info, content)
    return out.getvalue()


def test_no_member_is_written_outside_of_the_folder(tmp_path: Path) -> None:
    data = tar_with(
        member("../escaped"),
        member("a/../../escaped"),
        member("/escaped"),
        member("link", b"", type=tarfile.SYMTYPE, linkname=str(tmp_path)),
        member("link/escaped"),
        member("hard", b"", type=tarfile.LNKTYPE, linkname="../../../outside"),
        member("device", b"", type=tarfile.CHRTYPE),
        member("inside", b"1"),
        member("./inside", b"22"),
        member("again", b"", type=tarfile.LNKTYPE, linkname="inside"),
    )
    (tmp_path / "outside").write_bytes(b"secret")
    (folder := tmp_path / "folder").mkdir()
    unpacker, files = unpacked(data, folder)
    assert files == ["inner/1/again", "inner/1/inside", "inner/1/link/escaped"]
    assert unpacker.num_left_out == 6
    assert (folder / "inner/1/again").read_bytes() == b"22"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "outside"]


def test_no_member_of_a_zip_is_written_outside_of_the_folder(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("../escaped", b"x")
        archive.writestr("/escaped", b"x")
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, str(tmp_path))
        archive.writestr("inside/file", b"x")
    (folder := tmp_path / "folder").mkdir()
    unpacker, files = unpacked(out.getvalue(), folder)
    assert files == ["inner/1/inside/file"] and unpacker.num_left_out == 3


def test_a_header_of_a_member_does_not_size_memory(tmp_path: Path) -> None:
    info, content = member("x")
    huge = tarfile.TarInfo("././@LongLink")
    huge.type, huge.size = tarfile.GNUTYPE_LONGNAME, MAX_HEADER_BYTES + 1
    data = huge.tobuf(tarfile.GNU_FORMAT) + bytes(4096) + tar_with((info, content))
    with pytest.raises(tarfile.ReadError, match="a header of 1,048,577 bytes"):
        unpacked(data, tmp_path)


def test_the_limit_counts_what_is_written_not_what_is_claimed(tmp_path: Path) -> None:
    data = tar_with(*(member(f"file-{number}", bytes(600)) for number in range(3)))
    with pytest.raises(TooLargeError):
        unpacked(data, tmp_path, limit=1500)


def test_the_folder_is_private_and_is_removed_by_a_signal(tmp_path: Path, temporary: Path) -> None:
    read_end, write_end = os.pipe()
    errors = tmp_path / "errors.txt"
    with (
        errors.open("wb") as stderr,
        subprocess.Popen(
            [*COMMAND, "dump", "-"], stdin=read_end, stdout=subprocess.DEVNULL, stderr=stderr
        ) as process,
    ):
        try:
            os.close(read_end)
            os.write(write_end, gzip.compress(os.urandom(1 << 15))[: 1 << 14])
            deadline = time.monotonic() + 60
            while not list(temporary.iterdir()):
                is_waiting = process.poll() is None and time.monotonic() < deadline
                assert is_waiting, (process.returncode, errors.read_text())
                time.sleep(0.02)
            (folder,) = temporary.iterdir()
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 128 + signal.SIGTERM
        finally:
            os.close(write_end)
            process.kill()
    assert list(temporary.iterdir()) == []
