"""Texts of the exceptions that Kafka throws if a message cannot be read."""

from magicbyte.messages import MAX_ELEMENTS, MAX_TAGGED_FIELDS, MessageError


def exception_text(message_error: MessageError, version: int) -> str:
    """Return the text of the exception that Kafka's generated classes throw, reading *version*."""
    name = message_error.field or ""
    match message_error.reason:
        case "null":
            return f"non-nullable field {name} was serialized as null"
        case "text":
            return f"string field {name} had invalid length {message_error.number}"
        case "count":
            return (
                f"Tried to allocate a collection of size {message_error.number}, "
                f"but there are only {message_error.left} bytes remaining."
            )
        case "elements":
            return (
                f"Tried to read a collection of size {message_error.number}, "
                f"which exceeds the maximum allowed size of {MAX_ELEMENTS}."
            )
        case "tags" if message_error.number < 0:
            return f"Invalid negative number of tagged fields {message_error.number}"
        case "tags" if message_error.number > message_error.left:
            return (
                f"Tried to read {message_error.number} tagged fields, "
                f"but there are only {message_error.left} bytes remaining."
            )
        case "tags":
            return (
                f"Tried to read {message_error.number} tagged fields, "
                f"which exceeds the maximum allowed count of {MAX_TAGGED_FIELDS}."
            )
        case "array" if message_error.number < 0:
            return str(message_error.number)  # text of Java's NegativeArraySizeException
        case "array":
            return (
                f"Error reading byte array of {message_error.number} byte(s): "
                f"only {message_error.left} byte(s) available"
            )
        case "version":
            return f"Can't read version {message_error.number} of {name}"
        case "tag":
            return f"Tag {message_error.number} is not valid for version {version}"
        case "varint":
            return (
                "Varint is too long, the most significant bit in the 5th byte is set, "
                f"converted value: {message_error.number & 0xFFFFFFFF:x}"
            )
    return "null"
