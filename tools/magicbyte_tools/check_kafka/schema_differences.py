"""Compares message classes of a Kafka release with the schemas generated from spec/messages."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Sequence

import magicbyte_formats.messages
from magicbyte_kernels.message_schema import MessageField, MessageSchema, Release
from magicbyte_tools.check_kafka.message_classes import (
    NOT_IN_MESSAGES,
    ClassField,
    MessageClass,
    VersionSchema,
)

KINDS = {"bool": "boolean"}
"""Kafka's names of kinds, where spec/messages has another."""

SAME_BYTES = {"records": "bytes"}
"""Kafka's kinds that are encoded as another kind."""


def message_schemas() -> list[MessageSchema]:
    """Return the schemas of all messages in spec/messages."""
    package = magicbyte_formats.messages
    modules = [
        importlib.import_module(f"{package.__name__}.{module.name}")
        for module in pkgutil.iter_modules(package.__path__)
    ]
    return [schema for module in modules for schema in module.MESSAGES]


def differences(
    classes: Iterable[MessageClass], schemas: Iterable[MessageSchema], release: Release
) -> Iterator[str]:
    """Yield a line for each message, version or field that only one side has in *release*."""
    by_name = {schema.name: schema for schema in schemas if schema.versions_in(release)}
    exceptions = set(NOT_IN_MESSAGES)
    for message_class in classes:
        schema = by_name.pop(message_class.schema_name, None) if message_class.schemas else None
        if not message_class.schemas or (message_class.is_rpc and schema is None):
            continue
        if message_class.name in exceptions:
            exceptions.remove(message_class.name)
        elif schema is None:
            yield f"{message_class.name}: in {message_class.jar}, but not in spec/messages"
        else:
            yield from _of_message(message_class, schema, release)
    for name in by_name:
        yield f"{name}: in spec/messages, but not in Kafka {'.'.join(map(str, release))}"
    for name in sorted(exceptions):
        yield f"{name}: an exception in message_classes.py, but not in Kafka"


def _of_message(
    message_class: MessageClass, schema: MessageSchema, release: Release
) -> Iterator[str]:
    name, key = schema.name, None if message_class.is_rpc else message_class.api_key
    if key is not None and key >= 0 and not schema.is_type(key, release):
        yield f"{name}: Kafka identifies it by {key}, spec/messages by {schema.type}"
    known = schema.versions_in(release)
    for version, of_class in message_class.schemas.items():
        if known is None or version not in known:
            yield f"{name}: version {version} is not in spec/messages"
        else:
            yield from _of_version(f"{name} {version}", version, of_class, schema, release)
    last = max(message_class.schemas)
    if known is not None and (known.last is None or known.last > last):
        yield f"{name}: spec/messages has versions after {last}, Kafka has none"


def _of_version(
    name: str, version: int, of_class: VersionSchema, schema: MessageSchema, release: Release
) -> Iterator[str]:
    if of_class.is_flexible != schema.is_flexible(version, release):
        yield f"{name}: it is flexible only in {'Kafka' if of_class.is_flexible else 'spec/messages'}"
    yield from _of_fields(name, version, of_class.class_fields, schema.fields, release)


def _of_fields(
    path: str,
    version: int,
    of_class: Sequence[ClassField],
    of_schema: Sequence[MessageField],
    release: Release,
) -> Iterator[str]:
    fields = {
        plain(field.name): field
        for field in of_schema
        if version in field.versions and release in field.releases
    }
    names = [plain(field.name) for field in of_class]
    for class_field in of_class:
        name = f"{path}.{class_field.name}"
        field = fields.get(plain(class_field.name))
        if field is None:
            yield f"{name}: not in spec/messages"
        elif (shape := _shape(field)) != (class_shape := _class_shape(class_field)):
            yield f"{name}: Kafka has {class_shape}, spec/messages {shape}"
        else:
            yield from _of_fields(name, version, class_field.class_fields, field.fields, release)
    for key in fields.keys() - set(names):
        yield f"{path}.{fields[key].name}: in spec/messages, but not in Kafka"
    untagged = [key for key, field in fields.items() if field.tag is None and key in names]
    if untagged != [name for name in names if name in untagged]:
        yield f"{path}: the fields are in another order in spec/messages"


def plain(name: str) -> str:
    """Return *name* in the form that `leader_epoch` and `leaderEpoch` share."""
    return name.replace("_", "").lower()


def _shape(field: MessageField) -> str:
    # Kafka's classes do not say of every struct whether it may be null.
    is_nullable = field.is_nullable and (field.is_array or field.kind != "struct")
    return _text(KINDS.get(field.kind, field.kind), field.is_array, is_nullable, field.tag)


def _class_shape(class_field: ClassField) -> str:
    is_nullable = class_field.is_nullable and (class_field.is_array or class_field.kind != "struct")
    kind = SAME_BYTES.get(class_field.kind, class_field.kind)
    return _text(kind, class_field.is_array, is_nullable, class_field.tag)


def _text(kind: str, is_array: bool, is_nullable: bool, tag: int | None) -> str:
    text = f"{'nullable ' if is_nullable else ''}{'array of ' if is_array else ''}{kind}"
    return text if tag is None else f"{text} with tag {tag}"
