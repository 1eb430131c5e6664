"""The specification's files, for tools that read Kaitai Struct."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def spec_files() -> "Traversable":
    """Return the folder of the specification, in an installed wheel or in a checkout.

    It holds the ``.ksy`` files of the formats, and in ``messages`` the YAML files of the messages
    of internal topics.

    Returns:
        A folder as importlib.resources gives it.
    Example:
        >>> mb.spec_files().joinpath("kafka_record_batch.ksy").is_file()
        True
    """
    from importlib.resources import files  # slow to import, and rarely needed

    packaged = files("magicbyte") / "spec"
    checkout = Path(__file__).parents[2] / "spec"
    return packaged if packaged.is_dir() else checkout
