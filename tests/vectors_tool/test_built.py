"""Tests that the vectors agree with their descriptions and cover all findings and input classes."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import magicbyte as mb
from magicbyte.errors import error_of
from magicbyte.findings import Finding
from magicbyte_tools.vectors import __main__ as command
from magicbyte_tools.vectors import build
from magicbyte_tools.vectors import scorer_file as scorer
from magicbyte_tools.vectors.build import CaseBuildError, files
from magicbyte_tools.vectors.case import VectorCase, severity_of
from magicbyte_tools.vectors.input_classes import CLASSES, CODES_WITHOUT_A_CASE, WITHOUT_A_CASE
from paths import CHECKOUT

VECTORS = CHECKOUT / "tests" / "vectors"
MAX_BYTES = 2_000_000


@pytest.fixture(scope="session")
def cases() -> list[VectorCase]:
    return list(build.cases())


@pytest.fixture(scope="session")
def built(cases: list[VectorCase]) -> dict[str, bytes]:
    return build.files(cases)


def test_committed_vectors_are_those_that_the_cases_build(built: dict[str, bytes]) -> None:
    built = {**built, command.SCORER: scorer.scorer_file()}
    there = command.present(VECTORS)
    different = [n for n in built.keys() | there.keys() if built.get(n) != there.get(n)]
    assert not different, f"{sorted(different)[:5]}: run: make vectors"


def test_a_second_build_in_another_process_gives_the_same_bytes(built: dict[str, bytes]) -> None:
    program = (
        "import hashlib\n"
        "from magicbyte_tools.vectors import build\n"
        "total = hashlib.sha256()\n"
        "for name, data in sorted(build.files(build.cases()).items()):\n"
        "    total.update(name.encode() + data)\n"
        "print(total.hexdigest())\n"
    )
    environment = {"PYTHONHASHSEED": "1", "TZ": "Asia/Kolkata", "LC_ALL": "C"}
    output = subprocess.check_output(
        [sys.executable, "-c", program], text=True, cwd="/", env=environment
    )
    total = hashlib.sha256()
    for name, data in sorted(built.items()):
        total.update(name.encode() + data)
    assert output.strip() == total.hexdigest()


def test_check_names_a_file_that_was_altered_and_says_how_to_mend_it(
    built: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command, "VECTORS", tmp_path)
    monkeypatch.setattr(command, "files", lambda cases: built)
    assert command.main([]) == 0
    assert command.main(["--check"]) == 0
    altered = "valid/kafka_log/v2-one-record.bin"
    (tmp_path / altered).write_bytes(b"")
    (tmp_path / "valid/kafka_log/of-no-case.bin").write_bytes(b"")
    (tmp_path / "README.md").write_text("not the builder's")
    capsys.readouterr()
    assert command.main(["--check"]) == 1
    said = capsys.readouterr().err
    assert altered in said and "of-no-case" in said and "README" not in said
    assert said.endswith("make vectors\n")
    assert command.main([]) == 0
    assert command.main(["--check"]) == 0


def test_names_are_kebab_case_and_there_once(cases: list[VectorCase]) -> None:
    paths = [case.path for case in cases]
    assert len(set(paths)) == len(paths)
    for case in cases:
        assert case.name.replace("-", "").isalnum() and case.name == case.name.lower(), case.path


def test_every_case_has_a_reason_and_an_origin(cases: list[VectorCase]) -> None:
    for case in cases:
        assert case.why.endswith("."), case.path
        assert case.made and case.source, case.path


def test_every_class_of_bad_input_has_a_case_or_a_reason(cases: list[VectorCase]) -> None:
    seen = {number for case in cases for number in case.classes}
    assert seen <= set(CLASSES)
    assert sorted(set(CLASSES) - seen) == sorted(WITHOUT_A_CASE)


def test_every_code_is_found_in_a_case_or_has_a_reason(cases: list[VectorCase]) -> None:
    codes = {found.code for case in cases for found in case.findings}
    codes |= {case.front_code for case in cases if case.front_code}
    assert codes <= set(mb.CODES)
    assert sorted(set(mb.CODES) - codes) == sorted(CODES_WITHOUT_A_CASE)


def test_every_error_of_a_log_is_a_fault_with_code_position_and_rows(
    cases: list[VectorCase],
) -> None:
    faults = {
        case.fault.code: case
        for case in cases
        if case.fault and case.format in ("kafka_log", "log_dir", "kafka_produced")
    }
    errors = {name for name, code in mb.CODES.items() if code.severity == "error"}
    # This finding follows from other damage, and is never the first.
    errors -= {"transaction-undecided", *CODES_WITHOUT_A_CASE}
    assert errors <= set(faults), sorted(errors - set(faults))


def test_severities_are_those_of_the_registry() -> None:
    for name, code in mb.CODES.items():
        assert severity_of(name) == code.severity, name


def test_a_fault_is_among_the_findings_and_a_valid_case_has_no_error(
    cases: list[VectorCase],
) -> None:
    for case in cases:
        errors = [found for found in case.findings if severity_of(found.code) == "error"]
        if case.fault is not None and case.fault.code and case.findings:
            first = (errors[0].code, errors[0].position, errors[0].file)
            assert first == (case.fault.code, case.fault.position, case.fault.file), case.path
        elif case.format in ("kafka_log", "log_dir"):
            assert not errors, case.path


def test_errors_are_those_that_findings_become(built: dict[str, bytes]) -> None:
    for name, data in built.items():
        if not name.endswith(".json") or name == "manifest.json":
            continue
        case = json.loads(data)
        if case["format"] in ("kafka_log", "log_dir") and "code" in case:
            found = Finding(code=case["code"], message="", position=0, found="0", expected="0")
            assert type(error_of(found)) is getattr(mb, case["error"]), name


def test_file_with_one_fault_has_records_before_and_after_it(cases: list[VectorCase]) -> None:
    """More than 90 % of the invalid logs have sound records both before and after the fault."""
    logs = [case for case in cases if case.format == "kafka_log" and case.verdict == "invalid"]
    faults = [case.fault for case in logs if case.fault]
    both = sum(0 < fault.records_before < len(fault.records) for fault in faults)
    assert both > 0.9 * len(logs)


def test_the_manifest_lists_every_case_with_the_hash_of_its_bytes(built: dict[str, bytes]) -> None:
    manifest = json.loads(built["manifest.json"])
    assert manifest["licence"] == "CC0-1.0"
    assert [entry["path"] for entry in manifest["cases"]] == sorted(
        name.removesuffix(".json")
        for name in built
        if name.endswith(".json") and name != "manifest.json" and name.count("/") == 2
    )
    for entry in manifest["cases"]:
        if entry["format"] != "log_dir":
            data = built[f"{entry['path']}.bin"]
            assert hashlib.sha256(data).hexdigest() == entry["sha256"], entry["path"]


def test_no_id_of_a_release_has_vanished(built: dict[str, bytes]) -> None:
    """Others name cases by these ids in their lists of known failures and in their issues."""
    released = set(Path(__file__).with_name("released_ids.txt").read_text("utf-8").split())
    ids = {entry["id"] for entry in json.loads(built["manifest.json"])["cases"]}
    assert len(released) > 700
    assert released <= ids, sorted(released - ids)


def test_the_version_has_an_entry_in_the_changelog(built: dict[str, bytes]) -> None:
    version = json.loads(built["manifest.json"])["version"]
    for name, mark in (("CHANGELOG.md", f"\n## {version}\n"), ("README.md", f"Version {version}.")):
        assert mark in (VECTORS / name).read_text("utf-8"), name


def test_two_cases_of_one_id_are_refused(cases: list[VectorCase]) -> None:
    sound = next(case for case in cases if case.verdict == "valid")
    again = replace(sound, is_kafka_refusal=True)
    with pytest.raises(CaseBuildError, match="there twice"):
        files([sound, again])


def test_modules_that_define_one_name_twice_make_no_scorer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorer, "SOURCES", tmp_path)
    other = f"from {scorer.PACKAGE}.other import shown\n"
    (tmp_path / "command.py").write_text(f'"""One."""\n\n{other}\nLIMIT = 1\n')
    (tmp_path / "other.py").write_text('"""Two."""\n\nimport json\n\n\ndef shown():\n    pass\n')
    text = scorer.scorer_file().decode()
    assert text.index("def shown") < text.index("LIMIT = 1") and "import json" in text
    (tmp_path / "other.py").write_text('"""Two."""\n\nLIMIT = 2\n')
    with pytest.raises(scorer.AssemblyError, match="LIMIT: in command and in other"):
        scorer.scorer_file()
    (tmp_path / "command.py").write_text(
        '"""One."""\n\nfrom magicbyte_tools.vectors import build\n'
    )
    with pytest.raises(scorer.AssemblyError, match="expected names from"):
        scorer.scorer_file()


def test_all_of_it_is_small(built: dict[str, bytes]) -> None:
    assert sum(map(len, built.values())) < MAX_BYTES


def test_no_file_names_the_machine_that_built_it(built: dict[str, bytes]) -> None:
    for name, data in built.items():
        assert str(CHECKOUT).encode() not in data, name


def test_case_over_a_limit_is_valid_without_it(cases: list[VectorCase]) -> None:
    limited = [case for case in cases if case.limits]
    assert len(limited) > 4
    for case in limited:
        assert isinstance(case.data, bytes)
        dataset = mb.from_bytes(case.data, on_damage="fail")
        rows = sum(batch.num_rows for batch in dataset.records(["offset"]))
        assert case.fault is not None and rows == len(case.fault.records) + 1, case.path
