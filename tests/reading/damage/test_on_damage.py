"""Tests of `on_damage`: `fail` raises, `stop` ends where broker recovery would, `skip` goes on."""

import struct
from typing import Any

import pytest

import magicbyte as mb

NAME = "4.3/plain/segments-0"


@pytest.fixture
def source(partition: Any) -> Any:
    return partition(NAME)


@pytest.fixture
def sound(source: Any, workshop: Any) -> str:
    """The path of the undamaged partition."""
    return workshop.put(source.files, source.log_dir, source.name)


@pytest.fixture
def break_entry(source: Any, frames: Any, workshop: Any) -> Any:
    """A function that overwrites bytes of an entry and returns the path, file name and entry."""

    def alter(at: int, value: bytes, segment: int = 1, number: int = 2) -> Any:
        name = source.logs[segment]
        entry = frames(source.files[name])[number]
        data = bytearray(source.files[name])
        data[entry.position + at : entry.position + at + len(value)] = value
        files = {**source.files, name: bytes(data)}
        return workshop.put(files, source.log_dir, source.name), name, entry

    return alter


@pytest.mark.parametrize(
    ("what", "at", "value", "error", "code"),
    [
        ("a flipped payload", 70, b"\xa5", mb.ChecksumError, "checksum-mismatch"),
        ("a flipped checksum", 17, b"\xa5\x5a", mb.ChecksumError, "checksum-mismatch"),
        ("an unknown magic", 16, b"\x09", mb.FormatError, "unknown-magic"),
        ("a size of zero", 8, bytes(4), mb.FormatError, "bad-size"),
        ("a size beyond the file", 8, struct.pack(">i", 1 << 29), mb.TruncatedError, None),
    ],
)
def test_fail_raises_the_error_of_the_damage_with_its_file_and_byte(
    break_entry, workshop, what, at, value, error, code
) -> None:
    path, name, entry = break_entry(at, value)
    with pytest.raises(error) as caught:
        workshop.read(path, on_damage="fail")
    assert caught.value.position == entry.position
    assert f"{name} byte {entry.position}" in str(caught.value)
    assert code is None or caught.value.code == code
    if error is mb.ChecksumError:
        assert caught.value.stored != caught.value.computed


def test_fail_raises_for_a_payload_that_does_not_decompress(partition, frames, workshop) -> None:
    import crc32c

    source = partition("4.3/plain/java-zstd-0")
    name = source.logs[0]
    entry = frames(source.files[name])[1]
    assert entry.attributes & 7 == 4
    data = bytearray(source.files[name])
    data[entry.position + 61 : entry.position + 65] = b"\0\0\0\0"
    struct.pack_into(
        ">I", data, entry.position + 17, crc32c.crc32c(bytes(data[entry.position + 21 : entry.end]))
    )
    path = workshop.put({**source.files, name: bytes(data)}, source.log_dir, source.name)
    with pytest.raises(mb.CodecError) as caught:
        workshop.read(path, on_damage="fail")
    assert caught.value.position == entry.position
    assert name in str(caught.value)


def test_fail_raises_for_an_entry_over_the_limit_and_names_the_setting(
    sound, source, frames, workshop
) -> None:
    sizes = {
        (name, frame.position): frame.size
        for name in source.logs
        for frame in frames(source.files[name])
    }
    largest = max(sizes.values())
    limits = mb.Limits(max_entry_bytes=largest - 1)
    with pytest.raises(mb.LimitError) as caught:
        workshop.read(sound, on_damage="fail", limits=limits)
    assert (caught.value.setting, caught.value.limit) == ("max_entry_bytes", largest - 1)
    rows, _ = workshop.read(sound)
    assert workshop.read(sound, limits=limits)[0] == [
        row for row in rows if sizes[row[5:]] < largest
    ]


@pytest.mark.parametrize(("at", "value"), [(70, b"\xa5"), (8, bytes(4)), (16, b"\x09")])
@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_stop_ends_the_partition_at_the_damage_and_skip_goes_on_behind_it(
    sound, break_entry, workshop, at, value, level
) -> None:
    rows, _ = workshop.read(sound, level)
    path, name, entry = break_entry(at, value)
    stopped, findings = workshop.read(path, level, on_damage="stop")
    assert stopped == [row for row in rows if row[5:] < (name, entry.position)]
    errors = {f.position for f in findings if f.file == name and f.severity == "error"}
    assert errors == {entry.position}
    skipped, _ = workshop.read(path, level, on_damage="skip")
    assert skipped == [row for row in rows if row[5:] != (name, entry.position)]


def test_stop_ends_its_own_partition_alone(partition, break_entry, workshop) -> None:
    other = partition("4.3/plain/headers-0")
    path, _, _ = break_entry(70, b"\xa5", segment=0, number=0)
    folder = workshop.folder / other.name
    folder.mkdir()
    for name, data in other.files.items():
        (folder / name).write_bytes(data)
    rows = workshop.open(path, on_damage="stop").records(["topic"]).to_pylist()
    assert {row["topic"] for row in rows} == {"headers"}


def test_stop_accounts_for_all_bytes_and_moves_the_log_end(break_entry, workshop) -> None:
    path, _, entry = break_entry(70, b"\xa5")
    dataset = workshop.open(path, on_damage="stop")
    for row in dataset.segments().to_pylist():
        if row["file_kind"] == "log":
            counted = [value for key, value in row.items() if key.startswith("bytes_")]
            assert sum(counted) == row["size_bytes"], row["file"]
    row = dataset.partitions().to_pylist()[0]
    assert row["log_end_offset"] == entry.offset


@pytest.mark.parametrize("cut", [1, 5, 30, 60])
def test_an_incomplete_end_raises_nothing_in_the_last_segment_and_is_damage_in_an_earlier_one(
    source, frames, workshop, cut
) -> None:
    for number, is_last in ((-1, True), (0, False)):
        name = source.logs[number]
        last = frames(source.files[name])[-1]
        files = {**source.files, name: source.files[name][: last.position + cut]}
        path = workshop.put(files, source.log_dir, source.name)
        rows, findings = workshop.read(path)
        assert not [row for row in rows if row[5:] == (name, last.position)]
        codes = {(f.code, f.severity) for f in findings if f.position == last.position}
        if is_last:
            # The first bytes of an offset are zeros.
            is_zero = not any(files[name][last.position :])
            code = "zero-tail" if is_zero else "incomplete-tail"
            assert codes == {(code, "warning")}
            assert workshop.read(path, on_damage="fail")[0] == rows
        else:
            assert {severity for _, severity in codes} == {"error"}
            with pytest.raises(mb.FormatError):
                workshop.read(path, on_damage="fail")
