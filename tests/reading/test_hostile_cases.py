"""Tests of the hostile inputs that are kept outside of the repository: each gives what its README says."""

from pathlib import Path

import pytest

import magicbyte as mb
from paths import shared

CASES = shared() / "hostile-cases"

pytestmark = pytest.mark.skipif(
    not CASES.is_dir(), reason=f"no hostile cases in {shared()}; set MAGICBYTE_SHARED"
)

ENGINES = pytest.mark.parametrize("engine", ["reference", "columnar"])


def rows_and_codes(path: Path, engine: str) -> tuple[int, set[str]]:
    """Return the number of records, and the codes of the findings of severity error."""
    rows = mb.open(
        str(path), isolation_level="read_uncommitted", on_damage="skip", engine=engine
    ).records(["offset"])
    number = rows.to_table().num_rows
    return number, {each.code for each in rows.report.findings if each.severity == "error"}


@ENGINES
def test_number_of_5000_digits_in_a_checkpoint_is_a_finding(engine: str) -> None:
    path = CASES / "leader-epoch-5000-digits" / "aborted-0"
    number, codes = rows_and_codes(path, engine)
    assert number > 0 and codes == set()
    findings = mb.verify(str(path)).findings
    assert ("checkpoint-invalid", "leader-epoch-checkpoint") in {
        (each.code, each.file) for each in findings
    }


@ENGINES
def test_empty_lz4_block_ends_a_batch_as_in_kafka(engine: str) -> None:
    number, codes = rows_and_codes(CASES / "lz4-empty-block-java-refuses-v2.bin", engine)
    assert (number, len(codes)) == (0, 1)
    assert rows_and_codes(CASES / "lz4-empty-block-java-6-rows-ours-10-v1.bin", engine) == (
        6,
        set(),
    )


@ENGINES
def test_unknown_codec_of_a_batch_without_records_is_a_finding(engine: str) -> None:
    path = CASES / "v2-no-records-codec-5-silent.bin"
    assert rows_and_codes(path, engine) == (0, {"unknown-codec"})
