"""Random Protobuf schemas as descriptors, and messages of them by google.protobuf, for tests and the fuzzer."""

from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

from magicbyte_tools.fuzz.protobuf_values import MessageFiller

WELL_KNOWN = {
    "timestamp": ("Timestamp",),
    "duration": ("Duration",),
    "wrappers": (
        *("DoubleValue", "FloatValue", "Int64Value", "UInt64Value", "Int32Value", "UInt32Value"),
        *("BoolValue", "StringValue", "BytesValue"),
    ),
    "any": ("Any",),
    "empty": ("Empty",),
    "field_mask": ("FieldMask",),
    "struct": ("Struct", "Value", "ListValue"),
}
"""Messages of google.protobuf, by their files."""
SCALARS = (
    *(Field.TYPE_DOUBLE, Field.TYPE_FLOAT, Field.TYPE_INT64, Field.TYPE_UINT64, Field.TYPE_INT32),
    *(Field.TYPE_FIXED64, Field.TYPE_FIXED32, Field.TYPE_BOOL, Field.TYPE_STRING),
    *(Field.TYPE_BYTES, Field.TYPE_UINT32, Field.TYPE_SFIXED32, Field.TYPE_SFIXED64),
    *(Field.TYPE_SINT32, Field.TYPE_SINT64),
)
UNPACKED = (Field.TYPE_STRING, Field.TYPE_BYTES, Field.TYPE_MESSAGE, Field.TYPE_GROUP)
NO_KEYS = (Field.TYPE_DOUBLE, Field.TYPE_FLOAT, Field.TYPE_BYTES)
MAP_KEYS = tuple(one for one in SCALARS if one not in NO_KEYS)
NAMES = (
    *("id", "name", "value", "key", "from", "class", "order", "select", "Select", "_x", "x__y"),
    *("DESCRIPTOR", "HasField", "ListFields", "FromString", "SerializeToString", "None", "a"),
    *("camelCase", "UPPER", "offset", "seconds", "nanos", "item", "entries"),
)
"""Names of fields, keywords of Python and SQL and names of methods among them."""
SYNTAXES = ("proto3", "proto3", "proto2", "editions")
MAX_NUMBER = (1 << 29) - 1
MAX_DEPTH = 3
RESERVED_NUMBERS = range(19_000, 20_000)


class TypeName(NamedTuple):
    """A message or enum that fields may have."""

    name: str
    file: str
    is_closed: bool = False
    has_zero: bool = True


class ProtobufCase(NamedTuple):
    """A schema, and the message of it that values are of."""

    descriptor_set: bytes
    name: str
    path: tuple[int, ...]
    """Message indexes: the place of the message in the last file of the set."""


class ProtobufCases:
    """Draws schemas and messages from *random*."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def case(self) -> ProtobufCase:
        """Draw a schema of one to three files."""
        builder = _SchemaBuilder(self.random)
        return builder.case()

    def messages(self, case: ProtobufCase, count: int) -> tuple[Any, list[bytes]]:
        """Return the class of *case*'s message in a pool of its own, and *count* serialized messages.

        A tenth are two messages one after the other, which is their merger.
        """
        message_class = judge_class(case)
        filler = MessageFiller(self.random)
        contents = []
        for _ in range(count):
            content = filler.message(message_class).SerializePartialToString()
            if self.random.random() < 0.1:
                content += filler.message(message_class).SerializePartialToString()
            contents.append(content)
        return message_class, contents


def judge_class(case: ProtobufCase) -> Any:
    """Return google.protobuf's class of the message of *case*."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(case.descriptor_set).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(case.name))


