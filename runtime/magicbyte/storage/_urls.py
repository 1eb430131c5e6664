"""Tell local paths from URLs of object stores, and parse the latter."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from magicbyte.errors import InputError

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)  # one letter is a drive
_FILE = re.compile(r"file:/+", re.IGNORECASE)

SCHEME_ALIASES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss"}
"""Other tools' names for a scheme."""

_BUCKET = re.compile(r"[^:@]+")
_HOST = re.compile(r"(?:[^:@]+@)?(?:\[[0-9A-Fa-f:.]+\]|[^:@]*)(?::[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Url:
    """The URL of a folder or an object in a store, in normal form."""

    scheme: str
    """Lower case; aliases are replaced, so that one store has one scheme."""
    authority: str
    """The bucket, the container and its account, or the host."""
    key: str
    """Path in the store, without leading and trailing slashes; empty for its root."""

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}" + (f"/{self.key}" if self.key else "")


def parse_url(path: str) -> Url | None:
    """Return *path* as a URL of a store; None for a local path.

    Raises InputError if *path* contains a password or a query, since paths are shown to users.
    """
    match = _URL.fullmatch(path)
    if match is None or match[1].lower() == "file":
        return None
    scheme = SCHEME_ALIASES.get(match[1].lower(), match[1].lower())
    authority, _, key = match[2].partition("/")
    form = _BUCKET if scheme in ("s3", "gs") else _HOST
    if "?" in path or not form.fullmatch(authority):
        raise InputError(
            "the URL seems to contain a password or a query, which would be shown with every path",
            f"{scheme}://BUCKET/NAME, and credentials as storage options",
            path=redacted(path),
        )
    return Url(scheme, authority, "/".join(part for part in key.split("/") if part))


def normalize_path(path: str) -> str:
    """Return *path* without a leading `file:`, and a URL without redundant slashes.

    Raises InputError where a URL contains a password or a query.
    """
    url = parse_url(path)
    return local_path(path) if url is None else str(url)


def absolute_path(path: str | os.PathLike[str]) -> str:
    """Return *path* in canonical form: normalized, and without `.`, `..` and symbolic links."""
    text = os.fspath(path)
    url = parse_url(text)
    try:
        return os.path.realpath(Path(local_path(text))) if url is None else str(url)
    except ValueError as error:  # NUL, or characters that no file name can have
        raise InputError(str(error), "a path that the system can have", path=repr(text)) from error


def is_url(path: str) -> bool:
    """Return whether *path* is a URL of a store, well formed or not."""
    match = _URL.fullmatch(path)
    return match is not None and match[1].lower() != "file"


def local_path(path: str) -> str:
    """Return the local path *path* without a leading `file:`."""
    return _FILE.sub("/", path, count=1) if _FILE.match(path) else path


def redacted(path: str) -> str:
    """Return *path* without a possible password or query, to be shown to a user."""
    match = _URL.fullmatch(path)
    if match is None:
        return path
    rest = match[2].partition("?")[0]
    user, at, host = rest.rpartition("@")
    # A part that looks like a host and port may be a user and a password.
    if ":" in (user if at else rest):
        rest = f"...@{host}" if at else "..."
    return f"{match[1]}://{rest}"
