"""Builders of the dumpers, one class per language: source files, build steps, command to run."""

import json
import os
import re
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from magicbyte_tools.generate import kaitai
from magicbyte_tools.parsers.compiler_output import Files, Spec, compile_targets
from magicbyte_tools.parsers.dumpers.cpp_stl import Cpp
from magicbyte_tools.parsers.dumpers.csharp import CSharp
from magicbyte_tools.parsers.dumpers.go import Go
from magicbyte_tools.parsers.dumpers.java import Java
from magicbyte_tools.parsers.dumpers.javascript import JavaScript
from magicbyte_tools.parsers.dumpers.python import Python
from magicbyte_tools.parsers.dumpers.rust import Rust
from magicbyte_tools.parsers.dumpers.shapes import shapes
from magicbyte_tools.parsers.dumpers.walker import Language, program
from magicbyte_tools.parsers.packages import package

TEMPLATES = Path(__file__).with_name("templates")
MAVEN = kaitai.CHECKOUT / ".cache" / "maven"
JAR = "kaitai-struct-runtime/0.11/kaitai-struct-runtime-0.11.jar"
QUICK_JAVA = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options for a JVM that runs for seconds: without them, half of its CPU time is spent on optimizing code."""
GO_RUNTIME = "github.com/kaitai-io/kaitai_struct_go_runtime"


class ToolchainUnavailable(Exception):
    """A dumper cannot be built on this machine; the message names the missing tool or library."""


class BuildError(Exception):
    """Generated code does not compile: a bug in the generator, not in the machine's setup."""


class Builder(ABC):
    """Builder of a dumper in one language. Raises ToolchainUnavailable where a tool is missing."""

    target: ClassVar[str]
    language: ClassVar[type[Language]]
    main: ClassVar[tuple[str, str]]
    """Name of the program's template, and path of the program in the build folder."""

    def __init__(self, runtime: Path | None) -> None:
        self.runtime = runtime

    def files(self, specs: Mapping[str, Spec]) -> Files:
        """Return the sources of the dumper, parsers and program, by relative path."""
        template = (TEMPLATES / self.main[0]).read_text("utf-8")
        text = program(self.language(shapes(specs)), template)
        return {**self.parsers(specs), self.main[1]: text}

    def parsers(self, specs: Mapping[str, Spec]) -> Files:
        """Return the package of parsers that `make parsers` writes, without the reader, by relative path."""
        compiled_files = compile_targets([self.target])[self.target]
        return package(self.target, compiled_files, specs, with_reader=False)

    @abstractmethod
    def build(self, folder: Path) -> None:
        """Compile the program in *folder*, which holds its sources."""

    def command(self, folder: Path) -> list[str]:
        """Return the command that runs the program built in *folder*."""
        return [str(folder / "dump")]


class PythonBuilder(Builder):
    """Builder for Python: the dumper uses the classes in generated/, and nothing is compiled."""

    target = "python"
    language = Python
    main = ("dump.py.in", "dump.py")

    def parsers(self, specs: Mapping[str, Spec]) -> Files:
        return {}

    def build(self, folder: Path) -> None:
        pass

    def command(self, folder: Path) -> list[str]:
        return [sys.executable, str(folder / "dump.py")]


class JavaScriptBuilder(Builder):
    """Builder for JavaScript: the dumper uses the Kaitai compiler's Node and runtime library."""

    target = "javascript"
    language = JavaScript
    main = ("dump.js.in", "dump.js")

    def build(self, folder: Path) -> None:
        kaitai.install()
        runtime = kaitai.INSTALLED / "node_modules" / "kaitai-struct"
        shutil.copytree(runtime, folder / "node_modules" / "kaitai-struct")

    def command(self, folder: Path) -> list[str]:
        return [kaitai.NODE, str(folder / "dump.js")]


class JavaBuilder(Builder):
    """Builder for Java: Maven downloads the runtime library that the package's pom.xml names."""

    target = "java"
    language = Java
    main = ("Dump.java.in", "src/main/java/Dump.java")

    def __init__(self, runtime: Path | None) -> None:
        super().__init__(runtime)
        self.java, self.javac = tool("java"), tool("javac")
        if not self.jar.exists():
            self.mvn = tool("mvn")

    @property
    def jar(self) -> Path:
        """Path of the runtime library: the given one, or that in Maven's local repository."""
        return self.runtime or MAVEN / "io" / "kaitai" / JAR

    def build(self, folder: Path) -> None:
        if not self.jar.exists():
            # Of Maven's plugins that resolve dependencies, this one needs the fewest downloads.
            goal = "org.apache.maven.plugins:maven-antrun-plugin:3.1.0:run"
            fetch(
                [self.mvn, "--batch-mode", "--quiet", f"-Dmaven.repo.local={MAVEN}", goal], folder
            )
        shutil.copy(self.jar, folder / "runtime.jar")
        sources = sorted(str(path) for path in (folder / "src").rglob("*.java"))
        quick = [f"-J{option}" for option in QUICK_JAVA]
        options = [*quick, "-encoding", "UTF-8", "-nowarn", "-d", "classes", "-cp", "runtime.jar"]
        compiled([self.javac, *options, *sources], folder)

    def command(self, folder: Path) -> list[str]:
        classes = os.pathsep.join([str(folder / "classes"), str(folder / "runtime.jar")])
        return [self.java, "-cp", classes, *QUICK_JAVA, "Dump"]


