"""The page docs/findings.md: every code of a finding with the texts that explain it."""

from collections.abc import Iterator

from magicbyte.findings import SUBJECTS, Code

NOTE = "<!-- Generated from runtime/magicbyte/_finding_codes by `make docs`. Do not edit. -->"

INTRODUCTION = """\
# Findings

Everything that can be wrong with a log has a code. `magicbyte verify`, the table `problems`, the report, and the errors of the
Python API use the same codes. `magicbyte verify --explain CODE` prints the texts of this page.

| severity | means |
|---|---|
| `error` | rows are lost, wrong or in doubt; the exit status of a command is 1 |
| `warning` | something is wrong, but no row suffers |
| `note` | worth knowing |
"""


def findings_page() -> str:
    """Return the page as Markdown."""
    lines = [NOTE, INTRODUCTION]
    for subject, codes in SUBJECTS.items():
        names = ", ".join(f"[`{code.name}`](#{code.name})" for code in codes)
        lines += [f"## {subject}", "", f"{names}", ""]
        for code in codes:
            lines += _code_lines(code)
    return "\n".join(lines).rstrip() + "\n"


def _code_lines(code: Code) -> Iterator[str]:
    yield f"### {code.name}"
    yield ""
    yield f"**{code.severity.capitalize()}.** {code.sentence}"
    yield ""
    yield f"- **Cause:** {code.cause}"
    yield f"- **Consequence:** {code.consequence}"
    yield f"- **What to do:** {code.remedy}"
    yield f"- **Source:** {code.source}"
    yield ""
