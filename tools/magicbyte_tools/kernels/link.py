"""Links an object file to a shared library, by the linkers that the package ziglang brings.

They need no compiler, header or library of this machine, and link for other systems, too.
"""

import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

from magicbyte.engines.columnar._processor_levels import ProcessorLevel

EMULATIONS = {"x86_64": "elf_x86_64", "aarch64": "aarch64linux"}
"""Names of ELF targets, by machine."""

ELF = (
    *("-shared", "--strip-all", "--gc-sections", "--build-id=none", "--no-undefined"),
    *("-Bsymbolic", "-z", "noexecstack", "-z", "relro", "-z", "now", "-z", "separate-code"),
)


def link(obj: Path, library: Path, level: ProcessorLevel, cache: Path) -> None:
    """Link the object file *obj* for *level* to *library*; *cache* is a folder for files of the linker."""
    if level.system == "darwin":
        target = f"{'aarch64' if level.machine == 'arm64' else level.machine}-macos"
        command = ["cc", "-target", target, "-shared", "-Wl,-s", "-Wl,-dead_strip"]
        command += [f"-Wl,-install_name,@rpath/{level.file_name}"]
    else:
        command = ["ld.lld", "-m", EMULATIONS[level.machine], *ELF]
    folders = {name: str(cache) for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    subprocess.run(
        [_zig(), *command, "-o", library, obj], env={**os.environ, **folders}, check=True
    )


def is_available() -> bool:
    """Return whether the linker is installed."""
    return find_spec("ziglang") is not None


def _zig() -> Path:
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise SystemExit("ziglang is not installed: pip install -r requirements/build.lock")
    return Path(spec.origin).with_name("zig")
