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

YamlLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Loader of libyaml, which is in PyYAML's wheels and takes a tenth of the time of the one in Python."""


def load(path: Path) -> Spec:
    """Return the specification in the file at *path*, including keys that begin with a hyphen."""
    spec: Spec = yaml.load(path.read_bytes(), YamlLoader)
    return spec


def specs(folder: Path = SPEC) -> dict[str, Spec]:
    """Return all specifications in *folder*, by id, sorted."""
    return {path.stem: load(path) for path in sorted(folder.glob("*.ksy"))}
