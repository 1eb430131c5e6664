import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from magicbyte_tools.generate.kaitai import NODE
from magicbyte_tools.viewer import page_builder
from paths import CHECKOUT

HERE = Path(__file__).parent
VECTORS = CHECKOUT / "tests" / "vectors"

File = tuple[str, Path]
"""Format of a file, and its path."""


def vectors(verdict: str) -> dict[str, dict[str, Any]]:
    """Return the descriptions of the vectors of `kafka_log` with this verdict's folder, by name."""
    folder = VECTORS / verdict / "kafka_log"
    return {
        path.stem: json.loads(path.read_text("utf-8")) | {"path": path.with_suffix(".bin")}
        for path in sorted(folder.glob("*.json"))
    }


@pytest.fixture(scope="session")
def scripts() -> list[str]:
    """Provide the scripts in the page that ships: libraries, parsers, the viewer."""
    return re.findall(r"<script>(.*?)</script>", page_builder.PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture(scope="session")
def inspect(
    scripts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Sequence[File]], list[dict[str, Any]]]:
    """Provide a function that runs the page's scripts on files, in Node."""
    folder = tmp_path_factory.mktemp("scripts")
    texts = [*scripts[:2], page_builder.core_script()]
    paths = [folder / f"{number}.js" for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, "utf-8")

    def run(files: Sequence[File]) -> list[dict[str, Any]]:
        jobs = json.dumps([(name, str(path)) for name, path in files])
        command = [NODE, HERE / "core.mjs", *paths]
        done = subprocess.run(
            command, input=jobs, stdout=subprocess.PIPE, check=True, encoding="utf-8"
        )
        results: list[dict[str, Any]] = json.loads(done.stdout)
        return results

    return run


@pytest.fixture(scope="session")
def shown(inspect: Callable[[Sequence[File]], list[dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Provide what the page's scripts say of all vectors of `kafka_log`, by `valid/name`."""
    cases = {
        f"{verdict}/{name}": case["path"]
        for verdict in ("valid", "invalid")
        for name, case in vectors(verdict).items()
    }
    return dict(zip(cases, inspect([("kafka_log", path) for path in cases.values()]), strict=True))
