"""Parses the forms of keys and values that users write: `value=avro:orders.avsc`, `key=string`.

The same text serves Python, the command line and Spark.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from magicbyte.errors import InputError

SIDES = ("key", "value")
FORMS = (
    *("int16", "int32", "int64", "float", "double"),
    *("string", "uuid", "boolean", "bytes"),
)
"""Forms of Kafka's own serializers."""
SUFFIXED_FORMS = ("windowed", "window-store", "session")
"""Forms of keys that end with the times of a window or a session."""
JOIN_FORMS = ("subscription", "subscription-response")
"""Forms of values of foreign-key joins, before the form of the primary key or of the right value."""
COMBINED_FORM = "combined"
"""Form of keys of foreign-key joins, before the forms of the foreign and of the primary key."""
COMPOSED_FORMS = (*SUFFIXED_FORMS, *JOIN_FORMS)
PLAIN_FORMS = ("auto", "registry", "connect", *FORMS)
FILE_FORMS = ("avro", "protobuf", "json")
"""Forms that take a schema file; `json` also goes without."""

EXPECTED = (
    f"one of {', '.join(PLAIN_FORMS)}, json, avro:FILE, json:FILE, protobuf:FILE[:MESSAGE], "
    f"{', '.join(COMPOSED_FORMS)} before a form, such as windowed:string, or {COMBINED_FORM} before two"
)


@dataclass(frozen=True, slots=True)
class DecodeForm:
    """The form of the keys or the values of a topic."""

    name: str
    """`auto`, `registry`, `avro`, `protobuf`, `json`, `connect`, `string`, ..., `combined` or a name of COMPOSED_FORMS."""
    file: str | None = None
    """Path of the schema's file."""
    message: str | None = None
    """Name of the Protobuf message."""
    inner: "DecodeForm | None" = None
    """Form of the key before the numbers of a window or session, of the key or value in a subscription or response, or
    of a foreign key."""
    primary: "DecodeForm | None" = None
    """Form of the primary key after a foreign key."""

    def __str__(self) -> str:
        parts = [
            self.name,
            self.file,
            self.message,
            None if self.inner is None else str(self.inner),
            None if self.primary is None else str(self.primary),
        ]
        return ":".join(part for part in parts if part is not None)


def parse_form(text: str, where: str = "form") -> DecodeForm:
    """Parse a form.

    Args:
        text: A form, such as `avro:orders.avsc`.
        where: Name of the argument for errors.
    Returns:
        The form.
    Raises:
        InputError: The text is no form.
    Example:
        >>> str(parse_form("protobuf:shop.proto:shop.Order").message)
        'shop.Order'
    """
    name, colon, rest = text.strip().partition(":")
    if name in PLAIN_FORMS and not colon:
        return DecodeForm(name)
    if name in COMPOSED_FORMS and rest:
        return DecodeForm(name, inner=_inner_form(rest, text, where))
    if name == COMBINED_FORM and rest:
        foreign, colon, primary = rest.partition(":")
        if not colon:
            raise InputError(f"{where} {text!r}", f"two forms, such as {name}:string:int64")
        inner = _inner_form(foreign, text, where)
        return DecodeForm(name, inner=inner, primary=_inner_form(primary, text, where))
    if name == "json" and not colon:
        return DecodeForm(name)
    if name in ("avro", "json") and rest:
        return DecodeForm(name, rest)
    if name == "protobuf" and rest:
        return _protobuf_form(rest)
    raise InputError(f"{where} {text!r}", EXPECTED)


def _inner_form(form: str, text: str, where: str) -> DecodeForm:
    """Return the form of a part of *text*."""
    if form not in FORMS:
        raise InputError(f"{where} {text!r}", f"one of {', '.join(FORMS)} in the place of {form!r}")
    return DecodeForm(form)


def _protobuf_form(file_and_message: str) -> DecodeForm:
    """Return the form of `FILE` or `FILE:MESSAGE`; a colon of a Windows drive is part of the file."""
    path, colon, message = file_and_message.rpartition(":")
    is_message = colon and path and message.replace(".", "").replace("_", "").isalnum()
    return (
        DecodeForm("protobuf", path, message)
        if is_message
        else DecodeForm("protobuf", file_and_message)
    )


def parse_decode_option(texts: Iterable[str]) -> dict[str, DecodeForm]:
    """Parse options such as `auto` or `key=string,value=avro:orders.avsc` into the forms of key and value.

    Args:
        texts: Options; later ones count.
    Returns:
        The forms by `key` and `value`; `auto` for a side that no option names.
    Raises:
        InputError: A text is no option.
    Example:
        >>> forms = parse_decode_option(["key=string,value=registry"])
        >>> str(forms["key"]), str(forms["value"])
        ('string', 'registry')
    """
    forms = {side: DecodeForm("auto") for side in SIDES}
    for text in texts:
        for part in _parts(text):
            side, equals, form = part.partition("=")
            if part == "auto":
                continue
            if not equals or side not in SIDES:
                raise InputError(
                    f"decode option {part!r}", "auto, key=FORM or value=FORM, separated by commas"
                )
            forms[side] = parse_form(form, side)
    return forms


def _parts(text: str) -> list[str]:
    """Return the parts of *text* between the commas that begin a new side; a file's name may have others."""
    option_texts: list[str] = []
    for piece in text.split(","):
        is_new = not option_texts or piece.strip().startswith(("key=", "value=", "auto"))
        if is_new:
            option_texts.append(piece.strip())
        else:
            option_texts[-1] += f",{piece}"
    return option_texts
