"""Values of configurations that may be passwords or keys, which no table shows."""

import re

HIDDEN = "[hidden]"
"""Text in place of a secret, as Kafka prints it (Password.HIDDEN)."""

_SECRET_NAME = re.compile(
    r"password|passwd|passphrase|secret|jaas|credential|token|api[._-]?key|access[._-]?key|private[._-]?key"
    r"|keystore\.key|keystore\.certificate|truststore\.certificates|basic\.auth\.user\.info|\.pem$",
    re.IGNORECASE,
)


_SECRET_IN_URL = re.compile(r"(?<=://)[^/?#@\s]*:[^/?#@\s]*(?=@)")
"""User and password in a URL."""

_SECRET_PARAMETER = re.compile(r"((?:password|secret|token)\s*=\s*)[^&;,\s]+", re.IGNORECASE)
"""Password in a query or a JAAS line."""


def masked(name: str, value: str) -> str:
    """Return *value* with a mask in place of all that may be a secret in a configuration of this *name*.

    The log does not say which ones a connector or a broker treats as secrets: names decide, and passwords in URLs.
    """
    if _SECRET_NAME.search(name):
        return HIDDEN
    return _SECRET_PARAMETER.sub(rf"\1{HIDDEN}", _SECRET_IN_URL.sub(HIDDEN, value))
