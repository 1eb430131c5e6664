"""Tests of the order of bytes in a TCP stream."""

import random

from magicbyte.captures import _tcp_stream
from magicbyte.captures._tcp_stream import MissingBytes, PendingTotal, TcpStream

WRAP = 0xFFFF_FFF0
"""A sequence number shortly before the numbers begin again."""


def parts_of(stream: TcpStream, *segments: tuple[int, bytes]) -> list[bytes | MissingBytes]:
    """Return the parts that *segments*, of sequence number and bytes, give."""
    parts: list[bytes | MissingBytes] = []
    for sequence, data in segments:
        for part in stream.add(sequence % (1 << 32), memoryview(data), 0):
            parts.append(part if isinstance(part, MissingBytes) else bytes(part))
    return parts


def test_random_segments_give_the_bytes_of_the_stream_once() -> None:
    for seed in range(200):
        drawn = random.Random(seed)
        data, total, stream = drawn.randbytes(drawn.randrange(1, 300)), PendingTotal(), None
        stream = TcpStream(total)
        stream.begin(WRAP - 1)
        spans = [(at, at + drawn.randrange(1, 60)) for at in range(0, len(data), 10)]
        drawn.shuffle(spans)
        found = parts_of(stream, *((WRAP + a, data[a:b]) for a, b in [*spans, (0, len(data))]))
        assert b"".join(part for part in found if isinstance(part, bytes)) == data, seed
        assert total.num_bytes == 0 and not stream.has_missing_bytes


def test_syn_that_is_sent_again_changes_nothing() -> None:
    stream = TcpStream(PendingTotal())
    stream.begin(9)
    assert parts_of(stream, (10, b"abc")) == [b"abc"]
    stream.begin(9)
    assert parts_of(stream, (10, b"abc"), (13, b"def")) == [b"def"]


def test_missing_bytes_are_given_up_at_the_end_with_their_number() -> None:
    stream = TcpStream(PendingTotal())
    assert parts_of(stream, (10, b"abc"), (20, b"xyz"), (30, b"end")) == [b"abc"]
    assert stream.has_missing_bytes
    found = [part if isinstance(part, MissingBytes) else bytes(part) for part in stream.finish()]
    assert found == [MissingBytes(7), b"xyz", MissingBytes(7), b"end"]


def test_missing_bytes_are_given_up_when_much_follows_them() -> None:
    stream = TcpStream(PendingTotal())
    parts_of(stream, (0, b"a"))
    size, found = 1 << 20, []
    for number in range(20):
        found += parts_of(stream, (10 + number * size, bytes(size)))
        if found:
            break
    assert number == _tcp_stream.MAX_PENDING_BYTES // size
    assert found[0] == MissingBytes(9)


def test_single_far_segment_is_stray_and_several_are_not() -> None:
    stream = TcpStream(PendingTotal())
    assert parts_of(stream, (0, b"a"), ((1 << 31) - 1, b"far"), (1, b"b")) == [b"a", b"b"]
    far = (1 << 30) + 1000
    found = parts_of(stream, (far, b"x"), (far + 1, b"y"), (far + 2, b"z"))
    assert found == [MissingBytes(far), b"z"]


def test_bytes_that_are_cut_off_are_missing() -> None:
    stream = TcpStream(PendingTotal())
    found = [*stream.add(0, memoryview(b"abc"), 5), *stream.add(8, memoryview(b"i"), 0)]
    assert [part if isinstance(part, MissingBytes) else bytes(part) for part in found] == [
        b"abc",
        MissingBytes(5),
        b"i",
    ]
