"""Imports of the optional packages that Protobuf needs."""

from importlib import import_module
from typing import Any

from magicbyte.errors import SchemaError

EXTRA = "pip install 'magicbyte[protobuf]'"


class MissingLibraryError(SchemaError):
    """A package that Protobuf needs is not installed: schemas of other types can still be used."""


def library(module: str) -> Any:
    """Return *module* of the extra `protobuf`; MissingLibraryError says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingLibraryError(
            f"{module}, which decodes Protobuf, is not installed: {error}", EXTRA
        ) from error
