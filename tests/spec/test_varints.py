import kaitaistruct
import pytest

from log_builder import varint
from magicbyte_formats.kaitai.kafka_uvarint import KafkaUvarint
from magicbyte_formats.kaitai.kafka_varint import KafkaVarint
from magicbyte_formats.kaitai.kafka_varlong import KafkaVarlong


@pytest.mark.parametrize("number", [0, -1, 1, 63, -64, 64, 2**20, -(2**27), 2**31 - 1, -(2**31)])
def test_a_varint_of_each_length(number: int) -> None:
    data = varint(number)
    assert KafkaVarint.from_bytes(data).value == number
    assert KafkaVarint.from_bytes(data).num_bytes == len(data)


@pytest.mark.parametrize("number", [0, -1, 2**31, -(2**54), 2**62, 2**63 - 1, -(2**63)])
def test_a_varlong_of_each_length(number: int) -> None:
    data = varint(number)
    assert KafkaVarlong.from_bytes(data).value == number
    assert KafkaVarlong.from_bytes(data).num_bytes == len(data)


def test_forms_that_are_longer_than_need_be_are_accepted() -> None:
    assert KafkaVarint.from_bytes(bytes.fromhex("8280808000")).value == 1


def test_bits_beyond_the_width_are_ignored() -> None:
    assert KafkaVarint.from_bytes(bytes.fromhex("8080808070")).value == 0
    assert KafkaVarlong.from_bytes(b"\x80" * 9 + b"\x7e").value == 0


@pytest.mark.parametrize(("kind", "most"), [(KafkaVarint, 5), (KafkaVarlong, 10)])
def test_a_byte_too_many_is_an_error(
    kind: type[KafkaVarint] | type[KafkaVarlong], most: int
) -> None:
    with pytest.raises(kaitaistruct.ValidationGreaterThanError):
        kind.from_bytes(b"\x80" * (most + 1))


def test_an_unsigned_varint_goes_up_to_32_bits() -> None:
    numbers = {"00": 0, "7f": 127, "8001": 128, "ffffff7f": 2**28 - 1, "ffffffff0f": 2**32 - 1}
    for data, number in numbers.items():
        assert KafkaUvarint.from_bytes(bytes.fromhex(data)).value == number
