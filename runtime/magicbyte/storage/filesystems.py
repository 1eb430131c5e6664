"""A file system for each scheme: pyarrow's own, or one of fsspec's."""

import os
from collections.abc import Callable
from typing import Any

from magicbyte.errors import InputError
from magicbyte.storage.options import StorageOptions

Connection = tuple[Any, Callable[[str], str]]
"""A file system of pyarrow, and what makes its path of a key."""

GCS_PATIENCE_S = 60
"""How long Google's client tries again, unless told otherwise: its own limit is a quarter of an hour."""


def connect(scheme: str, authority: str, options: StorageOptions) -> Connection:
    """Return the file system behind `scheme://authority`; nothing is asked of it yet.

    Raises InputError for options that it does not take, and where what is needed to read the
    scheme is not installed; OSError where a library that it needs does not load.
    """
    make = _MAKERS.get(scheme, _of_fsspec)
    try:
        return make(scheme, authority, options.for_scheme(scheme))
    except InputError as error:
        refused = error
    except (ImportError, TypeError, ValueError) as error:
        said = options.scrubbed(str(error).partition("\n")[0])
        what = "the storage options do not go together"
        if scheme not in _MAKERS:
            what = f"fsspec opens no {scheme}: path"
        refused = InputError(f"{what}: {said}", path=f"{scheme}://{authority}")
    # Raised here, without the cause and the frames below, which hold the options: a trace may show
    # variables.
    raise refused.with_traceback(None)


def _s3(scheme: str, bucket: str, arguments: dict[str, Any]) -> Connection:
    from pyarrow import fs

    # As other clients of S3 do; pyarrow's own does not.
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        arguments.setdefault("endpoint_override", endpoint)
    return fs.S3FileSystem(**arguments), _below(bucket)


def _gcs(scheme: str, bucket: str, arguments: dict[str, Any]) -> Connection:
    from datetime import timedelta

    from pyarrow import fs

    arguments.setdefault("retry_time_limit", timedelta(seconds=GCS_PATIENCE_S))
    return fs.GcsFileSystem(**arguments), _below(bucket)


def _azure(scheme: str, authority: str, arguments: dict[str, Any]) -> Connection:
    from pyarrow import fs

    container, at, host = authority.rpartition("@")
    if not at:
        container = authority
    else:
        account, _, domain = host.partition(".")
        arguments.setdefault("account_name", account)
        if domain.startswith("dfs.") and domain != "dfs.core.windows.net":
            arguments.setdefault("dfs_storage_authority", f".{domain}")
            arguments.setdefault("blob_storage_authority", f".blob.{domain.removeprefix('dfs.')}")
    if "account_name" not in arguments:
        raise InputError(
            "no account",
            "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/NAME, or the storage option account_name",
            path=f"{scheme}://{authority}",
        )
    return fs.AzureFileSystem(**arguments), _below(container)


def _hdfs(scheme: str, authority: str, arguments: dict[str, Any]) -> Connection:
    from pyarrow import fs

    user, at, host = authority.rpartition("@")
    if at:
        arguments.setdefault("user", user)
    name, _, port = host.partition(":")
    made = fs.HadoopFileSystem(name or "default", int(port or 0), **arguments)
    return made, lambda key: f"/{key}"


def _of_fsspec(scheme: str, authority: str, arguments: dict[str, Any]) -> Connection:
    place = f"{scheme}://{authority}"
    try:
        import fsspec
    except ModuleNotFoundError:
        raise InputError(
            f"a path of {scheme}:",
            "s3:, gs:, abfss:, hdfs: or a file; others need fsspec (pip install fsspec)",
            path=place,
        ) from None
    from pyarrow import fs

    made, _ = fsspec.core.url_to_fs(place, **arguments)
    strip: Callable[[str], str] = made._strip_protocol
    return fs.PyFileSystem(fs.FSSpecHandler(made)), lambda key: strip(f"{place}/{key}")


def _below(bucket: str) -> Callable[[str], str]:
    return lambda key: f"{bucket}/{key}" if key else bucket


_MAKERS: dict[str, Callable[[str, str, dict[str, Any]], Connection]] = {
    "s3": _s3,
    "gs": _gcs,
    "abfss": _azure,
    "hdfs": _hdfs,
}
