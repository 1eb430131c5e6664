"""Builds the seeds of mutations: log entries of all formats, codecs and kinds, and entries of real logs."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

from magicbyte.engines.protocol import Chunk
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import Limits
from magicbyte_formats.wire import RecordBatchHeader
from magicbyte_tools.fuzz.compressed_forms import FORMS, OF_BATCHES, OF_MESSAGES
from magicbyte_tools.fuzz.seed import UNREADABLE, Seed, seal, set_size, taken_apart
from magicbyte_tools.vectors import entry_parts
from magicbyte_tools.vectors.entry_parts import T0, Rec, rec

MAX_BYTES = 4096
"""Largest size of an entry taken from a log, in bytes; larger ones are slower and find no more."""

MOST_OF_A_KIND = 40
"""Limit of the entries from logs per format and codec: some logs hold thousands of one kind."""

HEADER_KEYS = (b"", b"h", b"trace-id", "clé".encode(), b"\xed\xa0\x80", b"x" * 40)
KEYS = (None, b"", b"k", b"key-00000017", bytes(range(40)))
LENGTHS = (0, 1, 7, 31, 32, 33, 63, 64, 100, 511, 512, 513, 700)
"""Lengths of values in bytes, around which the copying code or the length of a varint changes."""


@cache
def built(seed: int) -> list[Seed]:
    """Return a seed for each kind of log entry in each compressed form, with random contents by *seed*."""
    chance = Random(f"{seed} seeds")
    seeds = [_in_form(plain, form) for form in OF_BATCHES for plain in _batches(chance)]
    for magic in (0, 1):
        seeds += map(taken_apart, _messages(chance, magic))
        seeds += _wrappers(chance, magic)
    return seeds


def of_logs(log_paths: Iterable[Path]) -> Iterator[Seed]:
    """Yield up to MOST_OF_A_KIND entries of each format and codec in *log_paths*, evenly spread."""
    seeds_by_kind: dict[str, list[Seed]] = {}
    stored = (entry for path in log_paths for entry in split_entries(path.read_bytes())[:-1])
    for data in dict.fromkeys(entry for entry in stored if len(entry) <= MAX_BYTES):
        with suppress(*UNREADABLE):
            one = taken_apart(data)
            seeds_by_kind.setdefault(one.kind, []).append(one)
    for found in seeds_by_kind.values():
        yield from found[:: -(-len(found) // MOST_OF_A_KIND)]


def split_entries(data: bytes) -> list[bytes]:
    """Return the log entries at the beginning of *data*; the last item is the bytes after them."""
    scan = ReferenceEngine().scan(Chunk(memoryview(data), 0), verify=False, limits=Limits())
    return [*(data[entry.position : entry.end] for entry in scan.entries), data[scan.end :]]


def _values(chance: Random) -> Iterator[bytes | None]:
    while True:
        length = chance.choice(LENGTHS[:9] if chance.random() < 0.9 else LENGTHS)
        yield None if chance.random() < 0.15 else bytes([chance.randrange(256)]) * length


def _records(chance: Random, count: int, first: int, *, has_headers: bool = False) -> list[Rec]:
    values = _values(chance)
    made = []
    for number in range(count):
        names = chance.choices(HEADER_KEYS, k=chance.randrange(4)) if has_headers else ()
        made.append(
            rec(
                first + number,
                next(values),
                chance.choice(KEYS),
                time=T0 + chance.choice((0, 1, -5, 1000, 100_000)),
                headers=[(name, next(values)) for name in names],
            )
        )
    return made


def _batches(chance: Random) -> Iterator[bytes]:
    """Yield an uncompressed batch of each kind: data, transactional, empty, control."""
    first = chance.randrange(1 << 40)
    yield entry_parts.batch(*_records(chance, 1, first)).data
    yield entry_parts.batch(*_records(chance, 3, first, has_headers=True)).data
    yield entry_parts.batch(*_records(chance, 4, first), append_time=T0 + 9).data
    yield entry_parts.batch(*_records(chance, 5, first, has_headers=True), base_time=-1).data
    small = [rec(first + n, b"v", None, time=T0) for n in range(chance.randrange(20, 90))]
    yield entry_parts.batch(*small).data
    wide = [rec(first, b"", None, headers=[(b"h", None)] * chance.randrange(60, 150))]
    yield entry_parts.batch(*wide).data
    # Each column of bytes is the longest once, since each has its own capacity.
    yield entry_parts.batch(rec(first, None, b"k" * chance.choice((300, 600)))).data
    yield entry_parts.batch(rec(first, None, None, headers=[(b"h" * 300, None)])).data
    yield entry_parts.batch(rec(first, None, None, headers=[(b"", b"v" * 300)])).data
    horizon = {"has_delete_horizon": True}
    yield entry_parts.batch(*_records(chance, 2, first), attributes=horizon).data
    sequence = chance.choice((0, 77, 2**31 - 2))
    for attributes in ({}, entry_parts.TRANSACTIONAL):
        yield entry_parts.batch(
            *_records(chance, 3, first, has_headers=True),
            producer_id=chance.randrange(1 << 40),
            producer_epoch=3,
            base_sequence=sequence,
            attributes=attributes,
        ).data
    yield entry_parts.batch(base_offset=first, last_offset=first + 9).data
    for kind in (0, 1, 77):
        yield entry_parts.marker(kind, first, producer=4).data


def _in_form(plain: bytes, form: str) -> Seed:
    """Return the uncompressed batch *plain*, compressed in *form*, as a seed."""
    at = RecordBatchHeader.POSITIONS["attributes"] + 1
    made = bytearray(plain)
    made[at] |= FORMS[form].codec
    made[RecordBatchHeader.SIZE :] = FORMS[form].compress(plain[RecordBatchHeader.SIZE :])
    set_size(made)
    seal(made)
    return taken_apart(bytes(made), form)


def _messages(chance: Random, magic: int) -> Iterator[bytes]:
    for one in _records(chance, 12, chance.randrange(1 << 40)):
        yield entry_parts.message(one, magic=magic).data
    if magic:
        yield entry_parts.message(rec(5), append_time=T0).data
        yield entry_parts.message(rec(5, time=-1)).data


def _wrappers(chance: Random, magic: int) -> Iterator[Seed]:
    for form in OF_MESSAGES:
        codec, compress = FORMS[form]
        for count in (1, 3, 12):
            inside = _records(chance, count, chance.randrange(1 << 30))
            start = inside[0].offset if magic else 0
            relative = (rec(one.offset - start, one.value, one.key) for one in inside)
            plain = b"".join(entry_parts.message(one, magic=magic).data for one in relative)
            section = compress(plain)
            for append_time in (None, T0 + 3) if magic else (None,):
                whole = entry_parts.wrapper(
                    *inside, codec=codec, magic=magic, section=section, append_time=append_time
                )
                if form != "lz4-3160" or magic == 0:
                    yield taken_apart(whole.data, form)
