"""Tests that fields lie in the viewer where the Construct twin reads them."""

import base64
import gzip
import re
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from kaitaistruct import KaitaiStream

import log_builder as build
from magicbyte import codecs
from magicbyte_formats.kaitai.kafka_log_lazy import KafkaLogLazy

from .conftest import File, vectors
from .twin_fields import TwinField, twin_fields

TAILS = ("zeros", "cut entry")
"""Nodes for what follows the last entry."""


def page_fields(rows: Sequence[Sequence[Any]]) -> list[TwinField]:
    """Return the fields of *rows* that have bytes, as the twin has them: the bits of a field are one."""
    found: dict[tuple[str, str], TwinField] = {}
    for path, start, end, text in rows:
        *outer, name = path.split(".")
        number = text if re.fullmatch(r"-?\d+", text) else None
        key = (".".join(outer), name)
        if outer and outer[-1] == "attributes":
            key, name, number = (".".join(outer), ""), "attributes", None
            start = min(start, found[key].start) if key in found else start
        if start < end:
            found[key] = TwinField(name, start, end, number)
    return sorted(found.values())


def without_text(found: Sequence[TwinField], others: Sequence[TwinField]) -> list[TwinField]:
    """Return *found* without numbers where *others* have none: the text of bytes may be digits."""
    texts = {(one.name, one.start) for one in others if one.value is None}
    return [one._replace(value=None) if (one.name, one.start) in texts else one for one in found]


def test_fields_of_valid_vectors_lie_where_the_twin_reads_them(
    shown: dict[str, dict[str, Any]],
) -> None:
    num_fields = 0
    for name, case in vectors("valid").items():
        if any(one["code"] == "found-by-search" for one in case["findings"]):
            continue  # the specification ends at the damage; the viewer goes on behind it
        data = case["path"].read_bytes()
        expected = twin_fields(data)
        rows = shown[f"valid/{name}"]["fields"]
        fields = [one for one in page_fields(rows) if one.name not in TAILS]
        assert without_text(fields, expected) == expected, name
        num_fields += len(fields)
    assert num_fields > 5000


def test_each_byte_of_valid_vectors_is_claimed_once(shown: dict[str, dict[str, Any]]) -> None:
    for name, case in vectors("valid").items():
        position = 0
        for field in sorted(
            page_fields(shown[f"valid/{name}"]["fields"]), key=lambda one: one.start
        ):
            assert field.start == position, (name, field)
            position = field.end
        assert position == case["path"].stat().st_size, name


def test_payloads_decompress_as_in_the_runtime(shown: dict[str, dict[str, Any]]) -> None:
    seen = set()
    for name, case in vectors("valid").items():
        if case["fields"] is None or any(one["code"] == "codec-error" for one in case["findings"]):
            continue
        payloads = shown[f"valid/{name}"]["payloads"]
        entries = [entry.get("content") for entry in case["fields"]["entries"]]
        compressed = [
            (entry["attributes"]["codec"], entry["compressed_payload"], 2)
            if "message" not in entry
            else (
                entry["message"]["attributes"]["codec"],
                entry["message"]["value"],
                entry["message"]["magic"],
            )
            for entry in entries
            if entry and (entry.get("message") or entry)["attributes"]["codec"]
        ]
        assert len(payloads) == len(compressed), name
        for (codec, payload, magic), found in zip(compressed, payloads, strict=True):
            expected = codecs.decompress(
                codec, bytes.fromhex(payload), magic=magic, max_bytes=1 << 28
            )
            assert base64.b64decode(found["bytes"]) == expected, name
            seen.add((codec, magic))
    assert {(codec, 2) for codec in (1, 2, 3, 4)} <= seen
    assert {magic for _, magic in seen} == {0, 1, 2}


def test_javascript_frames_entries_as_the_lazy_specification_does_in_python(
    shown: dict[str, dict[str, Any]],
) -> None:
    for verdict in ("valid", "invalid"):
        for name, case in vectors(verdict).items():
            entries = KafkaLogLazy(KaitaiStream(BytesIO(case["path"].read_bytes()))).whole.entries
            assert shown[f"{verdict}/{name}"]["framed"] == [
                [
                    entry.ofs_entry,
                    len(entry.skipped if entry.is_framed else entry.rest),
                    entry.is_known,
                ]
                for entry in entries
            ], name


def test_payload_over_the_limit_is_refused(
    inspect: Callable[[Sequence[File]], list[dict[str, Any]]], tmp_path: Path
) -> None:
    """The page holds no more than 64 MiB of a payload, whatever its size."""
    path = tmp_path / "bomb"
    path.write_bytes(build.batch(codec=1, section=gzip.compress(bytes((64 << 20) + 1), 1)))
    [found] = inspect([("kafka_log", path)])
    assert [one["code"] for one in found["findings"]] == ["batch-over-limit"]
