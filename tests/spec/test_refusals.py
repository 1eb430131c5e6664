"""Bytes that every generated parser refuses by itself, and those that it cannot: in two languages.

What is told apart by more than the grammar (checksums, codecs, offsets) is not here.
"""

import importlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import kaitaistruct
import pytest

from magicbyte_tools.generate import kaitai
from magicbyte_tools.generate.parsers import camel
from paths import CHECKOUT

HEADER = "0000000000000000 {len} ffffffff 02 00000000 0000 00000000 0000018f125c7400"
HEADER += "0000018f125c7400 ffffffffffffffff ffff ffffffff {num}"


def batch(payload: str, num: int = 1) -> str:
    """A batch of v2 around records, with the length that they have."""
    size = 49 + len(bytes.fromhex(payload))
    return HEADER.format(len=f"{size:08x}", num=f"{num & 0xFFFFFFFF:08x}") + payload


def control(key: str, value: str) -> str:
    """Key and value of a control record, behind their lengths."""
    return "".join(f"{2 * len(bytes.fromhex(part)):02x}{part}" for part in (key, value))


V1 = "0000000000000001 0000001c 2533d1a8 01 00 0000018f125c7400 00000001 6b 00000005 776f726c64"
RECORD = "10 00 00 00 02 6b 02 76 00"
SNAPSHOT = "0001 00000000 00000001" + 46 * "00"

SOUND = {
    "v1": ("kafka_log", V1),
    "v2": ("kafka_log", batch(RECORD)),
    "record": ("kafka_records", RECORD),
    "no records, but bytes": ("kafka_log", batch(RECORD, num=0)),
    "footer": ("kafka_control_record", control("00000004", "000000")),
    "producer snapshot": ("kafka_producer_snapshot", SNAPSHOT),
}

BROKEN = {
    "v1, length of 13": ("kafka_log", V1.replace("0000001c", "0000000d")),
    "v1, negative length": ("kafka_log", V1.replace("0000001c", "ffffffff")),
    "v1, key beyond the message": ("kafka_log", V1.replace("00000001 6b", "00000011 6b")),
    "v1, key of 2^31-1": ("kafka_log", V1.replace("00000001 6b", "7fffffff 6b")),
    "v2, length below 49": ("kafka_log", batch(RECORD).replace("0000003a", "00000030", 1)),
    "v2, another magic": ("kafka_log", batch(RECORD).replace("ffffffff 02", "ffffffff 05", 1)),
    "a cut entry of another magic": ("kafka_log", "0000000000000000 0000003a ffffffff 25"),
    "v2, -1 records": ("kafka_log", batch("", num=-1)),
    "v2, records that are not there": ("kafka_log", batch(RECORD, num=2)),
    "v2, 2^31-1 records": ("kafka_log", batch(RECORD, num=2**31 - 1)),
    "v2, a record too many": ("kafka_log", batch(RECORD + RECORD)),
    "v2, a byte behind the records": ("kafka_log", batch(RECORD + "00")),
    "record, negative length": ("kafka_records", "01" + RECORD[2:]),
    "record, length of 0": ("kafka_records", "00" + RECORD[2:]),
    "record, length of 2^31-1": ("kafka_records", "feffffff0f" + RECORD[2:]),
    "record, length of -2^31": ("kafka_records", "ffffffff0f" + RECORD[2:]),
    "record, length too small": ("kafka_records", "0e" + RECORD[2:-2]),
    "key beyond the record": ("kafka_records", "10 00 00 00 12 6b 02 76 00"),
    "value of 2^31-1": ("kafka_records", "18 00 00 00 02 6b feffffff0f 76 00"),
    "header that is not there": ("kafka_records", "10 00 00 00 02 6b 02 76 02"),
    "2^31-1 headers": ("kafka_records", "18 00 00 00 02 6b 02 76 feffffff0f"),
    "header without a key": ("kafka_records", "14 00 00 00 02 6b 02 76 02 01 00"),
    "varint of 6 bytes": ("kafka_varint", "80 80 80 80 80 00"),
    "uvarint of 6 bytes": ("kafka_uvarint", "80 80 80 80 80 00"),
    "varlong of 11 bytes": ("kafka_varlong", 10 * "80" + "00"),
    "varint that is cut off": ("kafka_varint", "80 80"),
    "control key of 3 bytes": ("kafka_control_record", control("000000", "000000000000")),
    "control key, negative version": ("kafka_control_record", control("ffff0000", 6 * "00")),
    "marker that is cut off": ("kafka_control_record", control("00000001", 5 * "00")),
    "footer, tags without data": ("kafka_control_record", control("00000004", "0000010502ab")),
    "voters that are not there": ("kafka_control_record", control("00000006", "00000500")),
    "2^32-2 voters": ("kafka_control_record", control("00000006", "0000ffffffff0f00")),
    "endpoint without a name": (
        "kafka_control_record",
        control("00000006", "0000 02 00000001" + 32 * "0" + "02 00 0268 0001 00 00000001 00 00 00"),
    ),
    "transaction index, version 1": ("kafka_transaction_index", "0001" + 64 * "0"),
    "transaction index, cut off": ("kafka_transaction_index", "0000" + 62 * "0"),
    "KRaft snapshot, control keys of a byte": (
        "kafka_kraft_snapshot",
        2 * batch(RECORD).replace(" 0000 00000000 ", " 0020 00000000 "),
    ),
    "producer snapshot, version 2": (
        "kafka_producer_snapshot",
        SNAPSHOT.replace("0001", "0002", 1),
    ),
    "producer snapshot, -1 entries": ("kafka_producer_snapshot", "0001 00000000 ffffffff"),
    "producer snapshot, cut off": ("kafka_producer_snapshot", SNAPSHOT[:-2]),
    "producer snapshot, 2^31-1 entries": ("kafka_producer_snapshot", "0001 00000000 7fffffff"),
}

