"""The specification itself, as data."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def spec_files() -> Traversable:
    """Return the directory of the formats, in an installed wheel or in a checkout.

    In it are the .ksy files, and in ``messages`` those of the messages of internal topics, in YAML.
    """
    packaged = files("magicbyte") / "spec"
    checkout = Path(__file__).parents[2] / "spec"
    return packaged if packaged.is_dir() else checkout
