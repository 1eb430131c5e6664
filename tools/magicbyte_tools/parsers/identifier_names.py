"""Names as the Kaitai compiler writes them in generated code."""

from collections.abc import Sequence

from magicbyte_tools.generate.parsers import camel

__all__ = ["camel", "lower_camel", "nested"]


def lower_camel(name: str) -> str:
    """Return *name* as JavaScript and Java write a field."""
    upper = camel(name)
    return upper[:1].lower() + upper[1:]


def nested(class_names: Sequence[str], separator: str) -> str:
    """Return the class at *class_names*, such as KafkaLog.Entry."""
    return separator.join(camel(name) for name in class_names)
