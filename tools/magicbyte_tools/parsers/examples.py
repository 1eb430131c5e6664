"""Builds the example program of a parser package, print_records, as its README says.

Each language's libraries are downloaded once, below .cache/; with *offline* nothing is downloaded.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from magicbyte_tools.generate import kaitai, source
from magicbyte_tools.parsers.compiler_output import compile_targets, write
from magicbyte_tools.parsers.dumpers.builders import (
    MAVEN,
    ToolchainUnavailable,
    compiled,
    fetch,
    needed,
    tool,
)
from magicbyte_tools.parsers.packages import TEMPLATES, package

BUILDS = kaitai.CHECKOUT / ".cache" / "parsers"
SOURCES = ("packages.py", "compiler_output.py", "examples.py")


class ParserExample(ABC):
    """Build steps and command of the example program of a language's parsers."""

    target: ClassVar[str]

    @abstractmethod
    def build(self, folder: Path) -> None:
        """Install libraries and compile in *folder*, which holds the package."""

    @abstractmethod
    def command(self, folder: Path) -> list[str]:
        """Return the command that runs the example built in *folder*."""


class PythonExample(ParserExample):
    target = "python"

    def build(self, folder: Path) -> None:
        """Do nothing: this environment has the libraries."""

    def command(self, folder: Path) -> list[str]:
        return [sys.executable, str(folder / "print_records.py")]


class GoExample(ParserExample):
    target = "go"

    def build(self, folder: Path) -> None:
        go, cache = tool("go"), kaitai.CHECKOUT / ".cache" / "go"
        where = {"GOCACHE": str(cache / "build"), "GOMODCACHE": str(cache / "modules")}
        fetch([go, "mod", "tidy", "-modcacherw"], folder, **where)
        compiled([go, "build", "-modcacherw", "./cmd/print_records"], folder, **where)

    def command(self, folder: Path) -> list[str]:
        return [str(folder / "print_records")]


class JavaExample(ParserExample):
    target = "java"

    def build(self, folder: Path) -> None:
        javac, mvn = tool("javac"), tool("mvn")
        plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
        options = ["--batch-mode", "--quiet", f"-Dmaven.repo.local={MAVEN}"]
        fetch([mvn, *options, f"{plugin}:copy-dependencies", "-DoutputDirectory=lib"], folder)
        sources = sorted(str(path) for path in (folder / "src").rglob("*.java"))
        release = ["--release", "11", "-encoding", "UTF-8", "-nowarn", "-d", "classes"]
        compiled([javac, *release, "-cp", str(folder / "lib" / "*"), *sources], folder)

    def command(self, folder: Path) -> list[str]:
        classes = os.pathsep.join([str(folder / "classes"), str(folder / "lib" / "*")])
        return [tool("java"), "-cp", classes, "kafkaformats.examples.PrintRecords"]


class JavaScriptExample(ParserExample):
    target = "javascript"

    def build(self, folder: Path) -> None:
        cache = str(kaitai.CHECKOUT / ".cache" / "npm")
        install = ["install", "--ignore-scripts", "--silent", "--no-package-lock"]
        fetch([kaitai.NODE, str(kaitai.NPM), *install], folder, npm_config_cache=cache)

    def command(self, folder: Path) -> list[str]:
        return [kaitai.NODE, str(folder / "print_records.js")]


class RustExample(ParserExample):
    target = "rust"

    def build(self, folder: Path) -> None:
        runtime, cargo = needed(None, self.target), tool("cargo")
        manifest = folder / "Cargo.toml"
        local = f"kaitai = {{ path = {json.dumps(str(runtime))} }}"
        text = re.sub(r"(?m)^kaitai = .*$", local, manifest.read_text("utf-8"))
        manifest.write_text(text, "utf-8")
        where = {"CARGO_TARGET_DIR": str(kaitai.CHECKOUT / ".cache" / "rust")}
        fetch([cargo, "fetch", "--quiet"], folder, **where)
        options = ["--quiet", "--release", "--example", "print_records"]
        compiled([cargo, "build", *options], folder, **where)
        built = Path(where["CARGO_TARGET_DIR"], "release", "examples", "print_records")
        shutil.copy(built, folder / "print_records")

    def command(self, folder: Path) -> list[str]:
        return [str(folder / "print_records")]


