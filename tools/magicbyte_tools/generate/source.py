"""Reads the specifications from their YAML, for the generator and other tools.

Only this package reads YAML. A numeric key, such as an enum's value, stays a number.
"""

from pathlib import Path
from typing import Any

import yaml

from magicbyte_tools.generate.kaitai import CHECKOUT

Spec = dict[str, Any]
"""Specification, or a mapping in one."""

SPEC = CHECKOUT / "spec"


def load(path: Path) -> Spec:
    """Return the specification in the file at *path*, including keys that begin with a hyphen."""
    spec: Spec = yaml.safe_load(path.read_bytes())
    return spec


def specs(folder: Path = SPEC) -> dict[str, Spec]:
    """Return all specifications in *folder*, by id, sorted."""
    return {path.stem: load(path) for path in sorted(folder.glob("*.ksy"))}