class _SchemaBuilder:
    def __init__(self, random: Random) -> None:
        self.random = random
        self._files: list[Any] = []
        self._messages: list[TypeName] = []
        self._enums: list[TypeName] = []
        self._syntax = ""
        self._file: Any = None

    def case(self) -> ProtobufCase:
        for number in range(self.random.choice((1, 1, 2, 3))):
            self._add_file(f"f{number}.proto")
        main = self._files[-1]
        file_set = descriptor_pb2.FileDescriptorSet(file=[*_imports(self._files), *self._files])
        places = list(_places(main.package, main.message_type, ()))
        name, path = self.random.choice(places) if self.random.random() < 0.3 else places[-1]
        return ProtobufCase(file_set.SerializeToString(), name, path)

    def _lot(self, share: float) -> bool:
        return self.random.random() < share

    def _add_file(self, name: str) -> None:
        self._syntax = self.random.choice(SYNTAXES)
        package = self.random.choice(("", "p", "a.b", f"q{len(self._files)}"))
        self._file = descriptor_pb2.FileDescriptorProto(name=name, package=package)
        if self._syntax == "editions":
            self._file.edition = descriptor_pb2.EDITION_2023
        self._file.syntax = self._syntax
        scope = f".{package}" if package else ""
        tag = f"{len(self._files)}"
        for number in range(self.random.randrange(3)):
            self._add_enum(self._file.enum_type, scope, f"E{tag}{number}")
        for number in range(self.random.randint(1, 3)):
            self._add_message(self._file.message_type, scope, f"M{tag}{number}", 0)
        if self._syntax == "proto2":
            self._add_extensions()
        self._files.append(self._file)

    def _use(self, type_name: TypeName) -> str:
        """Return the name of *type_name*, whose file is imported."""
        if type_name.file not in (self._file.name, *self._file.dependency):
            self._file.dependency.append(type_name.file)
        return type_name.name

    def _add_enum(self, enum_protos: Any, scope: str, name: str) -> TypeName:
        enum_proto = enum_protos.add(name=name)
        is_closed = self._syntax == "proto2"
        if self._syntax == "editions" and self._lot(0.3):
            enum_proto.options.features.enum_type = descriptor_pb2.FeatureSet.CLOSED
            is_closed = True
        numbers = [0, *self.random.sample(range(-5, 400), self.random.randint(0, 4))]
        if is_closed and self._lot(0.3):
            numbers = numbers[::-1]
        numbers = list(dict.fromkeys(numbers))
        if self._lot(0.2):
            enum_proto.options.allow_alias = True
            numbers.append(numbers[0])
        for place, number in enumerate(numbers):
            enum_proto.value.add(name=f"{name}_{place}".upper(), number=number)
        full = TypeName(f"{scope}.{name}", self._file.name, is_closed, numbers[0] == 0)
        self._enums.append(full)
        return full

    def _add_message(self, message_protos: Any, scope: str, name: str, depth: int) -> TypeName:
        message_proto = message_protos.add(name=name)
        full_name = f"{scope}.{name}"
        if depth < MAX_DEPTH:
            for number in range(self.random.choice((0, 0, 0, 1, 2))):
                self._add_message(message_proto.nested_type, full_name, f"N{number}", depth + 1)
            if self._lot(0.2):
                self._add_enum(message_proto.enum_type, full_name, f"E{name}")
        if self._lot(0.15):  # a message that contains itself
            self._messages.append(TypeName(full_name, self._file.name))
        _FieldsBuilder(self, message_proto, full_name).add(self._num_fields())
        if self._syntax == "proto2" and self._lot(0.3):
            message_proto.extension_range.add(start=100_000, end=100_010)
        self._messages.append(TypeName(full_name, self._file.name))
        return self._messages[-1]

    def _num_fields(self) -> int:
        return self.random.choice((0, 1, 2, 3, 4, 5, 6, 8, 70 if self._lot(0.1) else 7))

    def _add_extensions(self) -> None:
        for place, (name, _) in enumerate(
            (name, message_proto)
            for name, message_proto in _named_messages(self._file.package, self._file.message_type)
            if message_proto.extension_range
        ):
            extension = self._file.extension.add(
                name=f"ext{len(self._files)}{place}", number=100_000
            )
            extension.extendee, extension.type = f".{name}", self.random.choice(SCALARS)
            extension.label = Field.LABEL_OPTIONAL


