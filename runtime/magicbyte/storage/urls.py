"""Which paths are of this machine, and which are URLs that name a place in a store."""

import re
from dataclasses import dataclass

from magicbyte.errors import InputError

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)  # one letter is a drive
_FILE = re.compile(r"file:/+", re.IGNORECASE)

SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss"}
"""Names that others give to a scheme."""

_BUCKET = re.compile(r"[^:@]+")
_HOST = re.compile(r"(?:[^:@]+@)?(?:\[[0-9A-Fa-f:.]+\]|[^:@]*)(?::[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Url:
    """A place in a store."""

    scheme: str
    """In lower case, and one for all that mean the same store."""
    authority: str
    """The bucket, the container and its account, or the host."""
    key: str
    """What names the place in there, without slashes around it; empty for all of it."""

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}" + (f"/{self.key}" if self.key else "")


def parse_url(path: str) -> Url | None:
    """Return the place that *path* names in a store, None where it is a path of this machine.

    Raises InputError where *path* holds a password or a query: it would be shown wherever a path
    is.
    """
    found = _URL.fullmatch(path)
    if found is None or found[1].lower() == "file":
        return None
    scheme = SAME.get(found[1].lower(), found[1].lower())
    authority, _, key = found[2].partition("/")
    form = _BUCKET if scheme in ("s3", "gs") else _HOST
    if "?" in path or not form.fullmatch(authority):
        raise InputError(
            "a path with what may be a password or a query in it",
            f"{scheme}://PLACE/NAME, and credentials as storage options",
            path=redacted(path),
        )
    return Url(scheme, authority, "/".join(part for part in key.split("/") if part))


def is_url(path: str) -> bool:
    """Return whether *path* names a place in a store, well formed or not."""
    found = _URL.fullmatch(path)
    return found is not None and found[1].lower() != "file"


def local_path(path: str) -> str:
    """Return the path of this machine *path* without the `file:` that may stand before it."""
    return _FILE.sub("/", path, count=1) if _FILE.match(path) else path


def redacted(path: str) -> str:
    """Return *path* without what may be a password or a query in it."""
    found = _URL.fullmatch(path)
    if found is None:
        return path
    rest = found[2].partition("?")[0]
    before, at, behind = rest.rpartition("@")
    # Not all that looks like a host and its port is one.
    if ":" in (before if at else rest):
        rest = f"...@{behind}" if at else "..."
    return f"{found[1]}://{rest}"
