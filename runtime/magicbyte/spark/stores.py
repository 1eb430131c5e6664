"""Options of stores, as Spark hands them on."""

from collections.abc import Mapping

from magicbyte.storage import StorageOptions

STORAGE = "storage."
"""What stands before the name of an option that goes to the file system of a store."""


def storage_options(options: Mapping[str, str]) -> StorageOptions:
    """Return what *options* say of stores. Their names have no case, and are in lower case there."""
    given = {name.lower(): value for name, value in options.items()}
    return StorageOptions(
        {
            name.removeprefix(STORAGE): value
            for name, value in given.items()
            if name.startswith(STORAGE)
        }
    )