# docs/specification.md says why.
NOT_SAID = {
    "-1 headers": ("kafka_records", "10 00 00 00 02 6b 02 76 01"),
    "a byte behind the headers": ("kafka_records", "12 00 00 00 02 6b 02 76 00 00"),
    "voters that are null": ("kafka_control_record", control("00000006", "00000000")),
    "a metadata record with a frame of version 2": ("kafka_metadata_record", "02 14 00 00"),
    "a byte behind a message's value": (
        "kafka_log",
        V1.replace("0000001c", "0000001d") + "00",
    ),
}

REFUSED = (EOFError, kaitaistruct.ValidationFailedError, kaitaistruct.InvalidArgumentError)

PROGRAM = """
const folder = process.argv[1];
const { KaitaiStream } = require("kaitai-struct");
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const verdict = ([name, parser, hex]) => {
  try {
    new (require(`${folder}/${parser}.js`)[parser])(new KaitaiStream(Buffer.from(hex, "hex")));
    return [name, null];
  } catch (error) {
    return [name, String(error)];
  }
};
process.stdout.write(JSON.stringify(Object.fromEntries(cases.map(verdict))));
"""

Case = tuple[str, str]


@pytest.mark.parametrize("name", SOUND)
def test_sound_bytes_are_read(name: str) -> None:
    read(*SOUND[name])


@pytest.mark.parametrize("name", BROKEN)
def test_broken_bytes_are_refused(name: str) -> None:
    with pytest.raises(REFUSED):
        read(*BROKEN[name])


@pytest.mark.parametrize("name", NOT_SAID)
def test_what_the_language_cannot_say_is_read(name: str) -> None:
    read(*NOT_SAID[name])


def test_javascript_refuses_what_python_refuses(tmp_path: Path) -> None:
    everything = SOUND | BROKEN | NOT_SAID
    # What another one imports is compiled along with it, and so are all others.
    roots = {kind for kind, _ in everything.values()}
    sources = [CHECKOUT / "spec" / f"{name}.ksy" for name in sorted(roots)]
    compiled = kaitai.compile_specs(sources, ["javascript"])
    for one in compiled.values():
        for file, text in one["files"]["javascript"].items():
            (tmp_path / file).write_text(text)
    cases = [
        [name, camel(kind), data.replace(" ", "")] for name, (kind, data) in everything.items()
    ]
    done = subprocess.run(
        [kaitai.NODE, "-e", PROGRAM, tmp_path],
        env={**os.environ, "NODE_PATH": str(kaitai.INSTALLED / "node_modules")},
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str | None] = json.loads(done.stdout)
    assert {name for name, error in found.items() if error} == set(BROKEN), found


def read(kind: str, data: str) -> Any:
    module = importlib.import_module(f"magicbyte_formats.kaitai.{kind}")
    return getattr(module, camel(kind)).from_bytes(bytes.fromhex(data))
