"""Started brokers of one cluster for tests; they are killed when the test is done with them."""

import base64
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paths import shared


@contextmanager
def several_brokers(
    release: str, folder: Path, count: int, properties: dict[str, Any], *, log_dirs: int = 1
) -> Iterator[list[Any]]:
    """Provide *count* brokers of one cluster that are not started; leaving the `with` block kills them.

    The first one is the controller too, and is to be started first.
    """
    sys.path.insert(0, str(shared() / "brokers"))
    import brokers

    cluster_id = base64.urlsafe_b64encode(b"c" + uuid.uuid4().bytes[1:]).decode().rstrip("=")

    # mypy does not see the folder that the module is imported from.
    class Node(brokers.Cluster):  # type: ignore[name-defined, misc]
        def _format(self) -> None:
            if not (self.log_dirs[0] / "meta.properties").exists():
                config = self.folder / "server.properties"
                tool = "kafka.tools.StorageTool"
                brokers.tool(release, tool, "format", "-t", cluster_id, "-c", config)

    *ports, controller_port = brokers.free_ports(count + 1)
    voters = {"controller.quorum.voters": f"1@127.0.0.1:{controller_port}"}
    nodes = []
    for number, port in enumerate(ports, 1):
        own: dict[str, Any] = {"node.id": number}
        if number > 1:
            listener = f"PLAINTEXT://127.0.0.1:{port}"
            own |= {"process.roles": "broker", "listeners": listener}
            own |= {"advertised.listeners": listener}
        node = Node(
            release,
            folder / f"broker-{number}",
            log_dirs=log_dirs,
            properties=voters | properties | own,
        )
        node.port, node.side_port = port, controller_port
        nodes.append(node)
    try:
        yield nodes
    finally:
        for node in nodes:
            if node.broker:
                node.kill()
