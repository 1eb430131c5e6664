"""Tests of `magicbyte verify --explain`: the texts of one code, or a list of all codes."""

from magicbyte import CODES

from .conftest import error_line, run


def test_code_is_explained_without_a_path() -> None:
    code = CODES["checksum-mismatch"]
    result = run("verify", "--explain", code.name)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "checksum-mismatch (error)",
        code.sentence,
        "",
        f"Cause: {code.cause}",
        f"Consequence: {code.consequence}",
        f"What to do: {code.remedy}",
        f"Source: {code.source}",
    ]


def test_without_a_code_every_code_has_a_line() -> None:
    result = run("verify", "--explain")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("  ")]
    assert [(line[0], line[1]) for line in lines] == [
        (code.severity, code.name) for code in CODES.values()
    ]


def test_unknown_code_names_similar_ones() -> None:
    line = error_line("verify", "--explain", "checksum-mismatches")
    assert "'checksum-mismatches'" in line and "such as checksum-mismatch" in line
    assert "--explain` lists" in error_line("verify", "--explain", "xyz")