class _FieldsBuilder:
    """Adds fields to a message."""

    def __init__(self, schema_builder: _SchemaBuilder, message_proto: Any, full_name: str) -> None:
        self._schema, self._message, self._full_name = schema_builder, message_proto, full_name
        self._random, self._syntax = schema_builder.random, schema_builder._syntax
        self._names: set[str] = set()
        self._json_names: set[str] = set()
        self._numbers: set[int] = set()

    def add(self, count: int) -> None:
        adders: list[Callable[[], Any]] = []
        for _ in range(count):
            lot = self._random.random()
            if lot < 0.5:
                adders.append(self._add_single)
            elif lot < 0.75:
                adders.append(self._add_repeated)
            elif lot < 0.87:
                adders.append(self._add_map)
            elif lot < 0.95:
                adders.append(self._add_oneof)
            else:
                adders.append(self._add_group)
        for add in adders:
            add()
        # Synthetic oneofs come after the others.
        for member in self._message.field:
            if member.proto3_optional:
                member.oneof_index = len(self._message.oneof_decl)
                self._message.oneof_decl.add(name=f"_{member.name}_synthetic")

    def _new(self, label: int) -> Any:
        base = self._random.choice(NAMES)
        name, place = base, 0
        while name in self._names or _json_name(name) in self._json_names:
            place += 1
            name = f"{base}{place}"
        self._names.add(name)
        self._json_names.add(_json_name(name))
        number = self._random.choice((len(self._numbers) + 1, self._random.randint(1, 40)))
        if self._random.random() < 0.02:
            number = self._random.choice((MAX_NUMBER, 1 << 20, 70_000, 16, 2047, 2048))
        while number in self._numbers or number in RESERVED_NUMBERS:
            number += 1 if number < 90_000 else -1
        self._numbers.add(number)
        return self._message.field.add(name=name, number=number, label=label)

    def _set_type(self, member: Any, *, in_map: bool = False) -> None:
        lot = self._random.random()
        if lot < 0.6:
            member.type = self._random.choice(SCALARS)
        elif lot < 0.72:
            self._set_enum(member, in_map=in_map)
        elif lot < 0.85 and self._schema._messages:
            member.type = Field.TYPE_MESSAGE
            member.type_name = self._schema._use(self._random.choice(self._schema._messages))
        else:
            member.type = Field.TYPE_MESSAGE
            file = self._random.choice(list(WELL_KNOWN)[: 7 if self._random.random() < 0.6 else 6])
            kind = f".google.protobuf.{self._random.choice(WELL_KNOWN[file])}"
            member.type_name = self._schema._use(TypeName(kind, f"google/protobuf/{file}.proto"))

    def _set_enum(self, member: Any, *, in_map: bool) -> None:
        is_proto3 = self._syntax == "proto3"
        usable = [
            one
            for one in self._schema._enums
            if (one.has_zero or not in_map) and not (is_proto3 and one.is_closed)
        ]
        if not usable:
            member.type = Field.TYPE_INT32
            return
        member.type = Field.TYPE_ENUM
        chosen = self._random.choice(usable)
        member.type_name = self._schema._use(chosen)

    def _add_single(self) -> None:
        member = self._new(Field.LABEL_OPTIONAL)
        self._set_type(member)
        lot = self._random.random()
        is_message = member.type == Field.TYPE_MESSAGE
        if self._syntax == "proto3" and lot < 0.3:
            member.proto3_optional = True
        elif self._syntax == "proto2":
            if lot < 0.1:
                member.label = Field.LABEL_REQUIRED
            elif (
                lot < 0.4
                and not is_message
                and member.type in (Field.TYPE_INT32, Field.TYPE_SINT64)
            ):
                member.default_value = "-7"
            elif lot < 0.4 and member.type == Field.TYPE_STRING:
                member.default_value = "a default"
        elif self._syntax == "editions" and not is_message:
            presence = descriptor_pb2.FeatureSet
            if lot < 0.3 and member.type != Field.TYPE_ENUM:
                member.options.features.field_presence = presence.IMPLICIT
            elif lot < 0.4:
                member.options.features.field_presence = presence.LEGACY_REQUIRED

    def _add_repeated(self) -> None:
        member = self._new(Field.LABEL_REPEATED)
        self._set_type(member)
        if member.type not in UNPACKED:
            if self._syntax == "editions":
                if self._random.random() < 0.3:
                    features = member.options.features
                    features.repeated_field_encoding = descriptor_pb2.FeatureSet.EXPANDED
            elif self._random.random() < 0.5:
                member.options.packed = self._random.random() < 0.5

    def _add_map(self) -> None:
        member = self._new(Field.LABEL_REPEATED)
        name = f"{_camel(member.name)}Entry"
        entry = self._message.nested_type.add(name=name)
        entry.options.map_entry = True
        entry.field.add(
            name="key", number=1, label=Field.LABEL_OPTIONAL, type=self._random.choice(MAP_KEYS)
        )
        value = entry.field.add(name="value", number=2, label=Field.LABEL_OPTIONAL)
        self._set_type(value, in_map=True)
        member.type, member.type_name = Field.TYPE_MESSAGE, f"{self._full_name}.{name}"

    def _add_oneof(self) -> None:
        index = len(self._message.oneof_decl)
        self._message.oneof_decl.add(name=f"choice{index}")
        for _ in range(self._random.randint(1, 4)):
            member = self._new(Field.LABEL_OPTIONAL)
            self._set_type(member)
            member.oneof_index = index

    def _add_group(self) -> None:
        if self._syntax == "proto3":
            self._add_single()
            return
        label = self._random.choice((Field.LABEL_OPTIONAL, Field.LABEL_REPEATED))
        if self._syntax == "editions":
            member = self._new(label)
            delimited = descriptor_pb2.FeatureSet.DELIMITED
            member.options.features.message_encoding = delimited
            usable = self._schema._messages
            if not usable:
                member.ClearField("options")
                member.type = Field.TYPE_INT32
                return
            member.type = Field.TYPE_MESSAGE
            member.type_name = self._schema._use(self._random.choice(usable))
            return
        member = self._new(label)
        name = f"Grp{len(self._message.nested_type)}"
        group = self._message.nested_type.add(name=name)
        group.field.add(name="x", number=1, label=Field.LABEL_OPTIONAL, type=Field.TYPE_INT32)
        group.field.add(name="y", number=3, label=Field.LABEL_REPEATED, type=Field.TYPE_STRING)
        member.type, member.type_name = Field.TYPE_GROUP, f"{self._full_name}.{name}"


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _json_name(name: str) -> str:
    first, *others = name.split("_")
    return (first + "".join(part[:1].upper() + part[1:] for part in others)).lower()


