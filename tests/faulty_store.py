"""A proxy before an HTTP server that answers some requests with faults, as stores and networks do."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

ERRORS = {"throttled": (503, "SlowDown"), "too many": (429, "TooManyRequests")}
ERRORS |= {"server error": (500, "InternalError"), "denied": (403, "AccessDenied")}
"""HTTP status and S3's code of the faults that are error answers."""

FAULTS = (*ERRORS, "reset", "truncated")
"""`reset` ends the connection before the answer, `truncated` in the middle of its body."""

RESET = b"\1\0\0\0\0\0\0\0"
"""struct linger: closing a connection resets it."""


class FaultyStore(ThreadingHTTPServer):
    """Forwards requests to the server *url*, except those that get one of *faults*."""

    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Forwarder)
        self.target = url
        self.faults: list[str] = []
        """Faults of the next requests, in order."""
        self.num_requests = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Forwarder(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultyStore

    def do_GET(self) -> None:
        self.server.num_requests += 1
        fault = self.server.faults.pop(0) if self.server.faults else ""
        if fault in ERRORS:
            status, code = ERRORS[fault]
            self._answer(status, {}, f"<Error><Code>{code}</Code></Error>".encode())
        elif fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.connection.close()
            self.close_connection = True
        else:
            self._forward(is_truncated=fault == "truncated")

    do_HEAD = do_GET

    def _forward(self, *, is_truncated: bool) -> None:
        headers = dict(self.headers.items())
        request = Request(self.server.target + self.path, headers=headers, method=self.command)
        try:
            answer = build_opener(ProxyHandler({})).open(request)
        except HTTPError as error:
            answer = error
        with answer:
            self._answer(answer.status, dict(answer.headers.items()), answer.read(), is_truncated)

    def _answer(
        self, status: int, headers: dict[str, str], body: bytes, is_truncated: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            if name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if is_truncated else body)
        self.close_connection |= is_truncated

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def faulty_store(url: str) -> Iterator[FaultyStore]:
    """Provide a server that forwards to *url*, and answers with the faults that a test adds."""
    with FaultyStore(url) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
