"""The notebook docs/tutorial.ipynb: the page docs/tutorial.md, its commands and scripts as cells."""

import json
import re
from typing import Any

FENCED = re.compile(r"^```(\w*)\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)

SCRIPT = re.compile(r"`(\w+\.py)`:\s*$")
"""A sentence that says how to save the script after it."""


def notebook(page: str) -> str:
    """Return *page*, in Markdown, as a notebook of Jupyter."""
    cells: list[dict[str, Any]] = []
    position = 0
    for match in FENCED.finditer(page):
        words = page[position : match.start()].strip()
        if words:
            cells.append(_markdown(words))
        cells += _code_cells(match[1], match[2], words)
        position = match.end()
    if rest := page[position:].strip():
        cells.append(_markdown(rest))
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number}"
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(text)}


def _code_cells(language: str, code: str, words: str) -> list[dict[str, Any]]:
    """Return the cells of a block: a script is saved, and a command runs in a shell; other blocks are shown."""
    if language == "python":
        name = SCRIPT.search(words)
        return [_code(f"%%writefile {name[1]}\n{code}" if name else code, "")]
    if language == "console":
        return [
            _code(f"!{command}", output)
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE)
        ]
    return [_markdown(f"```{language}\n{code}```")]


def _code(source: str, printed: str) -> dict[str, Any]:
    outputs = (
        [{"name": "stdout", "output_type": "stream", "text": _lines(printed)}] if printed else []
    )
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": outputs,
        "source": _lines(source.rstrip("\n")),
    }


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
