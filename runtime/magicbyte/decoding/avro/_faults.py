"""Reasons why a value does not decode, as numbers and as sentences."""

from magicbyte.engines.columnar.avro_program import Fault

_SENTENCES = {
    Fault.NONE: "the value is sound",
    Fault.ENDS_EARLY: "the value ends in the middle of a field",
    Fault.LEFT_OVER: "bytes are left over after the last field",
    Fault.LONG_VARINT: "a number has more than 64 bits",
    Fault.INT_RANGE: "a number of type int has more than 32 bits",
    Fault.BOOLEAN: "a boolean is neither 0 nor 1",
    Fault.LENGTH: "the length of a string or of bytes is negative, or goes beyond the end of the value",
    Fault.UTF8: "a string is not valid UTF-8",
    Fault.UNION_BRANCH: "a union has no branch of this number",
    Fault.ENUM_INDEX: "an enum has no symbol of this number",
    Fault.BLOCK_COUNT: "an array or map states more items than the rest of the value can hold",
    Fault.EMPTY_ITEMS: "too many items of arrays and maps, or fields, take no bytes",
    Fault.OUTPUT_LIMIT: "the values of this Arrow batch need too much memory as columns; read smaller batches",
    Fault.DECIMAL_DIGITS: "a decimal has more digits than its type allows",
    Fault.DECIMAL_EMPTY: "a decimal has no bytes",
    Fault.TIME_OF_DAY: "a time of day is negative, or not below 24 hours",
    Fault.DURATION: "a duration has 2^31 months or days, or more",
    Fault.NO_READER_BRANCH: "the reader's schema has no type for this branch of the writer's union",
    Fault.NO_READER_SYMBOL: "the reader's enum has neither this symbol nor a default",
    Fault.DEPTH: "records, arrays and maps are nested too deeply",
    Fault.FRAME: "the value ends inside of its frame",
}


def fault_sentence(error_code: int) -> str:
    """Return why a value did not decode, as a clause without a period.

    Args:
        error_code: A number of `DecodedValues.error_codes`.
    Returns:
        The reason, in the words of Avro's specification.
    Example:
        >>> from magicbyte.decoding.avro import fault_sentence
        >>> fault_sentence(2)
        'bytes are left over after the last field'
    """
    return _SENTENCES[Fault(error_code)]
