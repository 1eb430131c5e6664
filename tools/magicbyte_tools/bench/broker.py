"""Starts a Kafka broker on the loopback interface that serves a generated segment file."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from magicbyte_tools.bench.foreign_programs import ProgramUnavailable, tool
from magicbyte_tools.bench.java_reader import class_path

TOPIC = "bench"

START_S = 120
"""Seconds that a broker may take until it answers after its start."""

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={log_dir}
log.retention.ms=-1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
"""

CLUSTER_ID = "bWFnaWNieXRlLWJlbmNoIQ"


@contextmanager
def serving(
    segment_path: Path, rows: int, folder: Path, cache: Path, *, num_partitions: int = 1
) -> Iterator[str]:
    """Run a broker in *folder* and yield its address, host:port.

    Each of the *num_partitions* partitions of its topic TOPIC holds a copy of *segment_path* with *rows* records.

    Raises ProgramUnavailable if Java, Maven or confluent-kafka is missing, or if the broker does not answer
    or serves another number of records.
    """
    try:
        from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
        from confluent_kafka.admin import AdminClient
        from confluent_kafka.cimpl import NewTopic
    except ImportError as error:
        raise ProgramUnavailable("there is no Python package confluent-kafka") from error
    java = [tool("java"), "-Xmx512m", "-cp", class_path("broker", cache)]
    with ExitStack() as stack:  # both ports are bound together, so that they differ
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        port, controller = (one.getsockname()[1] for one in sockets)
    address, log_dir = f"127.0.0.1:{port}", folder / "log"
    properties = folder / "server.properties"
    properties.write_text(PROPERTIES.format(port=port, controller=controller, log_dir=log_dir))
    storage = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties)]
    subprocess.run([*java, *storage], check=True, stdout=subprocess.DEVNULL)
    start = [*java, "kafka.Kafka", str(properties)]

    def wait_for(process: "subprocess.Popen[bytes]") -> AdminClient:
        client = AdminClient({"bootstrap.servers": address, "log_level": 0})
        end = time.monotonic() + START_S
        while time.monotonic() < end and process.poll() is None:
            try:
                client.list_topics(timeout=1)
                return client
            except KafkaException as error:
                if error.args[0].code() not in (KafkaError._TRANSPORT, KafkaError._TIMED_OUT):
                    raise
        raise ProgramUnavailable(f"the broker does not answer; see {folder / 'broker.out'}")

    with (folder / "broker.out").open("ab") as out:
        with _running(start, out.fileno()) as process:
            client = wait_for(process)
            client.create_topics([NewTopic(TOPIC, num_partitions, 1)])[TOPIC].result(30)
        _replace_segments(segment_path, log_dir, num_partitions)
        with _running(start, out.fileno()) as process:
            wait_for(process)
            consumer = Consumer({"bootstrap.servers": address, "group.id": "end"})
            for number in range(num_partitions):
                place = TopicPartition(TOPIC, number)
                _, end = consumer.get_watermark_offsets(place, timeout=START_S)
                if end != rows:
                    raise ProgramUnavailable(f"the broker serves {end} rows of {rows}")
            consumer.close()
            yield address


def _replace_segments(segment_path: Path, log_dir: Path, num_partitions: int) -> None:
    """Replace the topic's empty segments, and mark the shutdown unclean: the broker rebuilds indexes."""
    for number in range(num_partitions):
        partition = log_dir / f"{TOPIC}-{number}"
        for file in partition.glob("0*"):
            file.unlink()
        shutil.copy(segment_path, partition / f"{0:020}.log")
    (log_dir / ".kafka_cleanshutdown").unlink()


@contextmanager
def _running(command: Sequence[str], stdout: int) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.STDOUT
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
