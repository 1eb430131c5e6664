"""The frame of a value in ``__cluster_metadata`` (AbstractApiMessageSerde)."""

from construct import Default, GreedyBytes

from magicbyte_construct.fields import Expected, Fields
from magicbyte_construct.varint import Uvarint

MetadataRecord = Fields(
    "frame_version" / Expected(Uvarint, 1, 0, always=False),
    "api_key" / Uvarint,
    "version" / Default(Uvarint, 0),
    "message" / Default(GreedyBytes, b""),
)
"""Which record it is, in which version, and its bytes. Frame version 0 is that of Kafka 2.8."""
