"""Fields of the records of a schema registry: JSON that is checked before it is used."""

import json
from collections.abc import Iterator, Mapping
from typing import Any


class RegistryRecordError(ValueError):
    """A record of the registry's topic, or an answer of the registry, is not as the registry writes it."""

    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(f"{field} is {found[:100]}, expected {expected}")
        self.field, self.found, self.expected = field, found, expected


def json_object(data: bytes | None, field: str) -> dict[str, Any]:
    """Return the JSON object in *data*, the key or value of a record."""
    if data is None:
        raise RegistryRecordError(field, "null", "a JSON object")
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RegistryRecordError(field, repr(data[:80]), f"a JSON object: {error}") from error
    if not isinstance(parsed, dict):
        raise RegistryRecordError(field, repr(parsed), "a JSON object")
    return parsed


def required_text(fields: Mapping[str, Any], name: str) -> str:
    text = fields.get(name)
    if not isinstance(text, str):
        raise RegistryRecordError(name, repr(text), "a string")
    return text


def optional_text(fields: Mapping[str, Any], name: str) -> str | None:
    return None if fields.get(name) is None else required_text(fields, name)


def required_integer(fields: Mapping[str, Any], name: str) -> int:
    """Return the field *name*, an int32."""
    number = fields.get(name)
    if (
        not isinstance(number, int)
        or isinstance(number, bool)
        or not -(1 << 31) <= number < 1 << 31
    ):
        raise RegistryRecordError(name, repr(number), "a 32-bit integer")
    return number


def references_of(references: Any) -> Iterator[tuple[str, str, int]]:
    """Yield name, subject and version of each of *references*, as the registry writes them."""
    if references is None:
        return
    if not isinstance(references, list) or not all(isinstance(one, dict) for one in references):
        raise RegistryRecordError("references", repr(references), "a list of objects")
    for one in references:
        yield (
            required_text(one, "name"),
            required_text(one, "subject"),
            required_integer(one, "version"),
        )


def rules_digest(properties: Mapping[str, Any] | None, rule_set: Mapping[str, Any] | None) -> bytes:
    """Return the bytes that metadata and rules add to the hash of a GUID.

    The order is as in the `updateHash` methods of Confluent's classes Metadata, RuleSet and Rule: maps and
    sets sorted, rules in their order.
    """
    parts: list[str] = []
    if properties is not None:
        tags = properties.get("tags")
        for name, values in sorted(tags.items() if isinstance(tags, dict) else ()):
            parts += [name, *sorted(_texts(values))]
        parts += _sorted_members(properties.get("properties"))
        parts += sorted(_texts(properties.get("sensitive")))
    for name in ("migrationRules", "domainRules", "encodingRules"):
        rules = rule_set.get(name) if rule_set is not None else None
        for rule in rules if isinstance(rules, list) else ():
            if isinstance(rule, dict):
                parts += _rule_parts(rule)
    return "".join(parts).encode("utf-8", "surrogatepass")


def _rule_parts(rule: Mapping[str, Any]) -> Iterator[str]:
    yield from _texts([rule.get("name"), rule.get("doc")])
    yield from _texts([rule.get("kind") or "TRANSFORM", rule.get("mode") or "WRITEREAD"])
    yield from _texts([rule.get("type")])
    yield from sorted(_texts(rule.get("tags")))
    yield from _sorted_members(rule.get("params"))
    yield from _texts([rule.get("expr"), rule.get("onSuccess"), rule.get("onFailure")])
    if rule.get("disabled") is True:
        yield "\x01"


def _texts(values: Any) -> list[str]:
    return [text for text in values if isinstance(text, str)] if isinstance(values, list) else []


def _sorted_members(members: Any) -> list[str]:
    """Return names and values of *members*, a JSON object, by name."""
    items = sorted(members.items()) if isinstance(members, dict) else []
    return [text for item in items for text in _texts(list(item))]
