"""Control records of KRaft, each kind with hand-made bytes; real brokers wrote few of them."""

from magicbyte_formats.kaitai.kafka_control_record import KafkaControlRecord as Control

DIRECTORY = bytes(range(16))
NO_TAGS = "00"


def control(kind: int, value: bytes, version: int = 0) -> Control:
    key = version.to_bytes(2, "big") + kind.to_bytes(2, "big")
    assert len(value) < 64
    return Control.from_bytes(b"\x08" + key + bytes([2 * len(value)]) + value)


def test_leader_change_of_version_0_names_voters_by_id() -> None:
    value = control(2, bytes.fromhex("0000 00000001 02 00000001 00 02 00000001 00 00")).content
    assert isinstance(value, Control.LeaderChangeMessage)
    assert value.leader_id == 1
    assert [voter.voter_id for voter in value.voters] == [1]
    assert [voter.voter_directory_id for voter in value.granting_voters] == [None]


def test_leader_change_of_version_1_names_their_directories_too() -> None:
    voter = "00000002" + DIRECTORY.hex() + NO_TAGS
    value = control(2, bytes.fromhex("0001 00000002 02" + voter + "01 00")).content
    assert isinstance(value, Control.LeaderChangeMessage)
    assert [one.voter_directory_id for one in value.voters] == [DIRECTORY]
    assert value.granting_voters == []


def test_snapshot_header_and_footer() -> None:
    header = control(3, bytes.fromhex("0000 0000018f125c7400 00")).content
    assert isinstance(header, Control.SnapshotHeaderRecord)
    assert header.last_contained_log_timestamp == 1714000000000
    footer = control(4, bytes.fromhex("0000 00")).content
    assert isinstance(footer, Control.SnapshotFooterRecord)


def test_kraft_version() -> None:
    value = control(5, bytes.fromhex("0000 0001 00")).content
    assert isinstance(value, Control.KraftVersionRecord)
    assert value.protocol_version == 1


def test_kraft_voters_have_endpoints() -> None:
    endpoint = "03" + b"CO".hex() + "02" + b"h".hex() + "ffff" + NO_TAGS
    voter = "00000001" + DIRECTORY.hex() + "02" + endpoint + "0000 0001" + NO_TAGS + NO_TAGS
    value = control(6, bytes.fromhex("0000 02" + voter + NO_TAGS)).content
    assert isinstance(value, Control.VotersRecord)
    (one,) = value.voters
    assert (one.voter_id, one.voter_directory_id) == (1, DIRECTORY)
    assert (one.min_supported_version, one.max_supported_version) == (0, 1)
    (address,) = one.endpoints
    assert (address.name, address.host, address.port) == ("CO", "h", 65535)


def test_tagged_fields_are_stepped_over() -> None:
    value = control(4, bytes.fromhex("0000 01 05 02 abcd")).content
    assert isinstance(value, Control.SnapshotFooterRecord)
    (field,) = value.extension.fields
    assert (field.tag.value, field.data) == (5, b"\xab\xcd")


def test_an_unknown_kind_keeps_its_bytes() -> None:
    record = control(77, b"what")
    assert record.key.control_type == 77
    assert isinstance(record.content, Control.UnknownContent)
    assert record.content.data == b"what"


def test_a_marker_of_a_higher_version_is_read_as_version_0() -> None:
    value = control(1, bytes.fromhex("0003 00000007 ffff")).content
    assert isinstance(value, Control.EndTransactionMarker)
    assert (value.version, value.coordinator_epoch) == (3, 7)


def test_a_null_value_is_none() -> None:
    assert Control.from_bytes(b"\x08\x00\x00\x00\x00\x01").content is None
