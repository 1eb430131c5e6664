"""Test that the tutorial runs word by word, from an empty folder, and that its notebook has the same code."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from doc_examples import blocks, save_scripts, shell_transcript
from magicbyte_cli import main
from paths import CHECKOUT

PAGE = "docs/tutorial.md"


def spark_output(command: str, folder: Path) -> str | None:
    """Return what a command that uses Spark prints, in the session of the tests; None for other commands."""
    if command.startswith("magicbyte pipeline"):
        result = CliRunner().invoke(main, command.removesuffix(" 2>/dev/null").split()[1:])
        assert result.exit_code == 0, result.output
        return result.stdout
    if command.startswith("python job.py"):
        # The JVM of the session was started in another folder, and its Python processes with it.
        path = repr(str(folder / "log-0"))
        code = (folder / "job.py").read_text("utf-8").replace('"log-0"', path)
        with redirect_stdout(StringIO()) as out:
            exec(compile(code, "job.py", "exec"), {})
        return out.getvalue()
    return None


def test_the_tutorial_prints_what_it_shows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert save_scripts(PAGE, tmp_path) == ["make_log.py", "largest.py", "job.py"]
    num_commands = 0
    for block in blocks(PAGE, "console"):
        transcript = ""
        for line in block.splitlines():
            if line.startswith("$ "):
                printed = spark_output(line[2:], tmp_path)
                transcript += (
                    shell_transcript(line, tmp_path) if printed is None else f"{line}\n{printed}"
                )
                num_commands += 1
        assert transcript == block
    assert num_commands >= 15
    assert "<html" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_the_notebook_has_the_scripts_and_commands_of_the_page() -> None:
    notebook = json.loads((CHECKOUT / "docs" / "tutorial.ipynb").read_text("utf-8"))
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    commands = [
        line[2:]
        for block in blocks(PAGE, "console")
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    assert [source[1:] for source in sources if source.startswith("!")] == commands
    assert sum(source.startswith("%%writefile ") for source in sources) == 3
