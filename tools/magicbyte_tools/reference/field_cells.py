"""Texts in the cells of a page's field table: type, valid values, sentinel for null."""

import re

from magicbyte_tools.reference.library import INTEGER, FormatStructure, Library, Spec, bits


def type_words(attribute: Spec, owner: FormatStructure, library: Library) -> str:
    """Return a field's type in Kafka's terms: int32, varint, bytes, or the name of a structure."""
    kind = attribute.get("type")
    if isinstance(kind, dict):
        return "by its kind"
    if kind is None:
        return "bytes"
    integer = INTEGER.fullmatch(kind)
    if integer:
        return f"{'u' if integer[1] == 'u' else ''}int{8 * int(integer[2])}"
    if bits(attribute):
        return "bit" if bits(attribute) == 1 else "bits"
    if kind in ("str", "strz"):
        return "text"
    structure = library.of(attribute, owner)
    if structure and structure.is_primitive:
        return structure.format.removeprefix("kafka_")
    return structure.name if structure else str(kind)


def valid_words(attribute: Spec) -> str:
    """Return a field's valid values as text, empty where every value is valid."""
    if "contents" in attribute:
        return repr(attribute["contents"])
    valid = attribute.get("valid", attribute.get("-valid"))
    if valid is None:
        return ""
    if not isinstance(valid, dict):
        return str(valid)
    if "eq" in valid:
        return str(valid["eq"])
    if "any-of" in valid:
        return ", ".join(map(str, valid["any-of"]))
    least, most = valid.get("min"), valid.get("max")
    if least is not None and most is not None:
        return f"{least} to {most}"
    return f"≥ {least}" if least is not None else f"≤ {_hex(most)}"


def is_impossible(attribute: Spec) -> bool:
    """Return whether a field has no valid value: a specification's way to refuse bytes."""
    valid = attribute.get("valid")
    if not isinstance(valid, dict) or not {"min", "max"} <= valid.keys():
        return False
    return bool(valid["min"] > valid["max"])


def _hex(literal: object) -> str:
    return f"0x{literal:x}" if isinstance(literal, int) and literal > 0x7E else str(literal)


def null_words(attribute: Spec, structure: FormatStructure) -> str:
    """Return the value of a field that means null, such as -1; empty where no value does.

    It follows from the sentinel of the field's column, from another field that is present only
    where this field is not negative, or from the sentence about -1 in the field's description.
    """
    column = attribute.get("-column")
    if isinstance(column, dict) and "sentinel" in column:
        return str(column["sentinel"])
    for other in structure.fields:
        if re.fullmatch(rf"{attribute['id']}(\.value)? >= 0", str(other.get("if", ""))):
            return "< 0"
    doc = re.sub(r"\s+", " ", str(attribute.get("doc", "")))
    return "-1" if re.search(r"-1 (stands for none|where (it has|there is) none)", doc) else ""
