"""Tests that the columnar engine gives the rows, problems and positions of the reference engine."""

import gzip
import io
import mmap
import os
import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import crc32c
import lz4.frame
import numpy as np
import pyarrow as pa
import pytest
import zstandard

import log_builder as build
from extent import WIDE, part
from magicbyte import codecs
from magicbyte.codecs.snappy import XERIAL
from magicbyte.engines.columnar import _buffers, _entry_run, _output
from magicbyte.engines.columnar._buffers import MemoryLease, MemoryPool
from magicbyte.engines.columnar._libraries import functions
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk, Engine
from magicbyte.limits import Limits
from magicbyte.tables.schemas import WIRE_COLUMNS
from magicbyte_tools.bench.damaged_logs import SHAPES_OF_LOGS, damaged_log, faults
from magicbyte_tools.fuzz import agreement
from magicbyte_tools.fuzz.agreement import differences
from magicbyte_tools.fuzz.memory import GuardedBuffer
from paths import CHECKOUT, DATA, shared

COLUMNAR = engine("columnar")
VIEWS = engine("columnar", views=True)


@pytest.mark.parametrize("one", [COLUMNAR, VIEWS], ids=["copies", "views"])
def test_real_logs_give_the_same_as_the_reference(one: Engine) -> None:
    logs = sorted((shared() / "logs").rglob("*.log")) if WIDE else sorted(DATA.rglob("*.log"))[::30]
    assert logs
    wrong = {str(log): found for log in logs if (found := differences(one, log.read_bytes()))}
    assert not wrong


