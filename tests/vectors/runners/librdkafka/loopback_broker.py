"""A broker of one partition on loopback, which answers fetches with the bytes of a log as they are."""

import socketserver
import struct
import threading

API_VERSIONS, METADATA, FETCH, PRODUCE = 18, 3, 1, 0

VERSIONS = {PRODUCE: (7, 7), FETCH: (11, 11), METADATA: (4, 4), API_VERSIONS: (0, 0)}
"""Lowest and highest version of each request. No producer asks, but a client derives what brokers can do."""

UNSUPPORTED_VERSION = 35

MAX_OFFSET = (1 << 63) - 1


class LoopbackBroker:
    """Serves one topic at a time, of the last log given to `serve`."""

    def __init__(self):
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection)
        server.daemon_threads = True
        server.broker = self
        self.port = server.server_address[1]
        self.topic, self.log, self.aborted = "", b"", None
        self.same_fetches = 0
        """Number of fetches of the offset that was asked for last."""
        self._fetched_offset = None
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def serve(self, log, aborted=None):
        """Serve *log* from now on, in a new topic; return its name.

        *aborted* are the producer ids and first offsets of its aborted transactions, or None, which is null.
        """
        self.log, self.aborted = log, aborted
        self.topic = f"vector-{int(self.topic.rpartition('-')[2] or 0) + 1}"
        self.same_fetches, self._fetched_offset = 0, None
        return self.topic

    def fetched(self, topic, offset):
        """Return the bytes that a fetch of *offset* gets: those from the entry with this offset on."""
        if topic != self.topic:
            return b""
        self.same_fetches = self.same_fetches + 1 if offset == self._fetched_offset else 1
        self._fetched_offset = offset
        return self.log[entry_with(offset, self.log) :]


def entry_with(offset, log):
    """Return the position of the first entry of *log* that ends at *offset* or after it.

    An entry that is cut at the end of the log is not served alone, nor is it by a broker.
    """
    position = 0
    while position + 17 <= len(log):
        last, size = struct.unpack_from(">qi", log, position)
        if log[position + 16] >= 2 and position + 27 <= len(log):
            last += struct.unpack_from(">i", log, position + 23)[0]
        if size >= 0 and position + 12 + size > len(log):
            return len(log)
        if last >= offset or size < 0:
            return position
        position += 12 + size
    return len(log)


class Connection(socketserver.StreamRequestHandler):
    """Answers the requests of one connection."""

    def handle(self):
        while len(size := self.rfile.read(4)) == 4:
            request = self.rfile.read(int.from_bytes(size))
            key, version, correlation, client = struct.unpack_from(">hhih", request)
            body = self.body(key, version, request[10 + max(client, 0) :])
            answer = struct.pack(">i", correlation) + body
            self.wfile.write(struct.pack(">i", len(answer)) + answer)

    def body(self, key, version, request):
        if key == API_VERSIONS:
            error = UNSUPPORTED_VERSION if version else 0
            versions = [struct.pack(">hhh", key, *between) for key, between in VERSIONS.items()]
            return struct.pack(">h", error) + array(versions)
        if key == METADATA:
            return self.metadata()
        if key == FETCH:
            return self.fetch(request)
        raise ValueError(f"request {key} is not served")

    def metadata(self):
        broker = self.server.broker
        node = struct.pack(">i", 0)
        replicas = array([node])
        partition = struct.pack(">hii", 0, 0, 0) + replicas + replicas
        topic = struct.pack(">h", 0) + text(broker.topic) + b"\0" + array([partition])
        address = node + text("127.0.0.1") + struct.pack(">ih", broker.port, -1)
        return bytes(4) + array([address]) + struct.pack(">hi", -1, 0) + array([topic])

    def fetch(self, request):
        # Replica, wait, least and most bytes, isolation, session, epoch; then topics. The consumer has one partition.
        (topics,) = struct.unpack_from(">i", request, 25)
        if topics == 0:
            return struct.pack(">ihii", 0, 0, 0, 0)
        (length,) = struct.unpack_from(">h", request, 29)
        topic = request[31 : 31 + length].decode()
        (offset,) = struct.unpack_from(">q", request, 31 + length + 12)
        log = self.server.broker.fetched(topic, offset)
        bounds = struct.pack(">ihqqq", 0, 0, MAX_OFFSET, MAX_OFFSET, 0)
        aborted = self.server.broker.aborted
        count = struct.pack(">i", -1 if aborted is None else len(aborted))
        listed = [struct.pack(">qq", *transaction) for transaction in aborted or ()]
        partition = bounds + count + b"".join(listed) + struct.pack(">ii", -1, len(log)) + log
        answer = array([text(topic) + array([partition])])
        return struct.pack(">ihi", 0, 0, 0) + answer


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def array(items):
    return struct.pack(">i", len(items)) + b"".join(items)
