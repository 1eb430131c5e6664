"""Commands of docs/tiered-storage.md print what is shown."""

import os
import subprocess
import sys
from pathlib import Path

from doc_examples import blocks


def test_the_page_shows_what_happens(log_dir: Path, remote: Path, tmp_path: Path) -> None:
    """Commands of the page run in their order in a folder with copies of the logs."""
    assert {log_dir.parent, remote.parent} == {tmp_path}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    transcripts = blocks("docs/tiered-storage.md", "console")
    assert len(transcripts) == 3
    for block in transcripts:
        shown = ""
        for command in [line[2:] for line in block.splitlines() if line.startswith("$ ")]:
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                cwd=tmp_path,
                env={**os.environ, "PATH": path},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            shown += f"$ {command}\n{done.stdout}"
        assert shown == block
