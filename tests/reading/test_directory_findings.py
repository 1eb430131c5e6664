"""Tests of findings that compare a log with the checkpoints of its log.dir."""

from typing import Any

import pytest

import log_builder as build
import magicbyte as mb


def message_of(log_dir: Any, code: str) -> str:
    """Return the message of the one finding with *code* about *log_dir*."""
    (finding,) = [each for each in mb.verify(log_dir).findings if each.code == code]
    return finding.message


@pytest.mark.parametrize(
    ("base", "checkpoint", "message"),
    [
        (0, -7, "the log begins at offset 0, its checkpoints say -7: no offset is negative, so the checkpoint is wrong"),
        (5, 2, "the log begins at offset 5, its checkpoints say 2: the offsets between are in remote storage, or lost"),
    ],
)  # fmt: skip
def test_log_that_begins_above_its_checkpoint_says_whether_that_can_be(
    folder: Any, base: int, checkpoint: int, message: str
) -> None:
    log_dir = folder.log_dir()
    log_dir.segment("a-0", build.batch_of(base, b"v"), base)
    (log_dir.path / "log-start-offset-checkpoint").write_text(f"0\n1\na 0 {checkpoint}\n")
    assert message_of(log_dir, "log-begins-above") == message


def test_negative_checkpoint_hides_no_start_that_the_epochs_state(folder: Any) -> None:
    log_dir = folder.log_dir()
    path = log_dir.segment("a-0", build.batch_of(5, b"v"), 5)
    (log_dir.path / "log-start-offset-checkpoint").write_text("0\n1\na 0 -7\n")
    (path.parent / "leader-epoch-checkpoint").write_text("0\n1\n0 3\n")
    assert "its checkpoints say 3: the offsets between are" in message_of(
        log_dir, "log-begins-above"
    )


@pytest.mark.parametrize(
    ("high_watermark", "lost"), [(2, "offset 1 is lost"), (4, "offsets 1 to 3 are lost")]
)
def test_offsets_below_the_high_watermark_that_the_log_lacks_are_lost(
    folder: Any, high_watermark: int, lost: str
) -> None:
    log_dir = folder.log_dir()
    log_dir.segment("a-0", build.batch_of(0, b"v"))
    (log_dir.path / "replication-offset-checkpoint").write_text(f"0\n1\na 0 {high_watermark}\n")
    assert message_of(log_dir, "log-ends-below").endswith(f": {lost}")


@pytest.mark.parametrize(
    ("next_offset", "missing"), [(2, "offset 1 is missing"), (4, "offsets 1 to 3 are missing")]
)
def test_gap_of_one_offset_is_not_a_range(folder: Any, next_offset: int, missing: str) -> None:
    log_dir = folder.log_dir()
    log_dir.segment("a-0", build.batch_of(0, b"v") + build.batch_of(next_offset, b"w"))
    assert message_of(log_dir, "offset-gap") == missing
