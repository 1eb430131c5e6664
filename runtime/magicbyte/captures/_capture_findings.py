"""Findings about a capture: the first of each kind and connection, with the number of further ones."""

from dataclasses import replace

from magicbyte.findings import Finding

MAX_KINDS = 10_000
"""Most findings of a capture that are not about a batch: a hostile one has a connection per packet."""


class CaptureFindings:
    """Adds findings to a list that a report has, once for each code and subject."""

    def __init__(self, findings: list[Finding], file_name: str) -> None:
        self._findings = findings
        self.file_name = file_name
        self._first: dict[tuple[str, str], int] = {}
        self._more: dict[tuple[str, str], int] = {}

    def add(
        self,
        code: str,
        message: str,
        *,
        subject: str = "",
        position: int | None = None,
        length: int | None = None,
        field: str | None = None,
        found: object = None,
        expected: object = None,
    ) -> None:
        """Add a finding, or count it if there is one of *code* about *subject*, such as a connection."""
        key = code, subject
        if key in self._first:
            self._more[key] = self._more.get(key, 0) + 1
            return
        if len(self._first) >= MAX_KINDS:
            return
        self._first[key] = len(self._findings)
        self._findings.append(
            Finding(
                code=code,
                message=message,
                file=self.file_name,
                position=position,
                length=length,
                field=field,
                found=None if found is None else str(found),
                expected=None if expected is None else str(expected),
            )
        )

    def add_of_batch(self, finding: Finding) -> None:
        """Add a finding about the bytes of a batch."""
        self._findings.append(finding)

    def add_truncated(self, position: int, left: int, needed: int) -> None:
        """Add that the file ends inside a packet or block."""
        self.add(
            "capture-truncated",
            f"the capture ends here: {left} of {needed} bytes are left",
            position=position,
            length=left,
            found=left,
            expected=needed,
        )

    def add_bad_length(self, position: int, field: str, found: object, expected: object) -> None:
        """Add that a length or a number of the capture file is impossible."""
        self.add(
            "capture-damaged",
            f"{field} is {found}; expected {expected}",
            position=position,
            field=field,
            found=found,
            expected=expected,
        )

    def finish(self) -> None:
        """Write into the first finding of each kind how many more there were."""
        for key, more in self._more.items():
            at = self._first[key]
            finding = self._findings[at]
            self._findings[at] = replace(
                finding, message=f"{finding.message}; {more:,} more like this"
            )
        self._more.clear()
