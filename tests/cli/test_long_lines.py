"""Text files of a log.dir with a line as long as the file: findings quote its beginning."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import run

TEXT_FILES = (
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
    "meta.properties",
    "bootstrap.checkpoint",
    "append-time-0/leader-epoch-checkpoint",
    "append-time-0/partition.metadata",
    "__cluster_metadata-0/quorum-state",
    "__cluster_metadata-0/leader-epoch-checkpoint",
    "__cluster_metadata-0/partition.metadata",
)
LENGTH = 1 << 16
LINES = {
    "one-value": b"0" * LENGTH,
    "control-characters": bytes(LENGTH),
    "a-json-field": b'{"leaderId":1,"leaderEpoch":"' + b"9" * LENGTH + b'","data_version":1}',
    "a-property": b"version=" + b"1" * LENGTH,
    "a-version-before": b"version: 0\ntopic_id: " + b"A" * LENGTH,
    "a-checkpoint": b"0\n1\n" + b"a" * LENGTH + b" 0 0",
}
"""Contents, each with a line of 65,536 characters at least."""


@pytest.mark.parametrize("content", LINES.values(), ids=LINES)
def test_findings_quote_the_beginning_of_a_long_line(
    copied: Callable[[str], Path], content: bytes
) -> None:
    log_dir = copied("4.4/mixed") / "log-0"
    for name in TEXT_FILES:
        (log_dir / name).parent.mkdir(exist_ok=True)
        (log_dir / name).write_bytes(content)
    for form in ("text", "ndjson"):
        done = run("verify", log_dir, "--format", form)
        assert "expected" in done.stdout
        assert max(map(len, done.stdout.splitlines())) < LENGTH / 4
