"""Connect to the file system of a URL scheme: pyarrow's own, or one of fsspec's."""

import os
from collections.abc import Callable
from typing import Any

from magicbyte.errors import InputError
from magicbyte.storage._options import StorageOptions

Connection = tuple[Any, Callable[[str], str]]
"""A pyarrow file system, and the function that turns a URL's key into its path."""

GCS_RETRY_SECONDS = 60
"""Default retry limit of Google's client; its own default is 15 minutes."""


S3_ATTEMPTS = 6
"""Attempts of a request to S3. The client waits before each repetition: a random time up to 1 s, then
up to 2 s, 4 s and so on. It repeats requests that are throttled, time out, are reset, end early or
meet a server error, and not those that are refused. Its default of 3 attempts gives up after two seconds."""


def connect(scheme: str, authority: str, storage_options: StorageOptions) -> Connection:
    """Return the file system of `scheme://authority`, without sending a request to it.

    Raises InputError for an option that the file system does not have, or if a package that it
    needs is not installed; OSError if a native library does not load.
    """
    connector = _CONNECTORS.get(scheme, _connect_fsspec)
    try:
        return connector(scheme, authority, storage_options.for_scheme(scheme))
    except InputError as error:
        refusal = error
    except (ImportError, TypeError, ValueError) as error:
        reason = storage_options.scrub(str(error).partition("\n")[0])
        problem = "pyarrow refuses these storage options"
        if scheme not in _CONNECTORS:
            problem = f"fsspec cannot open {scheme}: paths"
        refusal = InputError(f"{problem}: {reason}", path=f"{scheme}://{authority}")
    # A traceback may show variables. So the error is raised here, without its cause and the frames
    # that hold the options.
    raise refusal.with_traceback(None)


def _connect_s3(scheme: str, bucket: str, arguments: dict[str, Any]) -> Connection:
    from pyarrow import fs

    # Other S3 clients read these variables; pyarrow's does not.
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        arguments.setdefault("endpoint_override", endpoint)
    arguments["retry_strategy"] = fs.AwsStandardS3RetryStrategy(max_attempts=S3_ATTEMPTS)
    return fs.S3FileSystem(**arguments), _path_in(bucket)


def _connect_gcs(scheme: str, bucket: str, arguments: dict[str, Any]) -> Connection:
    from datetime import timedelta

    from pyarrow import fs

    arguments.setdefault("retry_time_limit", timedelta(seconds=GCS_RETRY_SECONDS))
    return fs.GcsFileSystem(**arguments), _path_in(bucket)


def _connect_azure(scheme: str, authority: str, arguments: dict[str, Any]) -> Connection:
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
            "the URL names no storage account",
            "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/NAME, or the storage option account_name",
            path=f"{scheme}://{authority}",
        )
    return fs.AzureFileSystem(**arguments), _path_in(container)


def _connect_hdfs(scheme: str, authority: str, arguments: dict[str, Any]) -> Connection:
    from pyarrow import fs

    user, at, host = authority.rpartition("@")
    if at:
        arguments.setdefault("user", user)
    name, _, port = host.partition(":")
    system = fs.HadoopFileSystem(name or "default", int(port or 0), **arguments)
    return system, lambda key: f"/{key}"


def _connect_fsspec(scheme: str, authority: str, arguments: dict[str, Any]) -> Connection:
    root = f"{scheme}://{authority}"
    try:
        import fsspec
    except ModuleNotFoundError:
        raise InputError(
            f"{scheme}: paths need the package fsspec, which is not installed",
            "s3:, gs:, abfss:, hdfs: or a local path; for others, pip install fsspec",
            path=root,
        ) from None
    from pyarrow import fs

    system, _ = fsspec.core.url_to_fs(root, **arguments)
    strip: Callable[[str], str] = system._strip_protocol
    return fs.PyFileSystem(fs.FSSpecHandler(system)), lambda key: strip(f"{root}/{key}")


def _path_in(bucket: str) -> Callable[[str], str]:
    return lambda key: f"{bucket}/{key}" if key else bucket


_CONNECTORS: dict[str, Callable[[str, str, dict[str, Any]], Connection]] = {
    "s3": _connect_s3,
    "gs": _connect_gcs,
    "abfss": _connect_azure,
    "hdfs": _connect_hdfs,
}
