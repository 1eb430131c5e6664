"""Records of internal topics, byte by byte; `told.json` has the output of Kafka's tool for them."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from log_builder import CONTROL, batch, record

OFFSETS = "--offsets-decoder"
TRANSACTIONS = "--transaction-log-decoder"
METADATA = "--cluster-metadata-decoder"
REMOTE = "--remote-log-metadata-decoder"
SHARE = "--share-group-state-decoder"

NO_TAGS = b"\0"
UUID = bytes(range(16))
MANY = range(30)


class Case(NamedTuple):
    name: str
    flag: str
    key: bytes | None
    value: bytes | None
    is_control: bool = False


i8, i16, i32, i64 = (struct.Struct(f">{code}").pack for code in "bhiq")


def text(string: str | None) -> bytes:
    """Encode a non-flexible string: its length in two bytes, then UTF-8; -1 is null."""
    if string is None:
        return i16(-1)
    return i16(len(string.encode())) + string.encode()


def sized(data: bytes) -> bytes:
    """Encode non-flexible bytes: their length in four bytes, then the bytes."""
    return i32(len(data)) + data


def short(string: str | bytes | None) -> bytes:
    """Encode a compact string or compact bytes of less than 127 bytes; 0 is null."""
    if string is None:
        return b"\0"
    data = string.encode() if isinstance(string, str) else string
    return bytes([len(data) + 1]) + data


def array(*elements: bytes) -> bytes:
    """Encode a non-flexible array: its length in four bytes, then its encoded elements."""
    return i32(len(elements)) + b"".join(elements)


def compact_array(*elements: bytes) -> bytes:
    """Encode a compact array of less than 127 elements."""
    return bytes([len(elements) + 1]) + b"".join(elements)


def tags(*fields: tuple[int, bytes]) -> bytes:
    return bytes([len(fields)]) + b"".join(bytes([tag, len(data)]) + data for tag, data in fields)


COMMIT_KEY = i16(1) + text("g") + text("topic") + i32(7)
COMMIT = i16(3) + i64(42) + i32(5) + text("note") + i64(1000)
GROUP_KEY = i16(2) + text("g")

SUBSCRIPTION = i16(1) + array(text("topic")) + sized(b"") + array(text("topic") + array(i32(3)))
ASSIGNMENT = i16(1) + array(text("topic") + array(i32(3), i32(4))) + sized(b"\0\x0a\xbc")


def member(
    name: str,
    subscription: bytes = SUBSCRIPTION,
    assignment: bytes = ASSIGNMENT,
    instance: str | None = None,
) -> bytes:
    """Encode a member of a `GroupMetadataValue` of version 3."""
    begin = text(name) + text(instance) + text("client") + text("/host") + i32(300) + i32(45)
    return begin + sized(subscription) + sized(assignment)


def group(*members: bytes, kind: str = "consumer", protocol: str | None = "range") -> bytes:
    """Encode a `GroupMetadataValue` of version 3."""
    return i16(3) + text(kind) + i32(9) + text(protocol) + text("a") + i64(-1) + array(*members)


def offsets() -> Iterator[Case]:
    def case(name: str, value: bytes | None, key: bytes | None = COMMIT_KEY) -> Case:
        return Case(f"offsets: {name}", OFFSETS, key, value)

    def of_group(name: str, *members: bytes, kind: str = "consumer") -> Case:
        return case(f"a group {name}", group(*members, kind=kind), GROUP_KEY)

    yield case("a commit", COMMIT)
    yield case("a commit without metadata", COMMIT.replace(text("note"), text("")))
    yield case("a commit that expires", i16(1) + i64(42) + text("") + i64(1000) + i64(2000))
    flexible = i16(4) + i64(42) + i32(5) + short("note") + i64(1000)
    yield case("a commit of version 4", flexible + tags((0, UUID)))
    yield case("a commit whose topic id is its default", flexible + tags((0, bytes(16))))
    yield case("a commit with an unknown tag", flexible + tags((9, b"new")))
    negative = b"\1\x09\xff\xff\xff\xff\x0f"
    yield case("a commit with an unknown tag of a negative size", flexible + negative)
    too_long = b"\x81\x80\x02" + bytes(9)
    yield case("a commit whose metadata is too long", flexible[:14] + too_long)
    yield case("a commit of an unknown version", i16(9) + COMMIT[2:])
    yield case("a commit of a negative version", i16(-1) + COMMIT[2:])
    of_type_0 = i16(0) + COMMIT_KEY[2:]
    yield case("a commit of type 0", COMMIT, of_type_0)
    old = i16(0) + i64(42) + text("old") + i64(1000)
    yield case("a commit of type 0 and version 0", old, of_type_0)
    yield case("a deleted commit", None)
    yield case("a commit that is cut off in a number", COMMIT[:-1])
    yield case("a commit that is cut off in a text", COMMIT[:18])
    yield case("a commit that is cut off in its version", b"\0")
    yield case("an empty commit", b"")
    yield case("a commit whose metadata is null", COMMIT[:14] + i16(-1) + i64(1000))
    yield case("a commit with bytes behind it", COMMIT + b"more")
    yield case("a key that is cut off", COMMIT, COMMIT_KEY[:-1])
    yield case("a key that is cut off in its type", COMMIT, b"\0")
    yield case("no key", COMMIT, None)
    yield case("an unknown type", COMMIT, i16(99) + text("g"))
    yield case("a negative type", COMMIT, i16(-1) + text("g"))
    escaped = text('a"b\\c/\x1f\x7f\n') + text("é😀\u2028")
    yield case("texts that JSON escapes", COMMIT, i16(1) + escaped + i32(0))
    no_utf_8 = i16(3) + b"\xed\xa0\x80"
    yield case("a text that is not UTF-8", COMMIT, i16(1) + no_utf_8 + text("t") + i32(0))
    yield of_group("of consumers", member("a"), member("b", b"", b"\0\0" * 5))
    yield case("a group without members", group(protocol=None), GROUP_KEY)
    yield of_group("of others", member("a"), kind="connect")
    yield of_group("whose subscription is damaged", member("a", b"\0\1\xff"))
    null = i16(0) + i32(-1) + i32(-1)
    yield of_group("whose subscription has a null list", member("a", null))
    yield of_group("with a null list behind one cut off", member("b", null), member("a", b"\0"))
    yield of_group("with a null list before one cut off", member("c", b"\0"), member("b", null))
    later = i16(99) + ASSIGNMENT[2:]
    yield of_group("whose assignment is of a later version", member("a", assignment=later))
    yield of_group("of many members", *(member(f"m-{n}") for n in MANY))
    yield of_group("of members of one hash", member("BB"), member("Aa"), member("C#"))
    twice = (member("a"), member("a"))
    yield of_group("with a member twice", *twice)
    yield of_group("with a member twice and another behind", *twice, member("b"))
    alike = (member("a", instance="i"), member("b", instance="i"))
    yield of_group("with an instance twice", *alike, member("c"))
    of_both_signs = (member(f"member-{n}") for n in (13, 3, 0, 16, 19, 1))
    yield of_group("of members whose hashes have and have not a sign", *of_both_signs)
    yield case("a deleted group", None, GROUP_KEY)
    begin = i16(0) + short("i") + short(None) + short("client") + short("/host")
    begin += compact_array(short("topic")) + short(None) + i32(300) + short("uniform")
    of_member = i16(5) + text("g") + text("m")
    classic = b"\1" + i32(45) + compact_array(short("range") + short(b"\0\1") + NO_TAGS) + NO_TAGS
    yield case("a consumer", begin + NO_TAGS, of_member)
    yield case("a classic consumer", begin + tags((0, classic)), of_member)
    yield case("a classic consumer that is null", begin + tags((0, b"\0")), of_member)
    empty = b"\1" + i32(0) + compact_array()
    yield case("an empty classic consumer", begin + tags((0, empty + NO_TAGS)), of_member)
    with_tag = tags((0, empty + tags((5, b"x"))))
    yield case("an empty classic consumer with a tag", begin + with_tag, of_member)
    of_streams = i16(0) + short(None) + short(None) + short("c") + short("/h") + i32(1) + i32(2)
    of_streams += short("p")
    key = i16(19) + text("g") + text("m")
    alone = b"\xff" + compact_array(short("k") + short("v") + NO_TAGS) + NO_TAGS
    yield case("a member of streams without an endpoint", of_streams + alone, key)
    endpoint = b"\1" + short("h") + b"\xff\xfe" + NO_TAGS + compact_array() + NO_TAGS
    yield case("a member of streams with an endpoint", of_streams + endpoint, key)
    wraps = i16(0) + b"\x80\x80\x80\x80\x08" + NO_TAGS
    yield case("a count that wraps", wraps, i16(7) + text("g") + text("m"))


TRANSACTION_KEY = i16(0) + text("id")


def transaction(state: int, partitions: bytes) -> bytes:
    """Encode a `TransactionLogValue` of version 0."""
    begin = i16(0) + i64(1000) + i16(3) + i32(60000) + i8(state)
    return begin + partitions + i64(2000) + i64(1500)


def transactions() -> Iterator[Case]:
    def case(name: str, value: bytes | None, key: bytes | None = TRANSACTION_KEY) -> Case:
        return Case(f"transactions: {name}", TRANSACTIONS, key, value)

    two = array(text("t") + array(i32(1), i32(0)), text("other") + array(i32(2)))
    yield case("an ongoing one", transaction(1, two))
    yield case("an empty one", transaction(0, i32(-1)))
    yield case("a completed one", transaction(4, array()))
    yield case("partitions that are null", transaction(1, i32(-1)))
    yield case("an unknown state", transaction(8, two))
    many = array(*(text(f"topic-{n}") + array(*map(i32, MANY)) for n in range(3)))
    yield case("many partitions", transaction(1, many))
    alike = array(text("") + array(i32(-1)), text("-") + array(i32(1)))
    yield case("partitions of one text", transaction(1, alike))
    one_hash = array(text("BB") + array(i32(1)), text("Aa") + array(i32(1)))
    yield case("partitions of one hash", transaction(1, one_hash))
    flexible = i16(1) + i64(1000) + i16(3) + i32(60000) + i8(1)
    flexible += compact_array(short("t") + compact_array(i32(1)) + NO_TAGS) + i64(2000) + i64(1500)
    tagged = tags((0, i64(900)), (1, i64(-1)), (2, i16(2)), (3, i16(4)))
    yield case("version 1", flexible + tagged)
    yield case("an unknown transaction version", flexible + tags((2, i16(9))))
    yield case("version 2", i16(2) + flexible[2:] + tagged)
    yield case("a deleted one", None)
    yield case("cut off", transaction(1, two)[:-1])
    yield case("an unknown type", transaction(1, two), i16(1) + text("id"))
    yield case("no key", transaction(1, two), None)


def metadata() -> Iterator[Case]:
    def case(name: str, value: bytes | None) -> Case:
        return Case(f"metadata: {name}", METADATA, None, value)

    topic = short("topic") + UUID + NO_TAGS
    yield case("a topic", b"\1\2\0" + topic)
    yield case("a topic of 2.8", b"\0\2\0" + text("topic") + UUID)
    yield case("an unknown frame", b"\2\2\0" + topic)
    yield case("a large frame", b"\x80\x80\x02\2\0" + topic)
    yield case("a frame that wraps", b"\xff\xff\xff\xff\x0f\2\0" + topic)
    yield case("a frame whose varint is too long", b"\x80\x80\x80\x80\x80\1" + topic)
    yield case("a frame alone", b"\1")
    yield case("no type", b"\1\x80")
    yield case("an unknown type", b"\1\x63\0" + topic)
    yield case("a type that wraps", b"\1\xfe\xff\xff\xff\x0f\0" + topic)
    yield case("a type of which 16 bits are kept", b"\1\x82\x80\x80\x80\x08\0" + topic)
    yield case("a version of which 16 bits are kept", b"\1\2\x85\x80\x80\x80\x08" + topic)
    yield case("a version that is too large", b"\1\2\x80\x80\x02" + topic)
    yield case("a version that wraps", b"\1\2\xff\xff\xff\xff\x0f" + topic)
    yield case("a later version", b"\1\2\5" + topic)
    yield case("garbage behind it", b"\1\2\0" + topic + b"x")
    yield case("cut off", b"\1\2\0" + topic[:-1])
    yield case("a null value", None)
    yield case("an empty value", b"")
    for number in (
        *("0.0", "-0.0", "1.0", "100.0", "9999999.0", "1e7", "0.001", "9.99e-4", "1e23", "8.41e21"),
        *("5e-324", "1e-321", "1.7976931348623157e308", "9007199254740993e3", "nan", "inf", "-inf"),
    ):
        quota = compact_array(short("user") + short(None) + NO_TAGS) + short("rate")
        quota += struct.pack(">d", float(number)) + b"\0" + NO_TAGS
        yield case(f"a quota of {number}", b"\1\x0e\0" + quota)
    endpoint = short("PLAINTEXT") + short("host") + b"\xff\xfe" + i16(0) + NO_TAGS
    feature = short("metadata.version") + i16(1) + i16(20) + NO_TAGS
    for version, tagged in (
        (0, NO_TAGS),
        (1, NO_TAGS),
        (2, NO_TAGS),
        (3, tags((0, compact_array(UUID)))),
    ):
        broker = i32(1) + (b"\0" if version > 1 else b"") + UUID + i64(5) + compact_array(endpoint)
        broker += compact_array(feature) + short(None) + b"\1" + (b"\0" if version else b"")
        yield case(f"a broker of version {version}", b"\1\0" + i8(version) + broker + tagged)
    cordoned = tags((0, compact_array(UUID)), (1, compact_array(UUID)))
    yield case("a broker of version 4", b"\1\0\4" + broker + cordoned)
    yield case("a broker of version 3 with a tag of 4", b"\1\0\3" + broker + cordoned)
    yield case("a broker of an unknown version", b"\1\0\5" + broker + cordoned)
    change = i32(1) + UUID
    isr = (0, compact_array(i32(1), i32(2)))
    yield case("a changed partition", b"\1\5\0" + change + tags(isr, (1, i32(3))))
    yield case("a changed partition that did not", b"\1\5\0" + change + tags((1, i32(-2))))
    yield case("a changed partition with a null tag", b"\1\5\0" + change + tags((0, b"\0")))
    yield case(
        "a tag before its version", b"\1\5\1" + change + tags(isr, (6, compact_array(i32(1))))
    )
    yield case("a tag twice", b"\1\5\0" + change + tags((1, i32(3)), (1, i32(-2))))
    yield case(
        "tags of version 2",
        b"\1\5\2" + change + tags((6, compact_array()), (7, compact_array(i32(4)))),
    )
    scram = short("user") + i8(1) + short(b"salt") + short(b"\xff\xfe") + short(b"k") + i32(4096)
    yield case("a password of 3.5", b"\1\x0b\0" + scram + NO_TAGS)
    yield case("a configuration that is null", b"\1\4\0\2" + short("t") + short("k") + b"\0\0")
    yield case("a feature", b"\1\x0c\0" + short("metadata.version") + i16(7) + NO_TAGS)
    yield case("a configuration whose name is null", b"\1\4\0\2" + b"\0" + short("k") + b"\0\0")
    yield case("a topic without a name", b"\1\2\0" + b"\0" + UUID + NO_TAGS)
    broker = i32(1) + UUID + i64(5) + array(text("PLAINTEXT") + text("host") + b"\xff\xfe" + i16(0))
    broker += array(text("metadata.version") + i16(1) + i16(20)) + text(None)
    yield case("a broker of 2.8", b"\0\0\0" + broker)
    yield case("a broker of 2.8 and a later version", b"\0\0\1" + broker)
    replicas = i32(1) + UUID + array(i32(1)) + array(i32(1)) + i32(-1) + array()
    partition = replicas + i32(1) + i32(2) + i32(3)
    yield case("a partition of 2.8", b"\0\3\0" + partition)
    yield case("a partition of 2.8 that is cut off", b"\0\3\0" + partition[:-1])
    yield case("a partition of 2.8 with bytes behind it", b"\0\3\0" + partition + b"x")
    yield case("a partition of 2.8 with too many replicas", b"\0\3\0" + i32(1) + UUID + i32(99))
    yield case("a topic of 2.8 whose name is null", b"\0\2\0" + text(None) + UUID)
    yield case("an unknown type of 2.8", b"\0\x63\0" + text("topic") + UUID)
    yield case("nothing to do", b"\1\x14\0\0")
    yield case("a transaction without a name", b"\1\x17\0\0")


def remote() -> Iterator[Case]:
    def case(name: str, value: bytes | None) -> Case:
        return Case(f"remote: {name}", REMOTE, b"key", value)

    partition = short("topic") + UUID + i32(3) + NO_TAGS
    segment_id = partition + UUID[::-1] + NO_TAGS

    def segment(
        state: int = 1,
        start: int = 0,
        custom: bytes | None = b"abc",
        epochs: tuple[tuple[int, int], ...] = ((2, 50), (1, 0)),
        tagged: bytes = NO_TAGS,
    ) -> bytes:
        told = compact_array(*(i32(epoch) + i64(offset) + NO_TAGS for epoch, offset in epochs))
        begin = i64(start) + i64(99) + i32(1) + i64(1000) + i64(2000) + told + i32(4096)
        return b"\1\0\0" + segment_id + begin + short(custom) + i8(state) + tagged

    yield case("a segment", segment())
    yield case("a segment without custom metadata", segment(custom=None))
    yield case("a segment without aborted transactions", segment(tagged=tags((0, b"\1"))))
    yield case("a segment of an unknown state", segment(state=9))
    yield case("a segment that starts below zero", segment(start=-1))
    yield case("a segment that starts behind its end", segment(start=100))
    yield case("a segment without epochs", segment(epochs=()))
    yield case("a segment with an epoch twice", segment(epochs=((1, 5), (1, 6))))
    yield case("a segment with bytes behind it", segment() + b"x")
    yield case("a segment cut off", segment()[:-1])
    update = segment_id + i32(1) + i64(2000) + short(None)
    yield case("an update", b"\1\1\0" + update + i8(3) + NO_TAGS)
    yield case("an update of an unknown state", b"\1\1\0" + update + i8(4) + NO_TAGS)
    deleted = partition + i32(1) + i64(2000)
    yield case("a deleted partition", b"\1\2\0" + deleted + i8(0) + NO_TAGS)
    yield case("a deleted partition of an unknown state", b"\1\2\0" + deleted + i8(3) + NO_TAGS)
    snapshot = UUID + i64(5) + i64(99) + i32(1) + i64(1000) + i64(2000)
    snapshot += compact_array(i32(1) + i64(0) + NO_TAGS) + i32(4096) + short(b"")
    yield case("a snapshot", b"\1\3\0" + snapshot + i8(1) + NO_TAGS)
    yield case("an unknown type", b"\1\4\0" + snapshot)
    yield case("an unknown frame", b"\0\3\0" + snapshot)
    yield case("a null value", None)


def share() -> Iterator[Case]:
    def case(name: str, key: bytes | None, value: bytes | None) -> Case:
        return Case(f"share: {name}", SHARE, key, value)

    key = text("g") + UUID + i32(7)
    states = compact_array(i64(5) + i64(9) + i8(2) + i16(1) + NO_TAGS)
    early = b"\xff\xfe" + i32(1) + i32(2) + i64(5)
    times = i64(1000) + i64(2000)
    later = i32(65534) + i32(1) + i32(2) + i64(5)
    count = tags((0, i32(3)))
    yield case("a snapshot of 4.0", i16(0) + key, i16(0) + early + states + NO_TAGS)
    yield case("a snapshot", i16(0) + key, i16(0) + later + times + states + count)
    yield case("an update of 4.0", i16(1) + key, i16(0) + early[:2] + early[6:] + states + NO_TAGS)
    yield case("an update", i16(1) + key, i16(0) + later[:4] + later[8:] + states + count)
    yield case("a deleted snapshot", i16(0) + key, None)
    yield case("an unknown version", i16(0) + key, i16(1) + later + times + states + count)
    yield case("an unknown type", i16(2) + key, i16(0) + later)
    yield case("cut off", i16(0) + key, i16(0) + later)
    yield case("no key", None, i16(0) + later)


def controls() -> Iterator[Case]:
    def case(name: str, kind: int, value: bytes | None) -> Case:
        return Case(f"control: {name}", METADATA, i16(0) + i16(kind), value, is_control=True)

    voters = (
        compact_array(i32(1) + NO_TAGS, i32(2) + NO_TAGS)
        + compact_array(i32(1) + NO_TAGS)
        + NO_TAGS
    )
    yield case("a commit", 1, i16(0) + i32(7))
    yield case("a commit that is null", 1, None)
    yield case("a change of leader", 2, i16(0) + i32(1) + voters)
    yield case("a change of leader that is null", 2, None)
    yield case("a change of leader without voters", 2, i16(0) + i32(1) + b"\0\0" + NO_TAGS)
    yield case("a change of leader of version -1", 2, i16(-1) + i32(1) + voters)
    for name, directory in (("read", b"\0" + UUID[1:]), ("not", UUID[1:] + b"\0")):
        voter = i32(1) + directory + NO_TAGS
        value = i16(1) + i32(1) + compact_array(voter) + compact_array(voter) + NO_TAGS
        yield case(f"a change of leader with directories that are {name}", 2, value)
    yield case("a snapshot's header", 3, i16(0) + i64(1000) + NO_TAGS)
    yield case("a snapshot's header that is cut off", 3, i16(0) + i64(1000))
    yield case("a snapshot's footer", 4, i16(0) + NO_TAGS)
    yield case("a version of KRaft", 5, i16(0) + i16(1) + tags((9, b"new")))
    negative = b"\xff" * 4 + b"\x0f"
    yield case("a version of KRaft with a negative count of tags", 5, bytes(4) + negative)
    endpoint = short(b"A\x1f\xff") + short("host") + b"\xff\xfe" + NO_TAGS
    voter = i32(1) + UUID + compact_array(endpoint) + i16(0) + i16(1) + NO_TAGS + NO_TAGS
    yield case("voters", 6, i16(0) + compact_array(voter) + NO_TAGS)
    yield case("voters of a later version", 6, i16(1) + compact_array(voter) + NO_TAGS)
    yield case("voters that are null", 6, i16(0) + b"\0" + NO_TAGS)
    yield case("an unknown kind", 7, b"?")
    yield case("an unknown kind that is null", -1, None)


def cases() -> list[Case]:
    return [*offsets(), *transactions(), *metadata(), *remote(), *share(), *controls()]


def segment(case: Case) -> bytes:
    """Return a segment of one batch with the record of *case*."""
    return batch([record(case.value, case.key)], flags=CONTROL if case.is_control else 0)
