"""Runs a streaming query on command, in a process of its own that a test can kill.

`python stream_query.py LOG_DIR FOLDER < commands`, each a line of JSON: `{"options": …, "batches":
n, "seconds": s}` follows LOG_DIR from the checkpoint on until n batches with rows are done, prints
a line of JSON, and stops s seconds later; without `batches` it reads up to the current end. The
last line for each is `{"failed": …}` with the query's error or null. FOLDER gets the
`checkpoint` and the `rows`; after the last command, `rows.parquet` holds the sink's rows.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from magicbyte.spark import use_java

COLUMNS = "topic,partition,offset,key,value"


def main(log_dir: str, folder: Path) -> None:
    use_java()
    builder = SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.streaming.checkpoint.verifyMetadata.enabled": "true",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    print(json.dumps({"started": True}), flush=True)
    for line in sys.stdin:
        told = follow(spark, log_dir, folder, **json.loads(line))
        print(json.dumps({"failed": told}), flush=True)
    # The sink's own list tells which files count.
    pq.write_table(spark.read.parquet(str(folder / "rows")).toArrow(), folder / "rows.parquet")
    spark.stop()


def follow(
    spark: SparkSession,
    log_dir: str,
    folder: Path,
    *,
    options: dict[str, Any],
    batches: int | None = None,
    seconds: float = 0,
) -> str | None:
    """Run the query from its checkpoint on; return its error, or None."""
    reader = spark.readStream.format("magicbyte").options(columns=COLUMNS, **options)
    writer = reader.load(log_dir).writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    if batches is None:
        writer = writer.trigger(availableNow=True)
    query = writer.start(str(folder / "rows"))
    try:
        if batches is None:
            query.awaitTermination()
            return None
        while sum(one["numInputRows"] > 0 for one in query.recentProgress) < batches:
            query.awaitTermination(0.05)
        print(json.dumps({"done": batches}), flush=True)
        query.awaitTermination(max(seconds, 0.001))  # of none at all Spark complains
        query.stop()
    except Exception as error:  # its message is the answer
        return str(error)
    return None


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
