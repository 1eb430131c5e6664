"""Regenerates the Python modules that depend on a mutated .ksy file."""

import json
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from magicbyte_tools.generate import kaitai, parsers, source, wire
from magicbyte_tools.generate.kaitai import CHECKOUT, CompileError
from magicbyte_tools.mutants.mutant import Mutant

WIRE = "wire"
"""Name of the generated module that depends on all grammars."""

GENERATED = Path("generated", "magicbyte_formats")


@cache
def specs() -> dict[str, source.Spec]:
    """Return every specification by its id; all keys are strings, as in JSON."""
    spec_by_id: dict[str, source.Spec] = json.loads(json.dumps(source.specs()))
    return spec_by_id


def dependents(name: str, grammars: Mapping[str, source.Spec] | None = None) -> list[str]:
    """Return the grammar *name* and all that import it, directly or not, the nearest first."""
    grammars = specs() if grammars is None else grammars
    found = [name]
    for nearer in found:
        found += [
            other
            for other, spec in grammars.items()
            if nearer in spec["meta"].get("imports", []) and other not in found
        ]
    return found


def regenerate(mutant: Mutant, spec_folder: Path, tree: Path) -> set[str]:
    """Write the generated modules that differ because of *mutant* into *tree*; return their names.

    *spec_folder* holds the sound grammars, and is restored. Raises CompileError, or an error of the
    generator, if the mutant cannot be compiled.
    """
    name = Path(mutant.file).stem
    mutated = specs() | {name: json.loads(mutant.text)}
    texts = {WIRE: wire.module(mutated)}
    for grammar, text in _compiled(mutant, spec_folder, dependents(name)).items():
        texts[grammar] = parsers.module(text, mutated[grammar])
    changed = set()
    for module, text in texts.items():
        path = GENERATED / (f"{WIRE}.py" if module == WIRE else f"kaitai/{module}.py")
        if _code((CHECKOUT / path).read_text("utf-8")) != _code(text):
            (tree / path).write_text(text, "utf-8")
            changed.add(module)
    return changed


def _compiled(mutant: Mutant, spec_folder: Path, names: list[str]) -> dict[str, str]:
    """Return the Kaitai compiler's Python for the grammars *names*, given the text of *mutant*.

    One extra grammar imports them all, since the compiler would otherwise compile each of them again
    for each grammar that imports it.
    """
    file = spec_folder / Path(mutant.file).name
    sound = file.read_bytes()
    importing = spec_folder / "everything.ksy"
    importing.write_text(json.dumps({"meta": {"id": "everything", "imports": names}}), "utf-8")
    file.write_text(mutant.text, "utf-8")
    try:
        files = _compiler().compile(importing)["everything"]["files"]["python"]
    finally:
        file.write_bytes(sound)
    return {name: files[f"{name}.py"] for name in names}


class Compiler:
    """A process of the Kaitai compiler that compiles many files, and ends with this process."""

    def __init__(self) -> None:
        kaitai.install()
        script = str(kaitai.HERE / "compile.mjs")
        command = [kaitai.NODE, script, str(kaitai.INSTALLED), "python", "--lines"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )

    def compile(self, path: Path) -> dict[str, Any]:
        """Return the compiler's output for the .ksy *path*. Raises CompileError if the file is refused."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(path)]) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise CompileError(answer["error"])
        return answer


_compiler = cache(Compiler)


def _code(text: str) -> list[str]:
    """Return the lines of *text* without comments: the header has the hash of the source, which differs."""
    return [line for line in text.splitlines() if not line.startswith("#")]


@cache
def used_by_the_runtime() -> frozenset[str]:
    """Return the names of generated modules that the runtime imports, directly or by another of them."""
    names: list[str] = []
    for file in (CHECKOUT / "runtime").rglob("*.py"):
        names += re.findall(r"magicbyte_formats\.kaitai\.(\w+)", file.read_text("utf-8"))
    for name in names:
        imports = specs()[name]["meta"].get("imports", [])
        names += [imported for imported in imports if imported not in names]
    return frozenset([WIRE, *names])
