"""Tests that the commands and examples of docs/recipes.md print what it shows, and that installation lines are true."""

import re
import tomllib
from pathlib import Path

import pytest

from doc_examples import blocks, examples, save_scripts, shell_transcript
from paths import CHECKOUT
from s3_server import ACCESS_KEY, SECRET, S3Server

PAGE = "docs/recipes.md"


@pytest.fixture
def folder(tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a folder with the log of the tutorial, which is in a bucket too, and with `tests`."""
    save_scripts("docs/tutorial.md", tmp_path)
    shell_transcript("$ python make_log.py", tmp_path)
    (tmp_path / "tests").symlink_to(CHECKOUT / "tests")
    s3.upload(tmp_path / "log-0", "backup/log-0")
    for name, value in {
        "AWS_ENDPOINT_URL_S3": s3.url,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_recipes_print_what_the_page_shows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    transcripts = blocks(PAGE, "console")
    assert len(transcripts) == 8
    for block in transcripts:
        assert shell_transcript(block, folder) == block
    capsys.readouterr()
    for code, shown in examples(PAGE):
        exec(compile(code, PAGE, "exec"), {})
        assert capsys.readouterr().out == shown


def test_extras_that_pages_install_exist() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    for page in ("docs/tutorial.md", "docs/installation.md", "docs/sql.md"):
        text = (CHECKOUT / page).read_text("utf-8")
        named = re.findall(r"pip install [^\n]*\[([\w,]+)\]", text)
        assert named
        assert {name for names in named for name in names.split(",")} <= {
            *project["optional-dependencies"]
        }
