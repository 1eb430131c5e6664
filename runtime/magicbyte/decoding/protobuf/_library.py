"""Imports of the optional packages that Protobuf needs."""

from importlib import import_module
from typing import Any

from magicbyte.errors import InputError

EXTRA = "pip install 'magicbyte[protobuf]'"


def library(module: str) -> Any:
    """Return *module* of the extra `protobuf`; InputError says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"{module}, which decodes Protobuf, is not installed: {error}", EXTRA
        ) from error
