"""Tests that each byte of a sound file belongs to exactly one field, in JavaScript and Python."""

import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from magicbyte_cli.file_formats import FORMATS_BY_NAME, FORMATS_BY_SUFFIX, format_of
from magicbyte_tools.webide import claims, kinds
from magicbyte_tools.webide.claims import ClaimFault, Claims, in_python
from magicbyte_tools.webide.debug_parsers import Formats
from paths import DATA

from .conftest import REFUSED, SPEC, UNCLAIMED, VALID, claims_in_javascript, relative, vector


def test_javascript_claims_every_byte_of_every_real_file(
    in_js: dict[Path, Claims], real: dict[Path, str]
) -> None:
    assert not_whole({path: in_js[path] for path in real}) == {}


def test_javascript_claims_every_byte_of_every_valid_vector(
    in_js: dict[Path, Claims], vectors: dict[Path, str]
) -> None:
    assert vectors
    assert [vector(path) for path in vectors if not in_js[path].whole] == []


def test_vectors_that_the_grammar_refuses_are_known(debug: Formats) -> None:
    for name in REFUSED:
        data = (VALID / f"{name}.bin").read_bytes()
        assert in_python(debug, name.split("/")[0], data).error, name


def test_vectors_with_bytes_of_no_field_are_known(debug: Formats) -> None:
    files = {VALID / f"{name}.bin": name.split("/")[0] for name in UNCLAIMED}
    in_js = claims_in_javascript(SPEC, files)
    assert {path: claimed.faults for path, claimed in in_js.items()} == {
        path: in_python(debug, name, path.read_bytes()).faults for path, name in files.items()
    }
    assert all(claimed.faults for claimed in in_js.values())


def test_python_claims_the_same_leaves_of_small_real_files(
    debug: Formats, in_js: dict[Path, Claims], small: dict[Path, str]
) -> None:
    assert differences(debug, in_js, small) == {}


def test_python_claims_the_same_leaves_of_every_valid_vector(
    debug: Formats, in_js: dict[Path, Claims], vectors: dict[Path, str]
) -> None:
    assert differences(debug, in_js, vectors) == {}


def test_both_languages_claim_every_byte_of_all_logs_beside_the_checkout(
    debug: Formats, wide: dict[Path, str]
) -> None:
    in_js = claims_in_javascript(SPEC, wide)
    assert not_whole(in_js) == {}
    assert differences(debug, in_js, wide) == {}


def test_files_that_no_format_describes_are_only_text(real: dict[Path, str]) -> None:
    """The other files' names are those of text files; every format has a file in tests/data."""
    log_dirs = [path for path in DATA.rglob("*") if re.fullmatch(r"log-\d", path.name)]
    files = [path for folder in log_dirs for path in folder.rglob("*") if path.is_file()]
    assert {path.name for path in files if not format_of(path.name)} == set(kinds.TEXTS)
    assert set(real.values()) == {*FORMATS_BY_SUFFIX.values(), *FORMATS_BY_NAME.values()}


class Break(NamedTuple):
    """A change that makes a field of a specification shorter, and a file that has such a field."""

    spec: str
    before: str
    after: str
    file: Path


BREAKS = {
    "a record's value, by a byte": Break(
        "kafka_record",
        "        size: len_value.value\n        if: len_value.value >= 0\n",
        "        size: len_value.value - 1\n        if: len_value.value >= 0\n",
        DATA / "2.8/formats/log-0/v2-java-none-0/00000000000000000000.log",
    ),
    "a compressed payload, by a byte": Break(
        "kafka_record_batch",
        "    size: len_batch - 49\n    if: attributes.codec !=",
        "    size: len_batch - 50\n    if: attributes.codec !=",
        DATA / "2.8/formats/log-0/v2-java-gzip-0/00000000000000000000.log",
    ),
    "a producer's last number, by four bytes": Break(
        "kafka_producer_snapshot",
        "-orig-id: CurrentTxnFirstOffset\n        type: s8",
        "-orig-id: CurrentTxnFirstOffset\n        type: s4",
        DATA / "4.3/transactions/log-0/open-0/00000000000000000111.snapshot",
    ),
    "an aborted transaction's last number, by four bytes": Break(
        "kafka_transaction_index",
        "-orig-id: lastStableOffset\n        type: s8",
        "-orig-id: lastStableOffset\n        type: s4",
        DATA / "4.3/transactions/log-0/aborted-0/00000000000000000006.txnindex",
    ),
}