def _imports(files: list[Any]) -> list[Any]:
    """Return the files of google.protobuf that *files* import."""
    file_names = dict.fromkeys(name for file in files for name in file.dependency)
    protos = []
    for name in file_names:
        if name.startswith("google/"):
            module = import_module(name.replace("/", ".").removesuffix(".proto") + "_pb2")
            proto = descriptor_pb2.FileDescriptorProto()
            module.DESCRIPTOR.CopyToProto(proto)
            protos.append(proto)
    return protos


def _named_messages(scope: str, message_protos: Any) -> list[tuple[str, Any]]:
    """Return *message_protos*, and those inside of them, with their full names."""
    named = []
    for message_proto in message_protos:
        name = f"{scope}.{message_proto.name}" if scope else message_proto.name
        named += [(name, message_proto), *_named_messages(name, message_proto.nested_type)]
    return named


def _places(
    scope: str, message_protos: Any, path: tuple[int, ...]
) -> list[tuple[str, tuple[int, ...]]]:
    """Return the full names of *message_protos* and of those inside of them, with their indexes; the last is at the top."""
    nested, top = [], []
    for number, message_proto in enumerate(message_protos):
        name = f"{scope}.{message_proto.name}" if scope else message_proto.name
        if not message_proto.options.map_entry:
            nested += _places(name, message_proto.nested_type, (*path, number))
            top.append((name, (*path, number)))
    return nested + top