class GoBuilder(Builder):
    """Builder for Go: the go command downloads the runtime library unless a folder is given."""

    target = "go"
    language = Go
    main = ("dump.go.in", "cmd/dump/main.go")

    def __init__(self, runtime: Path | None) -> None:
        super().__init__(runtime or of_environment(self.target))
        self.go = tool("go")

    def files(self, specs: Mapping[str, Spec]) -> Files:
        files = super().files(specs)
        if self.runtime:
            files["go.mod"] += f"\nreplace {GO_RUNTIME} => {self.runtime}\n"
        return files

    def build(self, folder: Path) -> None:
        cache = kaitai.CHECKOUT / ".cache" / "go"
        where = {"GOCACHE": str(cache / "build"), "GOMODCACHE": str(cache / "modules")}
        # Without modcacherw an ordinary rm could not delete the modules.
        fetch([self.go, "mod", "tidy", "-modcacherw"], folder, **where)
        compiled([self.go, "build", "-modcacherw", "-o", "dump", "./cmd/dump"], folder, **where)


class RustBuilder(Builder):
    target = "rust"
    language = Rust
    main = ("dump.rs.in", "src/bin/dump.rs")

    def __init__(self, runtime: Path | None) -> None:
        super().__init__(needed(runtime, self.target))
        self.cargo = tool("cargo")

    def files(self, specs: Mapping[str, Spec]) -> Files:
        files = super().files(specs)
        given = f"kaitai = {{ path = {json.dumps(str(self.runtime))} }}"
        files["Cargo.toml"] = re.sub(r"(?m)^kaitai = .*$", given, files["Cargo.toml"])
        return files

    def build(self, folder: Path) -> None:
        target = kaitai.CHECKOUT / ".cache" / "rust"
        where = {"CARGO_TARGET_DIR": str(target)}
        fetch([self.cargo, "fetch", "--quiet"], folder, **where)
        compiled([self.cargo, "build", "--quiet", "--release", "--bin", "dump"], folder, **where)
        shutil.copy(target / "release" / "dump", folder)


class CppBuilder(Builder):
    target = "cpp_stl"
    language = Cpp
    main = ("dump.cpp.in", "dump.cpp")

    def __init__(self, runtime: Path | None) -> None:
        super().__init__(needed(runtime, self.target))
        self.compiler = tool("g++")

    def build(self, folder: Path) -> None:
        sources = [*sorted((folder / "src").glob("*.cpp")), folder / "dump.cpp"]
        runtime = Path(str(self.runtime))
        compiled(
            [
                self.compiler,
                *("-std=c++17", "-O1", "-DKS_STR_ENCODING_ICONV", "-o", "dump"),
                *(f"-I{runtime}", f"-I{folder / 'src'}"),
                *(str(source) for source in sources),
                str(runtime / "kaitai" / "kaitaistream.cpp"),
            ],
            folder,
        )


class CSharpBuilder(Builder):
    """Builder for C# by Mono's compiler, which takes source files; .NET's needs a project."""

    target = "csharp"
    language = CSharp
    main = ("Dump.cs.in", "Dump.cs")

    def __init__(self, runtime: Path | None) -> None:
        super().__init__(needed(runtime, self.target))
        self.mcs, self.mono = tool("mcs"), tool("mono")

    def build(self, folder: Path) -> None:
        sources = [*(folder / "KafkaFormats").glob("*.cs"), *Path(str(self.runtime)).glob("*.cs")]
        names = sorted(str(source) for source in sources)
        compiled([self.mcs, "-nologo", "-optimize+", "-out:dump.exe", "Dump.cs", *names], folder)

    def command(self, folder: Path) -> list[str]:
        return [self.mono, str(folder / "dump.exe")]


def of_environment(target: str) -> Path | None:
    """Return the folder of *target*'s runtime library that the environment names, or None."""
    given = os.environ.get(f"KAITAI_RUNTIME_{target.upper()}")
    return Path(given).resolve() if given else None


def needed(runtime: Path | None, target: str) -> Path:
    """Return the folder of *target*'s runtime library, which must be given: no registry has it."""
    found = runtime or of_environment(target)
    if not found:
        raise ToolchainUnavailable(
            f"Kaitai's runtime for {target} is in no registry: KAITAI_RUNTIME_{target.upper()}"
            " may name a folder that holds it"
        )
    return found


def tool(name: str) -> str:
    """Return the path of the program *name*; raise ToolchainUnavailable if it is not on PATH."""
    found = shutil.which(name)
    if not found:
        raise ToolchainUnavailable(f"{name} is not on PATH")
    return found


def fetch(command: Sequence[str], folder: Path, **environment: str) -> None:
    """Run a download command; raise ToolchainUnavailable where it fails, for example offline."""
    if words := _words_of_failure(command, folder, environment):
        raise ToolchainUnavailable(words)


def compiled(command: Sequence[str], folder: Path, **environment: str) -> None:
    """Run a compiler in *folder*; raise BuildError where it rejects the generated code."""
    if words := _words_of_failure(command, folder, environment):
        raise BuildError(words)


def _words_of_failure(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> str | None:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True
    )
    if not done.returncode:
        return None
    words = (done.stderr.strip() or done.stdout.strip())[-2000:]
    return f"{Path(command[0]).name} failed: {words}"


BUILDERS: dict[str, type[Builder]] = {
    "python": PythonBuilder,
    "javascript": JavaScriptBuilder,
    "java": JavaBuilder,
    "go": GoBuilder,
    "rust": RustBuilder,
    "cpp_stl": CppBuilder,
    "csharp": CSharpBuilder,
}
