"""Topic id of a partition, ``partition.metadata`` (PartitionMetadataFile)."""

import base64
import re
from typing import Any

from construct import Construct, Container, StringError, ValidationError
from construct.core import stream_write

from magicbyte_construct.fields import is_strict

VERSION = 0
"""Version that Kafka writes; it reads higher ones as this one (PartitionMetadataReadBuffer)."""

LARGEST_VERSION = (1 << 31) - 1

FORM = re.compile(rb"version: (0|[1-9][0-9]{0,9})\ntopic_id: ([A-Za-z0-9_-]{22})", re.ASCII)


class PartitionMetadataConstruct(Construct):
    """File with ``version`` and ``topic_id``, in the form that Kafka writes; it reads others too.

    ``trailing`` is a line end after the topic id, which Kafka does not write.
    """

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        data: bytes = stream.read()
        match = FORM.match(data)
        if match is None:
            raise StringError(f"no version and topic_id in {data[:64]!r}", path=path)
        version = int(match[1])
        if version > LARGEST_VERSION:
            raise ValidationError(f"version {version} is no 32-bit number", path=path)
        trailing = data[match.end() :]
        if trailing.strip(b"\r\n"):
            raise StringError(f"{trailing[:16]!r} after the topic_id", path=path)
        topic_id = match[2].decode()
        if is_strict(context) and not any(uuid(topic_id)):
            raise ValidationError("the topic_id is zero, which means none", path=path)
        return Container(version=version, topic_id=topic_id, trailing=trailing)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        text = f"version: {obj.get('version', VERSION)}\ntopic_id: {obj['topic_id']}"
        data = text.encode() + obj.get("trailing", b"")
        stream_write(stream, data, len(data), path)
        return obj


def uuid(text: str) -> bytes:
    """Return the 16 bytes of an id in 22 characters, as Kafka's Uuid reads it."""
    return base64.urlsafe_b64decode(text + "==")


PartitionMetadata = PartitionMetadataConstruct()
"""Version, usually 0, and the topic's id in 22 characters of base64url."""
