"""Runs an S3 server on this machine, in a process of its own, and counts its requests."""

import os
import pickle
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

import magicbyte as mb
from magicbyte.storage import StorageOptions, Store

BUCKET = "logs"
SECRET = "pLaNtEd/SeCrEt+KeY"
ACCESS_KEY = "AKIAPLANTEDACCESSKEY"

SERVER = """
import pickle
from functools import cache
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import DomainDispatcherApplication, main

DomainDispatcherApplication.get_backend_for_host = cache(
    DomainDispatcherApplication.get_backend_for_host
)
by_moto = DomainDispatcherApplication.__call__


def answer(application, environ, start_response):
    if environ["PATH_INFO"] != "/put-objects":
        return by_moto(application, environ, start_response)
    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    name, objects = pickle.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
    for key, data in objects.items():
        backend.put_object(name, key, data).set_acl(backend.get_bucket(name).acl)
    start_response("200 OK", [])
    return []


DomainDispatcherApplication.__call__ = answer
main()
"""
"""Moto's server. For each request it lists the folders of all services to choose one: 40 % of its time.

A request for /put-objects puts many objects at once: a request for each takes four milliseconds.
"""

_ASKED = re.compile(r'"(?:\x1b\[[0-9;]*m)*([A-Z]+) (\S+) HTTP')


class S3Server:
    """Moto's S3 server on a free port of the loopback interface."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "server.log"
        environment = {
            name: value for name, value in os.environ.items() if "proxy" not in name.lower()
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SERVER, "-H", "127.0.0.1", "-p", "0"],
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=environment,
                cwd=folder,
            )
        self.url = ""
        deadline = time.monotonic() + 60
        while not self.url:
            assert self._process.poll() is None and time.monotonic() < deadline, self._text()
            time.sleep(0.05)
            found = re.search(r"http://127\.0\.0\.1:\d+", self._text())
            self.url = found[0] if found else ""
        self._send("PUT", f"/{BUCKET}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)

    @property
    def options(self) -> dict[str, Any]:
        """Return the storage options with which magicbyte opens the store."""
        return {
            "access_key": ACCESS_KEY,
            "secret_key": SECRET,
            "region": "us-east-1",
            "endpoint_override": self.url,
        }

    def open(self, *paths: str | Path, **options: Any) -> mb.Dataset:
        return mb.open(*paths, storage_options=self.options, **options)

    def store(self) -> Store:
        return Store("s3", BUCKET, StorageOptions(self.options))

    def put(self, key: str, data: bytes) -> str:
        """Put an object; return its URL."""
        self._send("PUT", f"/{BUCKET}/{quote(key)}", data)
        return f"s3://{BUCKET}/{key}"

    def put_all(self, objects: dict[str, bytes]) -> None:
        """Put *objects*, by key, in one request."""
        self._send("POST", "/put-objects", pickle.dumps((BUCKET, objects)))

    def delete(self, key: str) -> None:
        self._send("DELETE", f"/{BUCKET}/{quote(key)}")

    def upload(self, folder: Path, prefix: str) -> str:
        """Put all files of *folder*; return its URL. S3 has no folders, so empty ones are lost."""
        paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
        self.put_all(
            {f"{prefix}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in paths}
        )
        return f"s3://{BUCKET}/{prefix}"

    @contextmanager
    def checking_credentials(self) -> Iterator[None]:
        """Make the server check credentials for a while: it knows no user, so it refuses all."""
        self._send("POST", "/moto-api/reset-auth", b"0")
        try:
            yield
        finally:
            self._send("POST", "/moto-api/reset-auth", b"inf")

    @contextmanager
    def counted(self) -> Iterator[Counter[str]]:
        """Count requests by HTTP method or LIST; the counts are filled when the block ends."""
        start, counts = len(self._text()), Counter[str]()
        yield counts
        for method, target in _ASKED.findall(self._text()[start:]):
            counts["LIST" if "list-type=2" in target else method] += 1

    def _send(self, method: str, target: str, data: bytes = b"") -> None:
        headers = {
            "Content-Type": "application/octet-stream",
            "Authorization": "AWS4-HMAC-SHA256 Credential=test/20200101/us-east-1/s3/aws4_request, "
            "SignedHeaders=host, Signature=none",
        }
        request = Request(self.url + target, data, headers, method=method)
        with build_opener(ProxyHandler({})).open(request) as answer:
            answer.read()

    def _text(self) -> str:
        return self._log.read_text(errors="replace")
