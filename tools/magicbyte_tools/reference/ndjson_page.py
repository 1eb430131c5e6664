"""The page docs/reference/ndjson.md: the objects that commands print with `--format ndjson`."""

from magicbyte_tools.reference.ndjson_objects import NDJSON_OBJECTS, NdjsonObject

NOTE = "<!-- Generated from tools/magicbyte_tools/reference/ndjson_objects.py by `make docs`. Do not edit. -->"

INTRODUCTION = """\
# NDJSON

With `--format ndjson` a command prints one JSON object per line on stdout, in UTF-8. Fields have the names and the order of the table's
[columns](tables.md); a null is written as `null`, and no field is left out. Read it with `jq`, `read_json_auto` of DuckDB, or
`pl.read_ndjson`.

| type of a column | in JSON |
|---|---|
| integers | a number; 64 bits, so a program that reads numbers as doubles loses digits above 2^53 |
| `timestamp` | a number: milliseconds since the Unix epoch, UTC; ISO 8601 with [`--time iso`](commands.md#dump.--time) of `dump`, and in `groups` |
| `binary`: keys, values, headers | text, hex or base64, as [`--bytes`](commands.md#dump.--bytes) says. With `text`, the default, a second field says which it is: `value_encoding` is `utf-8`, or `base64` for bytes that are not UTF-8 |
| `list`, `struct` | an array, an object |

`dump`, `export`, `sql` and `pcap` print the rows of a table, one object each, without `kind`. The other commands print objects of several
kinds, which the field `kind` tells apart:

    magicbyte verify /var/lib/kafka --format ndjson | jq 'select(.kind == "problem" and .severity == "error")'
"""


def ndjson_page() -> str:
    """Return the page as Markdown."""
    lines = [NOTE, INTRODUCTION]
    for command, objects in NDJSON_OBJECTS.items():
        lines += [f"## {command}", ""]
        for each in objects:
            lines += _object(each)
    return "\n".join(lines).rstrip() + "\n"


def _object(ndjson_object: NdjsonObject) -> list[str]:
    kind = "" if ndjson_object.kind is None else f"`kind`: `{ndjson_object.kind}`. "
    rows = [
        f"| `{name}` | {sentence} |".replace("\n", " ")
        for name, sentence in ndjson_object.fields.items()
    ]
    return [f"{kind}{ndjson_object.meaning}", "", "| field | |", "|---|---|", *rows, ""]
