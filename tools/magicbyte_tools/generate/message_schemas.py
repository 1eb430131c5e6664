"""Prints the schemas of Kafka's messages as tables of Python, from spec/messages/*.yaml.

Kaitai Struct has no fields that depend on versions and releases, and no tagged fields. These files
therefore have their own form, which `spec/messages/README.md` describes and a JSON Schema checks.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from magicbyte_tools.generate.presence import release_of, releases_of, versions_of
from magicbyte_tools.generate.source import SPEC, Spec, load

PACKAGE = '"""Schemas of Kafka\'s messages, a module for each topic that contains them."""\n'

SCALARS = frozenset(
    {"bool", "int8", "int16", "int32", "int64", "uint16", "float64", "uuid", "string", "bytes"}
)


def load_all(folder: Path = SPEC / "messages") -> dict[str, Spec]:
    """Return the contents of all files of message schemas in *folder*, by id, sorted."""
    return {path.stem: load(path) for path in sorted(folder.glob("*.yaml"))}


def module(spec: Spec) -> str:
    """Return the Python module for *spec*, the contents of a file of message schemas."""
    parts = [f'"""{spec["title"]}."""\n']
    parts.append(
        "from magicbyte_kernels.message_schema import (\n"
        "    MessageField,\n    MessageSchema,\n    ReleaseRange,\n    VersionRange,\n)\n"
    )
    names = []
    for message in spec["messages"]:
        for name, field_specs in _structs(message):
            parts.append(
                f"{_constant(message['name'], name)} = {_fields(field_specs, message, 0)}\n"
            )
        name = _constant(message["name"])
        names.append(name)
        parts.append(f"{name} = {_message(message)}\n{_sentence(message['doc'])}\n")
    listed = "".join(f"    {name},\n" for name in names)
    parts.append(f"MESSAGES = (\n{listed})\n")
    return "\n".join(parts)


def _structs(message: Spec) -> list[tuple[str, list[Spec]]]:
    """Return the shared structs of *message*, each after the structs that it contains."""
    structs: dict[str, list[Spec]] = message.get("structs", {})
    in_order: dict[str, list[Spec]] = {}

    def visit(field_specs: list[Spec]) -> None:
        for field_spec in field_specs:
            name = field_spec["type"].removeprefix("[]")
            visit(field_spec.get("fields", []))
            if name in structs and name not in in_order:
                visit(structs[name])
                in_order[name] = structs[name]

    visit(message["fields"])
    return list(in_order.items())


def _constant(*names: str) -> str:
    return "_".join(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper() for name in names)


def _sentence(text: str) -> str:
    return f'"""{" ".join(text.split())}"""'.replace("\\", "\\\\")


def _message(message: Spec) -> str:
    former = [
        f"({number}, {_releases(releases)})"
        for number, releases in message.get("former_types", {}).items()
    ]
    versions = [(since, known) for since, known in message["versions"].items()]
    flexible = message.get("flexible", "none")
    if not isinstance(flexible, dict):
        flexible = {versions[0][0]: flexible}
    return (
        "MessageSchema(\n"
        f"    name={_text(message['name'])},\n"
        f"    type={message.get('type')},\n"
        f"    former_types={_tuple(former)},\n"
        f"    versions={_steps(versions)},\n"
        f"    flexible={_steps(list(flexible.items()))},\n"
        f"    fields={_fields(message['fields'], message, 1)},\n"
        ")"
    )


def _steps(version_steps: Sequence[tuple[str, str]]) -> str:
    return _tuple([f"({release_of(since)}, {_range(known)})" for since, known in version_steps])


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _fields(field_specs: Sequence[Spec], message: Spec, depth: int) -> str:
    inner = "    " * (depth + 1)
    lines = "".join(
        f"{inner}{_field(field_spec, message, depth + 1)},\n" for field_spec in field_specs
    )
    return f"(\n{lines}{'    ' * depth})" if lines else "()"


def _field(field_spec: Spec, message: Spec, depth: int) -> str:
    type_name: str = field_spec["type"]
    element = type_name.removeprefix("[]")
    arguments = {
        "name": _text(json_name(field_spec["name"])),
        "kind": _text(element),
        "is_array": type_name.startswith("[]") or None,
        "is_nullable": field_spec.get("nullable"),
        "versions": _range(field_spec["versions"]) if "versions" in field_spec else None,
        "releases": _releases(field_spec["releases"]) if "releases" in field_spec else None,
        "tag": field_spec.get("tag"),
        "default": field_spec.get("default"),
        "values": _names(field_spec["values"]) if "values" in field_spec else None,
        "is_null_by_default": ("default" in field_spec and field_spec["default"] is None) or None,
    }
    if element in message.get("structs", {}):
        arguments |= {"kind": _text("struct"), "fields": _constant(message["name"], element)}
    elif element not in SCALARS:
        arguments |= {"kind": _text("struct"), "struct": _text(element)}
        arguments["fields"] = _fields(field_spec["fields"], message, depth)
    given = (f"{key}={value}" for key, value in arguments.items() if value is not None)
    return f"MessageField({', '.join(given)})"


def _names(values: dict[str, str]) -> str:
    return _tuple([f"({number}, {_text(name)})" for number, name in values.items()])


def _text(text: str) -> str:
    return f'"{text}"'


def json_name(name: str) -> str:
    """Return the name that the field *name* has in Kafka's JSON."""
    return name[0].lower() + name[1:]


def _range(text: str) -> str:
    if text == "none":
        return "None"
    versions = versions_of(text)
    return f"VersionRange({versions.start}, {None if text.endswith('+') else versions.stop - 1})"


def _releases(text: str) -> str:
    first, last = releases_of(text)
    return f"ReleaseRange({first}, {last})"