# Needed since no real format has a bit field that could be shortened without other faults.
NIBBLE = """\
meta:
  id: kafka_nibble
  bit-endian: be
seq:
  - id: nibble
    type: b4
"""


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a copy of the specifications with all of `BREAKS`; each file is affected by one."""
    folder = tmp_path_factory.mktemp("broken")
    for path in SPEC.glob("*.ksy"):
        shutil.copy(path, folder)
    for one in BREAKS.values():
        path = folder / f"{one.spec}.ksy"
        head, found, tail = path.read_text("utf-8").partition(one.before)
        assert found, f"{path.name} has no such text"
        path.write_text(head + one.after + tail, "utf-8")
    (folder / "kafka_nibble.ksy").write_text(NIBBLE, "utf-8")
    (folder / "nibble.bin").write_bytes(b"\0")
    return folder


@pytest.fixture(scope="module")
def broken_claims(broken: Path) -> list[dict[Path, Claims]]:
    """Provide the bytes that JavaScript's, then Python's fields claim in the files of `BREAKS`."""
    files = {one.file: format_of(one.file.name) or "" for one in BREAKS.values()}
    files[broken / "nibble.bin"] = "kafka_nibble"
    formats = Formats([broken / f"{name}.ksy" for name in dict.fromkeys(files.values())], "debug")
    in_py = {path: in_python(formats, name, path.read_bytes()) for path, name in files.items()}
    return [claims_in_javascript(broken, files), in_py]


@pytest.mark.parametrize("name", BREAKS)
def test_a_field_that_is_too_short_is_found(
    name: str, broken_claims: list[dict[Path, Claims]]
) -> None:
    in_js, in_py = (found[BREAKS[name].file] for found in broken_claims)
    assert not in_js.whole
    assert not in_py.whole
    assert in_js.faults == in_py.faults


def test_a_fault_says_which_bytes_no_field_claims(broken_claims: list[dict[Path, Claims]]) -> None:
    compressed = BREAKS["a compressed payload, by a byte"].file
    end = 12 + int.from_bytes(compressed.read_bytes()[8:12], "big")
    for found in broken_claims:
        assert found[compressed].faults[0] == ClaimFault(end - 1, end, 0)


def test_bits_that_no_field_takes_are_found(
    broken: Path, broken_claims: list[dict[Path, Claims]]
) -> None:
    for found in broken_claims:
        assert (found[broken / "nibble.bin"].error or "").endswith("4 bits are no field's")


def test_a_byte_that_two_fields_claim_is_found() -> None:
    """No specification has overlapping fields, and a sum of sizes would not reveal them."""
    spans = {"a": {"start": 0, "end": 3}, "b": {"start": 2, "end": 4}}
    structure: Any = SimpleNamespace(
        _io=SimpleNamespace(bits_left=0), _debug=spans, SEQ_FIELDS=["a", "b"], a=b"", b=b""
    )
    leaves = sorted(claims._leaves(structure, 0))
    assert list(claims._faults(leaves, 5)) == [ClaimFault(2, 3, 2), ClaimFault(4, 5, 0)]


def not_whole(found: dict[Path, Claims]) -> dict[str, Claims]:
    return {relative(path): one for path, one in found.items() if not one.whole}


def differences(
    debug: Formats, in_js: dict[Path, Claims], files: dict[Path, str]
) -> dict[str, tuple[Claims, Claims]]:
    """Return Python's and JavaScript's claims for each file of *files* where they differ."""
    found = {path: in_python(debug, name, path.read_bytes()) for path, name in files.items()}
    return {
        relative(path): (in_py, in_js[path])
        for path, in_py in found.items()
        if in_py != in_js[path]
    }
