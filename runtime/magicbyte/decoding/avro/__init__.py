"""Decodes Avro values into Arrow columns: schemas, their resolution, and decoders.

The compiled kernel of `magicbyte.engines.columnar` runs a schema's program over all values of an Arrow array.
"""

from magicbyte.decoding.avro._decoder import AvroDecoder, AvroJsonDecoder, DecodedValues
from magicbyte.decoding.avro._faults import fault_sentence
from magicbyte.decoding.avro._json_encoding import encode_json
from magicbyte.decoding.avro._schema import AvroSchema, parse_schema
from magicbyte.decoding.avro._versions import union_of_versions

__all__ = [
    "AvroDecoder",
    "AvroJsonDecoder",
    "AvroSchema",
    "DecodedValues",
    "encode_json",
    "fault_sentence",
    "parse_schema",
    "union_of_versions",
]
