"""The specifications as their authors wrote them, for tools that derive something else from them.

Only this package reads YAML. A number that is a key, such as an enum's value, stays a number.
"""

from pathlib import Path
from typing import Any

import yaml

from magicbyte_tools.generate.kaitai import CHECKOUT

Spec = dict[str, Any]

SPEC = CHECKOUT / "spec"


def load(path: Path) -> Spec:
    """Return what the file at *path* says, keys that begin with a hyphen included."""
    spec: Spec = yaml.safe_load(path.read_bytes())
    return spec


def specs(folder: Path = SPEC) -> dict[str, Spec]:
    """Return every specification in *folder* by its id, sorted."""
    return {path.stem: load(path) for path in sorted(folder.glob("*.ksy"))}
