"""Files that Confluent's registry knows without a reference, as far as messages need them.

Google's well-known types come with protoc.
"""

_OPTIONS = ("File", "Message", "Field", "Enum", "EnumValue")

META = "\n".join(
    [
        'syntax = "proto3";',
        "package confluent;",
        'import "google/protobuf/descriptor.proto";',
        "message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }",
        *(
            f"extend google.protobuf.{kind}Options {{ Meta {name}_meta = 1088; }}"
            for kind, name in zip(
                _OPTIONS, ("file", "message", "field", "enum", "enum_value"), strict=True
            )
        ),
    ]
)

DECIMAL = "\n".join(
    [
        'syntax = "proto3";',
        "package confluent.type;",
        "message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }",
    ]
)

KNOWN_FILES = {"confluent/meta.proto": META, "confluent/type/decimal.proto": DECIMAL}
"""Texts of the files, by the names under which schemas import them."""
