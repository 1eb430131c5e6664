"""Compiles the specifications to Python in two modes that generated/ lacks: debug, read-write."""

import inspect
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from magicbyte_tools.generate.kaitai import INSTALLED, NODE, CompileError, install
from magicbyte_tools.generate.parsers import camel

HERE = Path(__file__).parent

Mode = Literal["debug", "read-write"]

_IMPORT = re.compile(r"^import (kafka_\w+)$", re.MULTILINE)


class Formats:
    """Python classes of the specifications, compiled in one mode and kept out of sys.modules."""

    def __init__(self, sources: Sequence[Path], mode: Mode) -> None:
        install()
        command: Sequence[str | Path] = [NODE, HERE / "compile.mjs", INSTALLED, mode, *sources]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        if done.returncode:
            raise CompileError(done.stderr.strip())
        files: dict[str, str] = json.loads(done.stdout)
        self._sources = {name.removesuffix(".py"): text for name, text in files.items()}
        self._modules: dict[str, ModuleType] = {}

    def new(self, name: str, stream: Any) -> Any:
        """Return an object of the format *name* on *stream*, not yet read.

        Parameters of the format are false: a record is parsed as one outside a control batch.
        """
        root = getattr(self._module(name), camel(name))
        arguments = list(inspect.signature(root).parameters)
        return root(*[False] * arguments.index("_io"), stream)

    def _module(self, name: str) -> ModuleType:
        if name not in self._modules:
            module, source = ModuleType(name), self._sources[name]
            for imported in _IMPORT.findall(source):
                setattr(module, imported, self._module(imported))
            exec(compile(_IMPORT.sub("", source), f"{name}.py", "exec"), module.__dict__)
            self._modules[name] = module
        return self._modules[name]
