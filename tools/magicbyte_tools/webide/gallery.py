"""python -m magicbyte_tools.webide.gallery OUT: write a pull request to Kaitai's gallery of formats.

The gallery is Kaitai's public collection of formats, which the Web IDE shows too. It has one folder
per kind of format; its files import each other by absolute names, without magicbyte's own keys.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from magicbyte_tools.generate.kaitai import VERSION
from magicbyte_tools.generate.source import SPEC, load

FOLDER = "log"

LEFT_OUT = {
    "kafka_crc": "works out a checksum, which the gallery does not want a specification to do",
    "kafka_record_batch_checked": "needs kafka_crc",
    "kafka_record_batch_kip_931": "no file has it: the proposal was discarded",
}

_KEY = re.compile(r"( *(?:- )?)(-[a-z][a-z-]*):(?: |$)")
_KEPT = re.compile(r"-orig-id|-webide-[a-z-]+")
_IMPORT = re.compile(r"    - (kafka_\w+)")

PULL_REQUEST = """\
# Apache Kafka: log segments, record batches, companion files

{count} formats: everything that a Kafka broker keeps in a partition's folder, from 0.8 (message
format v0) to 4.x (v2), with the checkpoints and KRaft's snapshots. CC0-1.0.

{table}

Start with `kafka_log`, which tells the three message formats apart and reads files that mix them.
The others that are no files of their own are imported by it, or describe what comes out of a
decompressor or lies in a record's value.

## Samples

Every broker writes them: a log directory (`log.dirs`) has a folder per partition, with `.log`,
`.index`, `.timeindex`, `.txnindex`, `.snapshot`, `leader-epoch-checkpoint` and
`partition.metadata` files. The magicbyte repository has some of Kafka 2.8.2, 3.9.2 and 4.3.1 in
`tests/data`, and small files of one case each, with what a parser is to make of them, in
`tests/vectors`; both may be copied.

## What was tested

- Every file compiles with kaitai-struct-compiler {version} for all of its targets, and read-write
  for Java and Python, with the imports as they are here: what `_build/build-target` does.
- The generated JavaScript and Python read those files; the fields account for every byte exactly
  once.
- Read, checked and written again by the generated Python in read-write mode, they come out as
  they were.
- `kafka_log`, the indexes and the snapshots were opened in the Web IDE.

## What the language cannot say

- Compressed payloads are bytes: Kafka's framings of snappy and lz4 are its own. What comes out
  of the decompressor is `kafka_records` (v2) or `kafka_log` (v0, v1).
- Checksums are not verified.
- Integers beyond 2**53 are rounded in JavaScript.
- `kafka_varint`, `kafka_varlong` and `kafka_uvarint` are not `/common/vlq_base128_le`: Kafka's
  reader refuses a 6th byte (32 bits) and drops the bits above 32 or 64, where that one refuses
  them, and its values are zigzag-mapped. Theirs are also exact in JavaScript up to 2**53.
- A few expressions look roundabout: arithmetic casts both operands and uses neither shifts nor
  `|`, so that all targets agree on 64-bit values.
"""


def gallery(folder: Path = SPEC) -> dict[str, str]:
    """Return the files of the pull request by path, including its text PULL_REQUEST.md."""
    sources = [path for path in sorted(folder.glob("*.ksy")) if path.stem not in LEFT_OUT]
    files = {
        f"{FOLDER}/{source.name}": for_gallery(source.read_text("utf-8")) for source in sources
    }
    titles = [f"| `{source.stem}` | {load(source)['meta']['title']} |" for source in sources]
    table = "\n".join(["| file | describes |", "| --- | --- |", *titles])
    text = PULL_REQUEST.format(count=len(sources), table=table, version=VERSION)
    return files | {"PULL_REQUEST.md": text}


def for_gallery(text: str) -> str:
    """Return the text of a specification without magicbyte's own keys, and with absolute imports.

    It is edited line by line, because parsing and writing YAML would lose comments and layout.
    """
    lines = (_IMPORT.sub(rf"    - /{FOLDER}/\1", line) for line in _without_ours(text))
    return "\n".join(lines) + "\n"


def _without_ours(text: str) -> Iterator[str]:
    """Yield the lines of *text* without magicbyte's own keys and the lines indented below them."""
    dropped_at: int | None = None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if dropped_at is not None and (not line or indent > dropped_at):
            continue
        key = _KEY.match(line)
        dropped_at = None
        if key and not _KEPT.fullmatch(key[2]):
            if key[1].endswith("- "):
                raise ValueError(f"an item begins with a key of ours: {line}")
            dropped_at = indent
            continue
        yield line


def main(out: Path) -> None:
    """Write the files of the pull request below *out*, and print their paths."""
    for name, text in gallery().items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
        print(path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m magicbyte_tools.webide.gallery OUT")
    main(Path(sys.argv[1]))
