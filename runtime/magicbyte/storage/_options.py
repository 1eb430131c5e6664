"""Storage options, such as credentials and regions. Their values are never shown."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from magicbyte.errors import InputError


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a string")
    return value


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() not in ("true", "false"):
        raise ValueError("true or false")
    return str(value).lower() == "true"


def _count(value: Any) -> int:
    return int(_seconds(value))


def _seconds(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number < 1 << 31:
        raise ValueError("a number of seconds")
    return number


def _span(value: Any) -> timedelta:
    return value if isinstance(value, timedelta) else timedelta(seconds=_seconds(value))


def _time(value: Any) -> datetime:
    try:
        return value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError("ISO 8601") from None


_S3_TEXTS = (
    *("access_key", "secret_key", "session_token", "region", "endpoint_override", "scheme"),
    *("role_arn", "session_name", "external_id", "proxy_options", "tls_ca_file_path"),
)
_GS_TEXTS = ("access_token", "target_service_account", "project_id", "endpoint_override", "scheme")
_ABFSS_TEXTS = (
    *("account_name", "account_key", "sas_token", "tenant_id", "client_id", "client_secret"),
    *("blob_storage_authority", "blob_storage_scheme"),
    *("dfs_storage_authority", "dfs_storage_scheme"),
)

KNOWN_OPTIONS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "s3": {
        **dict.fromkeys(_S3_TEXTS, _text),
        **dict.fromkeys(("anonymous", "force_virtual_addressing"), _flag),
        **dict.fromkeys(("request_timeout", "connect_timeout"), _seconds),
        "load_frequency": _count,
    },
    "gs": {
        **dict.fromkeys(_GS_TEXTS, _text),
        "credential_token_expiration": _time,
        "anonymous": _flag,
        "retry_time_limit": _span,
    },
    "abfss": dict.fromkeys(_ABFSS_TEXTS, _text),
    "hdfs": {"user": _text, "kerb_ticket": _text},
}
"""Options for reading, with their parsers, of the pyarrow file system of each scheme."""

PUBLIC_OPTIONS = frozenset(
    {
        *("anonymous", "region", "endpoint_override", "scheme", "force_virtual_addressing"),
        *("load_frequency", "request_timeout", "connect_timeout", "retry_time_limit"),
        *("account_name", "project_id", "user", "blob_storage_authority", "blob_storage_scheme"),
        *("dfs_storage_authority", "dfs_storage_scheme"),
    }
)
"""Options whose values may be part of an error message."""

MIN_SECRET_CHARS = 4
"""Shortest value that is removed from error messages; removing single letters would garble them."""


class StorageOptions:
    """Options of a store, by name. Only the names are ever shown.

    They can be pickled, because a task that reads in another process needs the values.
    """

    __slots__ = ("_key", "_values")

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = {n: value for n, value in (values or {}).items() if value is not None}
        self._key: frozenset[tuple[str, str]] | None = None

    @classmethod
    def of(cls, storage_options: "Mapping[str, Any] | StorageOptions | None") -> "StorageOptions":
        """Return *storage_options* as StorageOptions."""
        return (
            storage_options if isinstance(storage_options, StorageOptions) else cls(storage_options)
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._values)

    @property
    def key(self) -> frozenset[tuple[str, str]]:
        """All options with their values, secrets included; equal for equal options."""
        if self._key is None:  # one for all objects that are remembered by it
            self._key = frozenset((name, repr(value)) for name, value in self._values.items())
        return self._key

    def __bool__(self) -> bool:
        return bool(self._values)

    def __repr__(self) -> str:
        return f"<StorageOptions {', '.join(self.names) or 'none'}>"

    def __reduce__(self) -> tuple[type["StorageOptions"], tuple[dict[str, Any]]]:
        return StorageOptions, (self._values,)

    def for_scheme(self, scheme: str) -> dict[str, Any]:
        """Return the arguments for the file system of *scheme*.

        Raises InputError for an unknown option, or a value that the option cannot have.
        """
        known = KNOWN_OPTIONS.get(scheme)
        if known is None:
            return dict(self._values)  # fsspec checks the options of its own schemes
        for name in self._values:
            if name not in known:
                raise InputError(
                    f"no storage option {name!r} for {scheme}:", f"some of {', '.join(known)}"
                )
            try:
                known[name](self._values[name])  # not in a variable: a traceback may show variables
            except ValueError as error:
                raise InputError(
                    f"storage option {name} has an invalid value", str(error)
                ) from None
        return {name: known[name](value) for name, value in self._values.items()}

    def scrub(self, text: str) -> str:
        """Return *text* with the values of secret options replaced by `...`."""
        secrets = [str(value) for name, value in self._values.items() if name not in PUBLIC_OPTIONS]
        for secret in sorted(secrets, key=len, reverse=True):
            if len(secret) >= MIN_SECRET_CHARS:
                text = text.replace(secret, "...")
        return text


NO_OPTIONS = StorageOptions()