def test_foreign_vectors_give_the_same_as_the_reference() -> None:
    files = sorted((shared() / "vectors").rglob("*.bin"))
    if not files:
        pytest.skip(f"no vectors in {shared()}; set MAGICBYTE_SHARED")
    chosen = part(files, len(files) // 6)
    wrong = {
        str(one): found for one in chosen if (found := differences(COLUMNAR, one.read_bytes()))
    }
    assert not wrong


@pytest.mark.parametrize("columns", [("offset",), (), ("codec", "position")])
def test_any_columns_are_those_of_the_reference(columns: tuple[str, ...]) -> None:
    log = next(iter(sorted(DATA.rglob("*.log"), key=lambda one: -one.stat().st_size)))
    assert not differences(COLUMNAR, log.read_bytes(), columns=columns)


def entries() -> list[bytes]:
    """Return batches and messages of all formats and codecs, sound and unusual."""
    many = [
        build.record(
            b"value %d" % i if i % 5 else None,
            b"key" if i % 3 else None,
            [(b"h\xc3\xa9", b"1"), (b"", None)][: i % 3],
            delta=i,
            time_delta=i - 2,
        )
        for i in range(40)
    ]
    found = [build.batch(many, 7, codec=codec) for codec in range(5)]
    found += [build.batch(many, 7, codec=codec, flags=build.APPEND_TIME) for codec in (0, 4)]
    found += [
        build.batch([], 3),
        build.batch([], 3, section=b"unread"),
        *(build.batch([], 3, codec=codec) for codec in range(1, 5)),
        build.batch(many, (1 << 63) - 20, time=(1 << 63) - 2, sequence=(1 << 31) - 3, producer=4),
        build.batch([build.record(len_key=-2), build.record(len_value=-7)], 1),
        build.batch([build.record(b"v", headers=[(b"\xed\xa0\x80x", b"")])], 1),
        build.batch([build.record(time_delta=-1)], 1, time=0, max_time=-1),
        build.batch([build.record(headers=[(b"h", b"%d" % i) for i in range(5000)])], 1),
        build.batch(many, 2, codec=5, section=b"what"),
        build.batch(many, 2, codec=4, section=b"no zstd"),
        build.batch(many, 2, count=41),
        build.batch(many, 2, count=-1),
        build.batch(many, 2, count=1 << 30),
        build.control(build.COMMIT, 5, 9),
        build.control(77, 5, 9),
    ]
    for magic in (0, 1):
        inner = [build.message(b"m%d" % i, i, b"k", magic=magic) for i in range(9)]
        found += inner[:2]
        found += [build.message(None, 5, magic=magic), build.message(b"", 5, b"", magic=magic)]
        found += [build.message(more=b"more", magic=magic), build.message(len_key=-3, magic=magic)]
        found += [build.wrapper(inner, 30, magic=magic, codec=codec) for codec in (1, 2, 3)]
        found += [build.wrapper(inner, offset, magic=magic) for offset in (0, 3)]
        found += [build.wrapper([], 3, magic=magic), build.wrapper(b"x", 3, magic=magic)]
        found += [build.wrapper([*inner[:2], inner[2][:-1]], 8, magic=magic)]
        found += [build.wrapper([build.message(crc=1, magic=magic)], 8, magic=magic)]
        found += [build.wrapper(inner, 8, magic=magic, codec=4)]
    found += [build.wrapper([build.message(magic=0)], 8, magic=1)]
    inner = [build.message(b"m", i, time=-1 if i else 8) for i in range(3)]
    found += [build.wrapper(inner, 8, flags=build.APPEND_TIME)]
    found += [build.wrapper(inner, 8, flags=build.APPEND_TIME, time=-1)]
    found += [build.wrapper(inner, 8, key=b"a key")]
    return found


def test_one_of_everything_gives_the_same_alone_and_together() -> None:
    found = entries()
    assert not [wrong for one in found if (wrong := differences(COLUMNAR, one))]
    assert not differences(COLUMNAR, b"".join(found))
    assert not differences(COLUMNAR, b"".join(found + found[::-1]))


def test_one_of_everything_gives_the_same_in_views() -> None:
    found = entries()
    assert not [wrong for one in found if (wrong := differences(VIEWS, one))]
    assert not differences(VIEWS, b"".join(found + found[::-1]))


def test_views_of_all_lengths_hold_their_values() -> None:
    """An Arrow view holds a value of up to 12 bytes itself; a longer one is in a buffer."""
    texts = [bytes(range(1, n + 1)) for n in range(40)]
    many = [build.record(text, bytes(n % 3), delta=n) for n, text in enumerate(texts)]
    messages = [build.message(text, n, b"k" * (n % 15)) for n, text in enumerate(texts)]
    # Values near the end of the data are copied.
    assert not differences(VIEWS, b"".join([build.batch(many), *messages, build.batch(many)]))


def test_views_refer_to_the_bytes_that_were_read() -> None:
    plain = build.batch([build.record(b"v" * 100, delta=i) for i in range(50)])
    packed = build.batch([build.record(b"w" * 100, delta=i) for i in range(50)], 50, codec=4)
    data = memoryview(plain + packed + bytes(100))  # a kernel may read bytes after the last entry
    begin = np.frombuffer(data, np.uint8).ctypes.data
    values, position = [], 0
    for is_copied in (False, True):
        view = data[position:]
        decoded = VIEWS.decode(Chunk(view, position), ("value",), limits=Limits())
        assert len(decoded.entries) == 1  # views of a batch are all of one buffer
        source = decoded.rows["value"].buffers()[2].address
        assert (source != begin) == is_copied
        values += decoded.rows["value"].to_pylist()
        position += decoded.end
    assert values == [b"v" * 100] * 50 + [b"w" * 100] * 50


@pytest.mark.parametrize("producer", [-1, -(1 << 63), (1 << 63) - 1])
def test_every_producer_id_but_one_is_a_number(producer: int) -> None:
    """A descriptor holds -2^63 where the entry's format has no producer id."""
    found = [build.batch(build.records(2), producer=number) for number in (producer, 4)]
    found[0] = found[0][:43] + producer.to_bytes(8, "big", signed=True) + found[0][51:]
    assert not differences(COLUMNAR, found[0])
    assert not differences(COLUMNAR, b"".join(found))


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_cut_entry_gives_the_same_as_the_reference(cut: int) -> None:
    whole = build.batch(build.records(2))
    assert not differences(COLUMNAR, whole + whole[:-cut])
    assert not differences(COLUMNAR, build.message() + build.message()[:-cut])


def test_limit_applies_in_both_engines() -> None:
    data = b"".join(entries())
    assert not differences(COLUMNAR, data, limits=Limits(max_batch_bytes=300))


def test_reference_decodes_only_unusual_entries() -> None:
    reference = COLUMNAR._reference
    sound = [build.batch(build.records(3), codec=codec) for codec in range(5)]
    sound += [build.message(magic=magic) for magic in (0, 1)]
    sound += [build.wrapper([build.message()], 4, codec=codec) for codec in (1, 2, 3)]
    odd = build.batch(build.records(3), count=2)
    data = memoryview(b"".join([*sound, odd, *sound]))
    options: dict[str, Any] = {"limits": Limits(), "verify": False, "max_bytes": None}
    with patch.object(reference, "decode_entry", wraps=reference.decode_entry) as decode_entry:
        list(agreement.decoded_runs(COLUMNAR, Chunk(data, 0), WIRE_COLUMNS, **options))
    (call,) = decode_entry.call_args_list
    assert call.args[1].position == sum(map(len, sound))


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("fault", ["middle-record", "count-high", "count-low", "compressed-begin"])
def test_damaged_batch_is_decompressed_once_outside_of_the_fused_kernel(
    codec: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = SHAPES_OF_LOGS[f"1k-{codec}"]
    data = memoryview(damaged_log(shape, faults(shape)[fault], 140 * shape.num_records, 100, 1))
    numbers: list[int] = []
    decompress = codecs.decompress

    def counted(number: int, *more: Any, **keys: Any) -> bytes:
        numbers.append(number)
        return decompress(number, *more, **keys)

    monkeypatch.setattr(codecs, "decompress", counted)
    decoded = COLUMNAR.decode(Chunk(data, 0), ("offset", "value"), limits=Limits())
    assert len(decoded.entries) == 1
    assert not decoded.result(0).is_sound
    assert len(numbers) == 1


@pytest.fixture
def library_codecs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The codec of each entry that a library decompressed and a kernel then decoded."""
    library_codecs: list[int] = []

    def decompress(codec: int, *more: Any, **keys: Any) -> Any:
        library_codecs.append(codec)
        return codecs.decompress(codec, *more, **keys)

    monkeypatch.setattr(_entry_run, "codecs", SimpleNamespace(decompress=decompress))
    return library_codecs


exported = pytest.mark.skipif(
    not all(functions()),
    reason="the installed packages of lz4, zstd and gzip do not export their functions",
)


@exported
def test_kernels_decompress_every_codec(library_codecs: list[int]) -> None:
    batches = [build.batch(build.records(3), codec=codec) for codec in (1, 2, 3, 4, 1)]
    rows = rows_of(memoryview(b"".join(batches)), ("offset",))
    assert (rows.num_rows, library_codecs) == (15, [])


def gzip_sections() -> list[tuple[bytes, bool]]:
    """Return (gzip section, whether a kernel decompresses it); some are unlike those of clients."""
    plain = b"".join(build.records(3))
    whole = build.compress(1, plain)
    deflated, trailer = whole[10:-8], whole[-8:]
    head = whole[:3] + bytes(7)
    stored = b"\1" + len(plain).to_bytes(2, "little") + (0xFFFF - len(plain)).to_bytes(2, "little")
    return [
        (whole, True),
        (head + deflated + trailer, True),
        (head + stored + plain + trailer, True),
        (head + stored[:3] + b"\0\0" + plain + trailer, False),
        (head[:3] + b"\x08" + head[4:] + b"name\0" + deflated + trailer, False),
        (whole + whole, False),
        (whole + b"more", False),
        (whole[:-1], False),
        (whole[:-8], False),
        (whole[:-12], False),
        (whole[:17], False),
        (whole[:10], False),
        (whole[:-1] + bytes([whole[-1] ^ 1]), False),
        (whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:], False),
        (whole[:10] + b"\xff" + whole[11:], False),
        (b"\x1f\x8c" + whole[2:], False),
        (whole[:2] + b"\7" + whole[3:], False),
    ]


@exported
@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_columns_grow_for_a_large_decompressed_batch(library_codecs: list[int], codec: int) -> None:
    small = build.batch(build.records(3), codec=codec)
    large = build.batch([build.record(bytes(5 << 20))], codec=codec)
    assert not differences(COLUMNAR, small + large + large + small + build.batch())
    assert not library_codecs


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
@pytest.mark.parametrize("odd", ["nothing", "refused", "unusual", "large", "unsound"])
def test_entries_of_several_chunks_give_the_same(codec: int, odd: str) -> None:
    """A chunk is 128 KiB of stored bytes: the log has several, with one odd entry in the middle."""
    chance = random.Random(codec)

    def noise(count: int, num_bytes: int) -> list[bytes]:
        return [build.record(chance.randbytes(num_bytes), b"k", delta=i) for i in range(count)]

    found = [build.batch(noise(9, 4000), 9 * n, codec=codec) for n in range(20)]
    at = 10
    if odd in ("refused", "unusual"):
        plain = noise(9, 5)
        section = unusual(codec, b"".join(plain)) if odd == "unusual" else b"what is none"
        found[at] = build.batch(plain, 9 * at, codec=codec, section=section)
    elif odd == "large":
        found[at] = build.batch(noise(9, 60_000), 9 * at, codec=codec)
    # After an entry that ends a chunk, checksums must still be verified.
    for wrong in {"refused": [at + 5], "unusual": [at + 5], "unsound": [at]}.get(odd, []):
        found[wrong] = found[wrong][:-1] + bytes([found[wrong][-1] ^ 1])
    data = b"".join(found)
    for one in (COLUMNAR, VIEWS):
        assert not differences(one, data)
        assert not differences(one, data, columns=("offset", "value"))


def unusual(codec: int, plain: bytes) -> bytes:
    """Return *plain* compressed in a form that a library decompresses and no kernel does."""
    match codec:
        case 1:
            named = io.BytesIO()
            with gzip.GzipFile("a name", "wb", fileobj=named) as file:
                file.write(plain)
            return named.getvalue()
        case 2:
            return XERIAL + struct.pack(">ii", 1, 1) + struct.pack(">i", 0)
        case 3:
            return bytes(lz4.frame.compress(plain, block_linked=True))
    half = len(plain) // 2
    return b"".join(zstandard.compress(part) for part in (plain[:half], plain[half:]))


def snappy_sections() -> list[tuple[bytes, bool | None]]:
    """Return (snappy section, whether a kernel decompresses it), for valid and invalid framings."""
    plain = b"".join(build.records(3))
    raw = build.compress(2, plain)
    header = XERIAL + bytes([0, 0, 0, 1] * 2)

    def chunk(block: bytes, length: int | None = None) -> bytes:
        return (len(block) if length is None else length).to_bytes(4, "big", signed=True) + block

    parts = b"".join(chunk(build.compress(2, plain[at : at + 5])) for at in range(0, len(plain), 5))
    good = chunk(raw)
    return [
        (raw, True),
        (header + good, True),
        (XERIAL + bytes(8) + good, True),
        (header + parts, True),
        (header + chunk(b"\0") + good, True),
        (header + good + header, False),
        (header + header + good, False),
        (b"\x80", False),
        (header, None),  # decompresses to nothing: kernels or codecs may do that
        (header[:15], False),
        (header + good[:-1], False),
        (header + good + bytes(3), False),
        (header + chunk(b""), False),
        (header + chunk(raw, -1), False),
        (header + chunk(raw, 0x7FFFFFFF), False),
        (header + chunk(bytes([raw[0] + 1]) + raw[1:]), False),
        (bytes([raw[0] - 1]) + raw[1:], False),
        (b"\xff\xff\xff\xff\x0f" + raw, False),
        (b"\xff\xff\xff\xff\xff\x0f" + raw, False),
        (bytes([raw[0] | 0x80]) + b"\x80\x80\x80\x80\0" + raw[1:], False),
        (b"\x80\x80", False),
        (bytes([raw[0] | 0x80, 0]) + raw[1:], True),
        (b"\5\0A\1\2", False),  # a copy from before the first byte
        (b"\5\0A\1\0", False),  # of nothing
        (b"\4\0A\1\1", False),  # of too much
        (b"\5\0A\1", False),  # that ends in its offset
        (b"\2\0A\2\1", False),
        (b"\1\4AB", False),  # a literal of too much
        (b"\2\4A", False),  # that ends early
        (b"\2\xf0", False),  # in its length
        (b"\2\0A", False),  # a byte is missing
        (b"\2\0A" + b"\xfe\1\0" * 200_000, False),  # more than the section's length
    ]


@pytest.mark.parametrize(
    ("codec", "section", "is_usual"),
    [
        *(
            pytest.param(1, *case, marks=exported, id=f"gzip-{number}")
            for number, case in enumerate(gzip_sections())
        ),
        *(
            pytest.param(2, *case, id=f"snappy-{number}")
            for number, case in enumerate(snappy_sections())
        ),
    ],
)
def test_every_framing_gives_the_same(
    library_codecs: list[int], codec: int, section: bytes, is_usual: bool | None
) -> None:
    """The entry is decoded alone, and between sound entries of the same codec."""
    sound, plain = build.batch(build.records(3), codec=codec), build.batch()
    entry = build.batch(build.records(3), codec=codec, section=section)
    assert not differences(COLUMNAR, sound * 2 + entry + sound * 2 + plain)
    assert is_usual is None or set(library_codecs) == (set() if is_usual else {codec})
    assert not differences(COLUMNAR, entry + plain)
    wrapper = build.wrapper(b"", 3, codec=codec, section=section)
    assert not differences(COLUMNAR, wrapper * 2 + plain)


def snapped(plain: bytes, chance: random.Random) -> bytes:
    """Return a random snappy block with copies and literals of every form and length."""
    block, at = bytearray(build.uvarint(len(plain))), 0
    while at < len(plain):
        offset = chance.choice((1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 64, 300, 2047, 2048, 65536))
        length = 0
        while offset <= at and length < min(64, len(plain) - at):
            if plain[at + length] != plain[at + length - offset]:
                break
            length += 1
        length = chance.randint(0, length)
        if length:
            last, short = length - 1 << 2, offset.to_bytes(4, "little")[:2]
            forms = [bytes([3 | last]) + offset.to_bytes(4, "little")]
            if offset < 1 << 16:
                forms.append(bytes([2 | last]) + short)
            if offset < 1 << 11 and 4 <= length <= 11:
                forms.append(bytes([1 | last - 12 | offset >> 8 << 5, short[0]]))
            block += chance.choice(forms)
        else:
            length = min(chance.choice((1, 15, 16, 17, 32, 33, 60, 61, 300)), len(plain) - at)
            num_bytes = chance.randint(1 if length <= 256 else 2, 4)
            if length <= 60 and chance.random() < 0.5:
                block.append(length - 1 << 2)
            else:
                block += bytes([59 + num_bytes << 2]) + (length - 1).to_bytes(num_bytes, "little")
            block += plain[at : at + length]
        at += length
    return bytes(block)


def test_every_tag_of_snappy_gives_the_same(library_codecs: list[int]) -> None:
    chance = random.Random(8)
    for _ in range(40):
        pieces = [
            bytes([chance.randrange(256)] * chance.randrange(70)),
            bytes(range(chance.randrange(9))) * chance.randrange(30),
            bytes(range(chance.randrange(40))) * chance.randrange(9),
            chance.randbytes(chance.choice((3, 50, 400))),
        ]
        records = [
            build.record(b"".join(chance.choices(pieces, k=40)), delta=number)
            for number in range(3)
        ]
        section = snapped(b"".join(records), chance)
        entry = build.batch(records, codec=2, section=section)
        assert not differences(COLUMNAR, entry + build.batch())
    assert not library_codecs


def test_kernels_give_the_same_as_plain_python() -> None:
    chosen = "one_of_everything or only_unusual or no_column or every_codec or snappy or gzip or all_lengths"
    if not WIDE:
        chosen = f"({chosen}) and not (in_views or snappy-31)"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", __file__, "-k", chosen],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert ("56 passed" if WIDE else "54 passed") in done.stdout


# Mutations


def mutated(found: list[bytes], count: int, seed: int) -> Iterator[bytes]:
    """Yield *count* logs of one to three entries, one of them altered with a right checksum."""
    chance = random.Random(seed)
    for _ in range(count):
        chosen = [bytearray(chance.choice(found)) for _ in range(chance.randrange(1, 4))]
        one = chance.choice(chosen)
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(one))
            if chance.random() < 0.5:  # where most is decided
                at = min(chance.randrange(17, 90), len(one) - 1)
            one[at] = chance.choice(
                (chance.randrange(256), one[at] ^ 1 << chance.randrange(8), 0, 255)
            )
        if len(one) > 61 and one[16] == 2:
            one[17:21] = struct.pack(">I", crc32c.crc32c(bytes(one[21:])))
        elif one[16] in (0, 1):
            one[12:16] = struct.pack(">I", zlib.crc32(bytes(one[16:])))
        yield b"".join(chosen)


def test_mutated_entries_give_the_same() -> None:
    found = [one for one in entries() if len(one) < 2000]
    count = 100_000 if WIDE else 150
    wrong = [
        (data.hex(), told)
        for number, data in enumerate(mutated(found, count, seed=10))
        if (told := differences(VIEWS if number % 4 == 0 else COLUMNAR, data))
    ]
    assert not wrong, f"{len(wrong)}, the first: {wrong[0]}"


# Memory that is used again


def decoded(data: bytes) -> pa.RecordBatch:
    return rows_of(memoryview(data), ("offset", "key", "value", "headers"))


def rows_of(data: memoryview, columns: tuple[str, ...]) -> pa.RecordBatch:
    """Return the rows of *data*, which the columnar engine decodes in a single call."""
    result = COLUMNAR.decode(Chunk(data, 0), columns, limits=Limits(), verify=False)
    assert result.end == len(data)
    return result.rows


def test_columns_do_not_grow_for_entries_like_the_last_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grown: list[int] = []
    grow = _buffers.ColumnMemory.grow

    def noted(self: _buffers.ColumnMemory, number: int, num_bytes: int, kept: int) -> None:
        if self.sizes[number]:
            grown.append(number)
        grow(self, number, num_bytes, kept)

    monkeypatch.setattr(_buffers.ColumnMemory, "grow", noted)
    monkeypatch.setattr(_buffers.POOL, "acquire", lambda _, count: _buffers.ColumnMemory(count))
    _buffers.reset()
    many = [build.record(b"v" * 40, b"k" * 40, delta=i) for i in range(6000)]
    data = build.batch(many, codec=build.LZ4) * 12  # decompressed one after another
    decoded(data)
    learning = len(grown)
    decoded(data)
    assert learning > 0 and len(grown) == learning


def test_rows_held_by_the_caller_do_not_change() -> None:
    def log(number: int) -> bytes:
        text = b"%d" % number
        return build.batch([build.record(text * 50, text, [(b"h", text)])] * 20, codec=number % 5)

    kept = [decoded(log(number)) for number in range(60)]
    for number, rows in enumerate(kept):
        text = b"%d" % number
        assert rows["value"].to_pylist() == [text * 50] * 20
        assert rows["key"].to_pylist() == [text] * 20
        assert rows["headers"].to_pylist() == [[{"key": "h", "value": text}]] * 20
    values = kept[0]["value"].slice(3, 2)
    del kept, rows
    for number in range(60):
        decoded(log(number))
    assert values.to_pylist() == [b"0" * 50] * 2


def test_memory_of_dropped_rows_is_used_again() -> None:
    data = build.batch(build.records(30))
    places = set()
    for _ in range(20):
        places.add(decoded(data)["value"].buffers()[2].address)
    assert len(places) == 1


def lent_by(lease: MemoryLease, number: int) -> pa.Buffer:
    return pa.foreign_buffer(int(lease.memory.addresses[number]), 10, lease)


def test_pool_keeps_no_more_than_its_limit() -> None:
    pool = MemoryPool(max_bytes=1000)
    lent = []
    for _ in range(5):
        memory = pool.acquire("a", 1)
        memory.grow(0, 400, 0)
        lent.append(lent_by(MemoryLease(pool, "a", memory), 0))
    places = {buffer.address for buffer in lent}
    del lent, memory
    taken = [int(pool.acquire("a", 1).addresses[0]) for _ in range(3)]
    assert len(places & set(taken[:2])) == 2 and taken[2] == 0


def test_pool_evicts_the_memory_released_longest_ago() -> None:
    pool = MemoryPool(max_bytes=1000)

    def given(use: str) -> int:
        memory = pool.acquire(use, 1)
        if not memory.num_bytes:
            memory.grow(0, 400, 0)
        place = int(memory.addresses[0])
        pool.release(use, memory)
        return place

    places = {use: given(use) for use in "abc"}  # the third takes the place of the first
    assert given("c") == places["c"] and given("b") == places["b"]
    assert pool.acquire("a", 1).num_bytes == 0
    given("d")  # in the place of "c", which was used longest ago
    assert pool.acquire("c", 1).num_bytes == 0 and pool.acquire("b", 1).num_bytes == 400


def test_memory_is_released_with_the_last_column() -> None:
    pool = MemoryPool()
    memory = pool.acquire("a", 2)
    for number in range(2):
        memory.grow(number, 100, 0)
    lease = MemoryLease(pool, "a", memory)
    first, last = (lent_by(lease, number) for number in range(2))
    del lease, first
    assert pool.acquire("a", 2) is not memory
    del last
    assert pool.acquire("a", 2) is memory


def test_entry_that_no_column_can_hold_is_left_to_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Arrow's 32-bit offsets end at 2 GiB; the limit here is 500 bytes."""
    monkeypatch.setattr(_output, "MAX_COLUMN_BYTES", 500)
    data = b"".join(build.batch(build.records(20), 20 * number) for number in range(5))
    assert not differences(COLUMNAR, data)


@pytest.mark.parametrize("magic", [1, 2])
def test_entry_too_large_for_columns_is_still_verified(
    magic: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_output, "MAX_COLUMN_BYTES", 500)
    make = build.message if magic == 1 else lambda value, at: build.batch([build.record(value)], at)
    entries = [bytearray(make(b"%0600d" % number, number)) for number in range(5)]
    assert not differences(COLUMNAR, b"".join(entries))
    entries[2][-1] ^= 1
    assert not differences(COLUMNAR, b"".join(entries))


@pytest.mark.parametrize("codec", [2, 3, 4])
def test_scratch_memory_smaller_than_the_slack_grows(
    codec: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The remaining size would be negative, which a C library takes for a very large one."""
    monkeypatch.setattr(_entry_run, "SCRATCH_BYTES", 32)
    monkeypatch.setattr(_buffers, "MIN_SCRATCH_BYTES", 1)
    _buffers.reset()
    data = b"".join(build.batch(build.records(3), 3 * n, codec=codec) for n in range(4))
    try:
        assert not differences(COLUMNAR, data)
    finally:
        _buffers.reset()


# Bytes at the end of what may be read


@pytest.mark.skipif(sys.platform == "win32", reason="there is no mprotect")
def test_no_byte_after_the_buffer_is_read() -> None:
    found = [one for one in entries() if len(one) < 3000]
    logs = [*found, *mutated(found, 20_000 if WIDE else 150, seed=11)]
    place = GuardedBuffer(-(-max(map(len, logs)) // mmap.PAGESIZE) * mmap.PAGESIZE)
    limits = Limits()
    for data in logs:
        held, expected = place.last(len(data)), memoryview(data)
        held[:] = np.frombuffer(data, np.uint8)
        view = held.data
        for verify in (False, True):
            COLUMNAR.scan(Chunk(view, 0), verify=verify, limits=limits)
        rows = [
            COLUMNAR.decode(Chunk(buffer, 0), WIRE_COLUMNS, limits=limits, verify=False).rows
            for buffer in (view, expected)
        ]
        assert rows[0].equals(rows[1])
