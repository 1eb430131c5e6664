"""The script of the pages, and the policy that lets no other script run."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

SCRIPT = files(__package__).joinpath("page.js").read_text(encoding="utf-8")

_HASH = b64encode(sha256(SCRIPT.encode("utf-8")).digest()).decode("ascii")

POLICY = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_HASH}'"
"""Content-Security-Policy: nothing is loaded, and only SCRIPT runs."""
