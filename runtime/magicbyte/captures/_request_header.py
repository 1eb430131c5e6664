"""Headers of Kafka's requests and responses, and the schemas of those that are decoded."""

import struct
from typing import NamedTuple

from magicbyte.kafka_release import NEWEST
from magicbyte.messages import MessageError, read_uvarint
from magicbyte.text import decode_utf8
from magicbyte_formats.messages import client_requests
from magicbyte_kernels.message_schema import MessageSchema

RELEASE = (NEWEST.major, NEWEST.minor)

PRODUCE, FETCH, METADATA = 0, 1, 3
API_NAMES = {PRODUCE: "Produce", FETCH: "Fetch", METADATA: "Metadata"}

RESPONSES = {
    PRODUCE: client_requests.PRODUCE_RESPONSE,
    FETCH: client_requests.FETCH_RESPONSE,
    METADATA: client_requests.METADATA_RESPONSE,
}
REQUESTS = {
    PRODUCE: client_requests.PRODUCE_REQUEST,
    FETCH: client_requests.FETCH_REQUEST,
}

MAX_API_KEY = 127
MAX_VERSION = 50
"""Numbers up to which a header is taken for one of Kafka: its highest are 92 and 18."""

MAX_REQUEST_BYTES = 100 << 20
"""Default of `socket.request.max.bytes`: brokers close a connection with a larger request."""

FIXED = struct.Struct(">hhih")
"""API key, version, correlation id, length of the client id."""


class RequestHeader(NamedTuple):
    """Header of a request."""

    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    size_bytes: int
    """Bytes of the header in the data, if the version of the request is one that is known."""

    @property
    def name(self) -> str:
        return f"{API_NAMES[self.api_key]} {self.version}"


def highest_version(schema: MessageSchema) -> int:
    """Return the highest version of a request or response that is known."""
    known = schema.versions_in(RELEASE)
    return -1 if known is None or known.last is None else known.last


def is_known_version(api_key: int, version: int) -> bool:
    """Return whether *version* of one of `RESPONSES` can be decoded."""
    return 0 <= version <= highest_version(RESPONSES[api_key])


def read_request_header(data: bytes) -> RequestHeader | None:
    """Return the header of a request; None if it is not one of Kafka."""
    if len(data) < FIXED.size:
        return None
    api_key, version, correlation_id, length = FIXED.unpack_from(data)
    if not (0 <= api_key <= MAX_API_KEY and 0 <= version <= MAX_VERSION and length >= -1):
        return None
    end = FIXED.size + max(length, 0)
    if end > len(data):
        return None
    client_id = None if length < 0 else decode_utf8(data[FIXED.size : end])
    if api_key in RESPONSES and is_flexible(api_key, version):
        try:
            end = skip_tags(data, end)
        except MessageError:
            return None
    return RequestHeader(api_key, version, correlation_id, client_id, end)


def is_flexible(api_key: int, version: int) -> bool:
    return RESPONSES[api_key].is_flexible(version, RELEASE)


def skip_tags(data: bytes, position: int) -> int:
    """Return the position after the tagged fields at *position*; MessageError if there are none."""
    count, position = read_uvarint(data, position)
    for _ in range(count):
        _, position = read_uvarint(data, position)
        size, position = read_uvarint(data, position)
        if not 0 <= size <= len(data) - position:
            raise MessageError(
                "tag", f"a tagged field of {size} bytes", position=position, field=None, number=size
            )
        position += size
    return position


def is_request_start(data: bytes) -> bool:
    """Return whether *data*, of at least 14 bytes, begins with the length and the header of a request."""
    size, api_key, version, correlation_id, length = struct.unpack_from(">ihhih", data)
    if not FIXED.size <= size <= MAX_REQUEST_BYTES or correlation_id < 0:
        return False
    if not (0 <= api_key <= MAX_API_KEY and 0 <= version <= MAX_VERSION):
        return False
    if not -1 <= length <= size - FIXED.size:
        return False
    client_id = data[14 : 14 + max(length, 0)]
    return all(0x20 <= byte != 0x7F for byte in client_id)
