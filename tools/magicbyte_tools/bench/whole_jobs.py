"""The whole jobs that this machine can run: ours, and Kafka's tools on the same file."""

import subprocess
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
    """Measure the whole jobs on *segment*; also return the reasons by the jobs that cannot run."""
    left_out = {}
    with TemporaryDirectory(dir=cache) as name, ExitStack() as stack:
        folder = Path(name)
        # A broker's name: kafka-dump-log tells the kind of a file from it.
        log = folder / "00000000000000000000.log"
        log.hardlink_to(segment.path)
        commands = {"dump batches": [*MAGICBYTE, "dump", str(log), "--table", "batches"]}
        for name, some in (("export", _export), ("dump-log", _dump_log)):
            try:
                commands |= some(log, cache)
            except ProgramUnavailable as reason:
                left_out[name] = str(reason)
        try:
            address = stack.enter_context(serving(log, segment.num_rows, folder, cache))
            commands["consumer"] = _consumer(address, segment.num_rows, folder)
        except ProgramUnavailable as reason:
            left_out["consumer"] = str(reason)
        return jobs.run(commands, repetitions=repetitions), left_out


def _export(log_path: Path, cache: Path) -> dict[str, list[str]]:
    if subprocess.run([*MAGICBYTE, "export", "--help"], capture_output=True).returncode:
        raise ProgramUnavailable("magicbyte has no verb export yet")
    # The columns that the consumer has, too.
    columns = ["--columns", ",".join(COLUMNS["columns"])]
    out = ["-o", str(log_path.parent / "out.parquet"), "--overwrite"]
    return {"export": [*MAGICBYTE, "export", str(log_path), *columns, *out]}


def _dump_log(log_path: Path, cache: Path) -> dict[str, list[str]]:
    java, jars = tool("java"), java_reader.class_path("broker", cache)
    # The release's own script gives it a heap of 256 MiB.
    dump = [java, "-Xmx256M", "-cp", jars, DUMP_LOG, "--files", str(log_path)]
    return {
        "dump-log headers": dump,
        "dump-log": [*dump, "--deep-iteration", "--print-data-log"],
    }


def _consumer(address: str, rows: int, folder: Path) -> list[str]:
    out = folder / "consumer.parquet"
    module = "magicbyte_tools.bench.consumer"
    return [sys.executable, "-m", module, address, TOPIC, str(rows), str(out)]