class CppExample(ParserExample):
    target = "cpp_stl"

    def build(self, folder: Path) -> None:
        runtime, cmake = needed(None, self.target), tool("cmake")
        tool("g++")
        options = ["-DCMAKE_BUILD_TYPE=Release", f"-DKAITAI_RUNTIME={runtime}"]
        fetch([cmake, "-S", ".", "-B", "build", *options], folder)
        compiled([cmake, "--build", "build", "--parallel", "2"], folder)

    def command(self, folder: Path) -> list[str]:
        return [str(folder / "build" / "print_records")]


class PhpExample(ParserExample):
    target = "php"

    def build(self, folder: Path) -> None:
        """Write what Composer would: a loader of the package's classes and of the runtime's."""
        runtime = needed(None, self.target)
        tool("php")
        (folder / "vendor").mkdir()
        names = [*runtime.rglob("lib/**/*.php"), *(folder / "src").glob("*.php")]
        classes = {
            f"{namespace}{name}": os.path.relpath(path, folder / "vendor")
            for path in names
            for namespace, name in _php_classes(path.read_text("utf-8"))
        }
        entries = "".join(f"    {name!r} => {path!r},\n" for name, path in sorted(classes.items()))
        loader = f"<?php\n$classes = [\n{entries}];\n" + (
            "spl_autoload_register(function (string $name) use ($classes): void {\n"
            "    if (isset($classes[$name])) require_once __DIR__ . '/' . $classes[$name];\n"
            "});\n"
        )
        (folder / "vendor" / "autoload.php").write_text(loader, "utf-8")

    def command(self, folder: Path) -> list[str]:
        return [tool("php"), "-d", "ffi.enable=true", str(folder / "print_records.php")]


class CSharpExample(ParserExample):
    target = "csharp"

    def build(self, folder: Path) -> None:
        runtime, compiler = needed(None, self.target), tool("mcs")
        sources = sorted([*folder.glob("*.cs"), *(folder / "KafkaFormats").glob("*.cs")])
        sources += sorted(runtime.glob("*.cs"))
        options = ["-nologo", "-optimize+", "-langversion:7.2", "-out:print_records.exe"]
        compiled([compiler, *options, *map(str, sources)], folder)

    def command(self, folder: Path) -> list[str]:
        return [tool("mono"), str(folder / "print_records.exe")]


def _php_classes(text: str) -> Iterator[tuple[str, str]]:
    """Yield the namespace, with its separator, and the name of each class in a PHP file."""
    namespace = ""
    for line in text.splitlines():
        if match := re.match(r"namespace(?: ([\w\\]+))?\s*[;{]", line):
            namespace = f"{match[1]}\\" if match[1] else ""
        elif match := re.match(r"\s*(?:abstract |final )*class (\w+)", line):
            yield namespace, match[1]


EXAMPLES: dict[str, type[ParserExample]] = {
    example.target: example
    for example in (
        GoExample,
        JavaExample,
        JavaScriptExample,
        PythonExample,
        RustExample,
        CppExample,
        PhpExample,
        CSharpExample,
    )
}
"""Languages whose packages read records."""


def example(target: str, *, offline: bool = False) -> list[str]:
    """Return the command of the example of *target*, which is built where it was not yet.

    With *offline*, raise ToolchainUnavailable instead of building what has to download libraries.
    """
    recipe = EXAMPLES[target]()
    folder = BUILDS / f"records-{target}-{_state(target)}"
    if not (folder / "built").exists():
        if offline and target != "python":
            raise ToolchainUnavailable(
                f"the example in {target} is not built: `make parsers-check TARGET={target}`"
                " downloads its libraries and builds it"
            )
        _build(recipe, folder)
    return recipe.command(folder)


def _build(recipe: ParserExample, folder: Path) -> None:
    """Build in *folder*, atomically: another process may build the same at the same time."""
    target = recipe.target
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        write(package(target, compile_targets([target])[target], source.specs()), work)
        recipe.build(work)
        (work / "built").touch()
        shutil.rmtree(folder, ignore_errors=True)
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _state(target: str) -> str:
    """Return a digest of the sources of the example of *target*."""
    here = Path(__file__).parent
    sources = [*source.SPEC.glob("*.ksy"), *(here / name for name in SOURCES)]
    sources += (path for path in (TEMPLATES / target).rglob("*") if path.is_file())
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(sources):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
