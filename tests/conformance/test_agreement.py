"""Tests that the Construct twin and parsers of other languages agree with Kaitai's Python parsers.

The twin reads a third of the brokers' files in tests/data, and JavaScript half of this third; with MAGICBYTE_WIDE=1 all
languages whose tools are installed read all of these files, and those in ../shared/logs.
"""

import hashlib
from pathlib import Path

import pytest

from extent import WIDE, mixed_part
from magicbyte_cli.file_formats import FORMATS_BY_NAME, FORMATS_BY_SUFFIX
from magicbyte_tools.conformance import engines
from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.conformance.child import MIB, ChildError, ProcessBounds
from magicbyte_tools.conformance.compare import differences
from magicbyte_tools.conformance.runner import Output, Runner, parse
from magicbyte_tools.webide import kinds
from paths import DATA, shared

REFERENCE = "kaitai-python"
ALWAYS = ("construct", "kaitai-javascript")

MAX_DIFFERENCES = 20
"""Limit of differences: for each, the reference reads a file again, and so many have one cause."""

BOUNDS = ProcessBounds(timeout_s=120.0, output_bytes=256 * MIB)


@pytest.fixture(scope="session")
def files() -> list[Case]:
    if WIDE and not (shared() / "logs").is_dir():
        pytest.fail(f"MAGICBYTE_WIDE is set, and there are no logs in {shared()}")
    folders = [DATA, shared() / "logs"] if WIDE else [DATA]
    formats = {path: name for folder in folders for path, name in kinds.files_below(folder).items()}
    found = [Case(str(path), path, {"format": name}) for path, name in formats.items()]
    assert {case.format for case in found} == {
        *FORMATS_BY_SUFFIX.values(),
        *FORMATS_BY_NAME.values(),
    }
    drawn = mixed_part(found, len(found) // 3, "agreement", lambda case: [case.format])
    return sorted(drawn, key=lambda case: case.format)


@pytest.fixture(scope="session")
def reference() -> Runner:
    return engines.runner(REFERENCE, BOUNDS)


@pytest.fixture(scope="session")
def digests(reference: Runner, files: list[Case]) -> list[bytes]:
    """Provide a digest of Kaitai's Python output for each file; outputs would fill the memory."""
    found = []
    for case, output in reference.outputs(files):
        assert not isinstance(output, ChildError), f"{case.path}: {output}"
        assert not output.startswith(b'{"fields":null'), f"{case.path}: {output[:200]!r}"
        found.append(digest(output))
    return found


def digest(output: bytes) -> bytes:
    """Return a digest of the fields in a runner's JSON *output*, without its error."""
    return hashlib.sha256(output.partition(b',"error":')[0]).digest()


@pytest.mark.parametrize("name", [name for name in engines.TARGETS if name != REFERENCE])
def test_parsers_of_other_languages_read_the_same(
    name: str, reference: Runner, files: list[Case], digests: list[bytes]
) -> None:
    if name not in ALWAYS and not WIDE:
        pytest.skip("only with MAGICBYTE_WIDE=1")
    step = 1 if WIDE else 2
    compare(name, reference, files[::step], digests[::step])


def test_the_twin_reads_the_same(
    reference: Runner, files: list[Case], digests: list[bytes]
) -> None:
    compare("construct", reference, files, digests)


def compare(name: str, reference: Runner, files: list[Case], digests: list[bytes]) -> None:
    """Fail if the engine *name* reads a file of *files* differently from *reference*."""
    try:
        runner = engines.runner(name, BOUNDS)
    except engines.ToolchainUnavailable as error:
        pytest.skip(str(error))
    wrong: list[str] = []
    for (case, output), expected in zip(runner.outputs(files), digests, strict=True):
        if isinstance(output, ChildError) or digest(output) != expected:
            wrong += [f"{case.path}: {line}" for line in field_differences(reference, case, output)]
        assert len(wrong) < MAX_DIFFERENCES, "\n".join(["many differences", *wrong])
    assert not wrong, "\n".join(wrong)


def field_differences(reference: Runner, case: Case, output: Output) -> list[str]:
    """Return how the fields in *output* differ from those that *reference* reads from *case*."""
    if isinstance(output, ChildError):
        return [str(output)]
    ((_, again),) = reference.outputs([case])
    assert isinstance(again, bytes)
    expected, found = parse(again).content, parse(output).content
    if not isinstance(found, dict) or "fields" not in found:
        return [f"printed {output[:200]!r}"]
    return list(differences(expected["fields"], found["fields"], "fields"))


def test_a_difference_is_found(tmp_path: Path, reference: Runner) -> None:
    same, other = tmp_path / "same", tmp_path / "other"
    same.write_bytes(b"\0" * 7 + b"\1")
    other.write_bytes(b"\0" * 7 + b"\2")
    case = Case("same", same, {"format": "kafka_offset_index"})
    changed = Case("other", other, {"format": "kafka_offset_index"})
    ((_, output),) = reference.outputs([changed])
    assert isinstance(output, bytes)
    assert field_differences(reference, case, output) == [
        "fields.entries[0].ofs_batch: expected 1, found 2"
    ]
    assert field_differences(reference, changed, output) == []
    assert field_differences(reference, changed, ChildError("ended")) == ["ended"]
    assert field_differences(reference, changed, b'{"unsupported":"x"}')
