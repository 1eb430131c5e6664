"""Tests of the checksums against the check values of their definitions."""

from collections.abc import Callable

import pytest

from magicbyte.checksum import crc32, crc32c

CHECK = b"123456789"


@pytest.mark.parametrize(("checksum", "value"), [(crc32, 0xCBF43926), (crc32c, 0xE3069283)])
def test_checksum_of_the_check_string(checksum: Callable[..., int], value: int) -> None:
    assert checksum(CHECK) == value


@pytest.mark.parametrize("checksum", [crc32, crc32c])
@pytest.mark.parametrize("cut", range(len(CHECK) + 1))
def test_parts_give_what_the_whole_gives(checksum: Callable[..., int], cut: int) -> None:
    view = memoryview(CHECK)
    assert checksum(view[cut:], checksum(view[:cut])) == checksum(CHECK)


@pytest.mark.parametrize("checksum", [crc32, crc32c])
def test_checksum_of_no_bytes_is_the_initial_value(checksum: Callable[..., int]) -> None:
    assert checksum(b"") == 0
    assert checksum(b"", 5) == 5
