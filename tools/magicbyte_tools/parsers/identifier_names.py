"""Names as the Kaitai compiler writes them in generated code."""

from collections.abc import Sequence

from magicbyte_tools.generate.parsers import camel

__all__ = ["camel", "lower_camel", "nested"]


def lower_camel(name: str) -> str:
    """Convert a field's name to lowerCamelCase, as in JavaScript and Java."""
    upper = camel(name)
    return upper[:1].lower() + upper[1:]


def nested(class_names: Sequence[str], separator: str) -> str:
    """Join *class_names* to the name of a nested class, such as KafkaLog.Entry."""
    return separator.join(camel(name) for name in class_names)
