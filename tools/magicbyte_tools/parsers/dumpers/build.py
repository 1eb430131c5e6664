"""Builds dumpers, cached by a digest of the specifications and of the generator's sources."""

import hashlib
import sys
import tempfile
from pathlib import Path

from magicbyte_tools.generate import kaitai, source
from magicbyte_tools.parsers.compiler_output import write
from magicbyte_tools.parsers.dumpers.builders import BUILDERS, Builder

BUILDS = kaitai.CHECKOUT / ".cache" / "parsers"
HERE = Path(__file__).parent
COMPILER = ("compile.mjs", "kaitai.py", "package-lock.json", "parsers.py")
LIBRARY = frozenset({".cpp", ".cs", ".go", ".h", ".jar", ".mod", ".rs", ".toml"})


def dumper(target: str, workdir: Path | None = None, runtime: Path | None = None) -> list[str]:
    """Return the command that prints files as JSON trees, parsed in the language *target*.

    The caller appends the id of a format, and files. The program is built in a folder of *workdir*,
    by default under .cache/, named by a digest of the sources; a second call does not build again.
    *runtime* is Kaitai's runtime library for Go, Rust, C++ or C#, by default the folder that
    KAITAI_RUNTIME_GO, _RUST, _CPP_STL or _CSHARP names. Raises ToolchainUnavailable where a tool or a
    library is missing.
    """
    if target not in BUILDERS:
        raise ValueError(f"no dumper for {target!r}; there is one for {', '.join(BUILDERS)}")
    builder = BUILDERS[target](runtime)
    folder = (workdir or BUILDS).resolve() / f"{target}-{state(builder)}"
    if not (folder / "built").exists():
        build(builder, folder)
    return builder.command(folder)


def build(builder: Builder, folder: Path) -> None:
    """Build the program in *folder*, atomically: another process may build it at the same time."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        work = Path(name, "work")
        write(builder.files(source.specs()), work)
        builder.build(work)
        (work / "built").touch()
        try:
            work.rename(folder)
        except OSError:
            if not (folder / "built").exists():
                raise


def state(builder: Builder) -> str:
    """Return a digest of a build's inputs: specifications, generator, runtime library, Python."""
    sources = [*source.SPEC.glob("*.ksy"), *(kaitai.HERE / name for name in COMPILER)]
    sources += (p for p in HERE.parent.rglob("*") if p.is_file() and p.suffix != ".pyc")
    if builder.runtime:
        sources += (p for p in builder.runtime.rglob("*") if p.suffix in LIBRARY)
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(sources):
        digest.update(f"{path}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
