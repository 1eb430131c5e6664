"""python -m magicbyte_tools.bench.store_pipeline [--mib N] [--codec NAME...]: what `magicbyte pipeline` costs in a store.

The same log is written to Parquet from a local folder to a local folder and, in turn, from a local folder to S3; with
`--in-store` also from S3 to S3. The store is moto's server on this machine, without TLS. Measured is the CPU time of the command
with all its children, which are Spark's JVM and Python workers; the server's is not counted.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.dataset
from pyarrow import fs

from magicbyte.limits import MIB
from magicbyte_tools.bench import jobs
from magicbyte_tools.bench.jobs import ProcessJob
from magicbyte_tools.bench.kafka_source import CACHE
from magicbyte_tools.bench.log_writer import CODECS, ROWS_PER_BATCH, write_log
from magicbyte_tools.bench.store_requests import BUCKET, OPTIONS, s3_server, upload

PARTITIONS = 4
SEGMENTS = 4
"""Segments of each partition."""

LOCAL, TO_STORE, IN_STORE = "local to local", "local to S3", "S3 to S3"


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.bench.store_pipeline")
    parser.add_argument("--mib", type=int, default=1024, help="mebibytes of the log")
    parser.add_argument("--codec", nargs="+", choices=list(CODECS), default=["none", "lz4"])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--transactions", action="store_true", help="each batch is a transaction")
    parser.add_argument("--in-store", action="store_true", help="also read the log in S3")
    parser.add_argument("--no-first-run", action="store_true", help="measure the first run, too")
    options = parser.parse_args(arguments)
    CACHE.mkdir(parents=True, exist_ok=True)
    print("| codec | pipeline | CPU s | CPU of the local one | each CPU s | wall s |")
    print("|---|---|---:|---:|---|---:|", flush=True)
    for codec in options.codec:
        with TemporaryDirectory(dir=CACHE) as temporary, s3_server(Path(temporary)) as server:
            done = _measured(Path(temporary), server, codec, options)
        for job in done:
            each = " ".join(f"{seconds:.1f}" for seconds in job.cpu_s)
            print(
                f"| {codec} | {job.name} | {job.cpu:.1f} | {job.cpu / done[0].cpu:.2f} | {each} "
                f"| {job.wall:.1f} |",
                flush=True,
            )


def _measured(
    folder: Path, server: str, codec: str, options: argparse.Namespace
) -> list[ProcessJob]:
    """Return the costs of the pipelines; the local one is first."""
    logs, num_rows = folder / "logs", 0
    segment_bytes = options.mib * MIB // (PARTITIONS * SEGMENTS)
    for number in range(PARTITIONS):
        partition = logs / f"topic-{number}"
        end = write_log(
            partition, SEGMENTS, segment_bytes, transactions=options.transactions, codec=codec
        )
        num_rows += end * ROWS_PER_BATCH // (ROWS_PER_BATCH + options.transactions)
        if options.in_store:
            upload(partition, server, f"logs/topic-{number}")
    out = f"s3://{BUCKET}/out"
    pipeline = [
        *(sys.executable, "-m", "magicbyte_tools.bench.process_reaper", sys.executable),
        *("-c", "from magicbyte_cli import main; main()", "pipeline"),
    ]
    settings = ["--overwrite", "--master=local[2]", "--conf=spark.driver.memory=4g"]
    for name, value in {**OPTIONS, "endpoint_override": server}.items():
        settings.append(f"--storage-option={name}={value}")
    commands = {
        LOCAL: [*pipeline, str(logs), str(folder / "out"), *settings[:3]],
        TO_STORE: [*pipeline, str(logs), f"{out}/from-local", *settings],
    }
    store = fs.S3FileSystem(endpoint_override=server, allow_bucket_creation=True, **OPTIONS)
    store.create_dir(BUCKET)
    written = [
        (str(folder / "out" / "records"), fs.LocalFileSystem()),
        (f"{BUCKET}/out/from-local/records", store),
    ]
    if options.in_store:
        commands[IN_STORE] = [*pipeline, f"s3://{BUCKET}/logs", f"{out}/from-store", *settings]
        written.append((f"{BUCKET}/out/from-store/records", store))
    done = jobs.run(
        commands, repetitions=options.repetitions, has_first_run=not options.no_first_run
    )
    for path, filesystem in written:
        rows = pyarrow.dataset.dataset(path, format="parquet", filesystem=filesystem).count_rows()
        if rows != num_rows:
            raise SystemExit(f"{path}: {rows} rows of {num_rows}")
    return done


if __name__ == "__main__":
    main(sys.argv[1:])
