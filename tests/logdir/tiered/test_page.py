"""Test that the commands in docs/tiered-storage.md print what the page shows."""

from pathlib import Path

from doc_examples import blocks, shell_transcript


def test_the_page_shows_what_happens(log_dir: Path, remote: Path, tmp_path: Path) -> None:
    """The page's commands run in order, in a folder with copies of the logs."""
    assert {log_dir.parent, remote.parent} == {tmp_path}
    transcripts = blocks("docs/tiered-storage.md", "console")
    assert len(transcripts) == 3
    for block in transcripts:
        assert shell_transcript(block, tmp_path) == block
