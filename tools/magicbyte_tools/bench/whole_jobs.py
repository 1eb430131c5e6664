"""Measures whole jobs on one segment: magicbyte's commands, Kafka's tools and a consumer."""

import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from magicbyte_tools.bench import java_reader, jobs
from magicbyte_tools.bench.broker import TOPIC, serving
from magicbyte_tools.bench.data import Segment
from magicbyte_tools.bench.foreign_programs import ProgramUnavailable, tool
from magicbyte_tools.bench.jobs import ProcessJob
from magicbyte_tools.bench.ours import COLUMNS

MAGICBYTE = [sys.executable, "-c", "from magicbyte_cli import main; main()"]

DUMP_LOG = "org.apache.kafka.tools.DumpLogSegments"


def whole_jobs(
    segment: Segment, cache: Path, *, repetitions: int
) -> tuple[list[ProcessJob], dict[str, str]]:
    """Measure the whole jobs on *segment*; also return why a job cannot run here, by the job's name."""
    left_out = {}
    with TemporaryDirectory(dir=cache) as name, ExitStack() as stack:
        folder = Path(name)
        # A segment's name as a broker writes it: kafka-dump-log derives the kind of file from it.
        log = folder / "00000000000000000000.log"
        log.hardlink_to(segment.path)
        commands = {"dump batches": [*MAGICBYTE, "dump", str(log), "--table", "batches"]}
        # The same columns as the consumer writes.
        columns = ["--columns", ",".join(COLUMNS["columns"])]
        out = ["-o", str(folder / "out.parquet"), "--overwrite"]
        commands["export"] = [*MAGICBYTE, "export", str(log), *columns, *out]
        try:
            java, jars = tool("java"), java_reader.class_path("broker", cache)
            # Kafka's own script, kafka-run-class.sh, sets a heap of 256 MiB, too.
            dump = [java, "-Xmx256M", "-cp", jars, DUMP_LOG, "--files", str(log)]
            commands["dump-log headers"] = dump
            commands["dump-log"] = [*dump, "--deep-iteration", "--print-data-log"]
        except ProgramUnavailable as reason:
            left_out["dump-log"] = str(reason)
        try:
            address = stack.enter_context(serving(log, segment.num_rows, folder, cache))
            arguments = [address, TOPIC, str(segment.num_rows), str(folder / "consumer.parquet")]
            consumer = [sys.executable, "-m", "magicbyte_tools.bench.consumer"]
            commands["consumer"] = [*consumer, *arguments]
        except ProgramUnavailable as reason:
            left_out["consumer"] = str(reason)
        return jobs.run(commands, repetitions=repetitions), left_out
