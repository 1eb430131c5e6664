"""The specification itself, as data."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def spec_files() -> "Traversable":
    """Return the directory of the formats, in an installed wheel or in a checkout.

    In it are the .ksy files, and in ``messages`` those of the messages of internal topics, in YAML.
    """
    from importlib.resources import files  # takes its time, and few ask for the specification

    packaged = files("magicbyte") / "spec"
    checkout = Path(__file__).parents[2] / "spec"
    return packaged if packaged.is_dir() else checkout
