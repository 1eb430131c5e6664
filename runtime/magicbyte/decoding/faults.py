"""Reasons why a key or a value does not decode: numbers in arrays, names in columns, sentences in findings."""

from enum import IntEnum

from magicbyte.decoding.avro import fault_sentence
from magicbyte.engines.columnar.avro_program import Fault

FIRST_OWN = 1000
"""Numbers below belong to the Avro decoder."""


class DecodeFault(IntEnum):
    """Reasons outside of the Avro decoder."""

    NO_FRAME = FIRST_OWN
    NO_SCHEMA = FIRST_OWN + 1
    BAD_SCHEMA = FIRST_OWN + 2
    INCOMPATIBLE = FIRST_OWN + 3
    OTHER_RECORD = FIRST_OWN + 4
    MESSAGE_INDEX = FIRST_OWN + 5
    PROTOBUF = FIRST_OWN + 6
    TIME_RANGE = FIRST_OWN + 7
    JSON = FIRST_OWN + 8
    JSON_SHAPE = FIRST_OWN + 9
    WRONG_SIZE = FIRST_OWN + 10
    UTF8 = FIRST_OWN + 11
    UUID = FIRST_OWN + 12
    BOOLEAN = FIRST_OWN + 13
    COMPRESSION = FIRST_OWN + 14
    ENVELOPE = FIRST_OWN + 15
    WRAPPER = FIRST_OWN + 16


_SENTENCES = {
    DecodeFault.NO_FRAME: "the bytes do not begin with the frame of a schema, and no header names one",
    DecodeFault.NO_SCHEMA: "no schema with this id or fingerprint is known",
    DecodeFault.BAD_SCHEMA: "the schema itself cannot be used",
    DecodeFault.INCOMPATIBLE: "the schema cannot be read as the schema of the column",
    DecodeFault.OTHER_RECORD: "the schema is of a record that the columns do not have",
    DecodeFault.MESSAGE_INDEX: "the message indexes after the id name no message of the schema",
    DecodeFault.PROTOBUF: "the bytes are not a message of this Protobuf schema",
    DecodeFault.TIME_RANGE: "a time is outside of the years 1677 to 2262, which nanoseconds in 64 bits can express",
    DecodeFault.JSON: "the bytes are not JSON",
    DecodeFault.JSON_SHAPE: "the JSON does not have the shape of the schema",
    DecodeFault.WRONG_SIZE: "the number of bytes is not that of the type",
    DecodeFault.UTF8: "the bytes are not valid UTF-8",
    DecodeFault.UUID: "the text is not a UUID",
    DecodeFault.BOOLEAN: "the byte is neither 0 nor 1",
    DecodeFault.COMPRESSION: "the compressed body does not decompress within its limit",
    DecodeFault.WRAPPER: "the version or the instruction of a foreign-key join of Kafka Streams is not known",
    DecodeFault.ENVELOPE: "the JSON is not an object with schema and payload, or they do not fit each other",
}


def fault_name(fault_code: int) -> str:
    """Return the name of a reason, as the columns `key_error` and `value_error` have it.

    Example:
        >>> fault_name(2), fault_name(1001)
        ('left-over', 'no-schema')
    """
    fault = Fault(fault_code) if fault_code < FIRST_OWN else DecodeFault(fault_code)
    return fault.name.lower().replace("_", "-")


def sentence_of(fault_code: int) -> str:
    """Return a reason as a clause without a period."""
    return (
        fault_sentence(fault_code)
        if fault_code < FIRST_OWN
        else _SENTENCES[DecodeFault(fault_code)]
    )
