"""The compiler's Python in the two modes that generated/ is not made in: debug and read-write."""

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
    """The classes of formats, compiled in one mode, without a trace in sys.modules."""

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
        """Return a root of the format *name* on *stream*, not yet read.

        A parameter of the root is false: a record is then one of no control batch.
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
