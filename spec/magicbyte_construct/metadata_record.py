"""Frame of a value in ``__cluster_metadata`` (AbstractApiMessageSerde)."""

from construct import Default, GreedyBytes

from magicbyte_construct.fields import Expected, Fields
from magicbyte_construct.varint import Uvarint

MetadataRecord = Fields(
    "frame_version" / Expected(Uvarint, 1, 0, always=False),
    "api_key" / Uvarint,
    "version" / Default(Uvarint, 0),
    "message" / Default(GreedyBytes, b""),
)
"""Number, version and bytes of a metadata record. Kafka 2.8 wrote frame version 0."""
