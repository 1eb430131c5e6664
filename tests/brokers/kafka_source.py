"""Reads topics with Spark's own Kafka source; run by a Python that has the matching Spark.

`python kafka_source.py JARS < cases`: for each case, it prints the rows or the error as JSON.
"""

import json
import sys

from pyspark.sql import SparkSession


def main() -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.jars", sys.argv[1])
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "1",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for line in sys.stdin:
        case = json.loads(line)
        try:
            frame = spark.read.format("kafka").options(**case["options"]).load()
            times = [
                "unix_micros(timestamp) as timestamp" if n == "timestamp" else n
                for n in frame.columns
            ]
            rows = [list(row) for row in frame.selectExpr(*times).collect()]
            found = {
                "columns": frame.columns,
                "rows": [[_plain(cell) for cell in row] for row in rows],
            }
        except Exception as error:  # its message is the answer
            found = {"error": str(error).strip().splitlines()[0]}
        print(json.dumps({"name": case["name"], **found}), flush=True)
    spark.stop()


def _plain(cell: object) -> object:
    if isinstance(cell, (bytes, bytearray)):
        return bytes(cell).hex()
    if isinstance(cell, list):
        return [[one.key, _plain(one.value)] for one in cell]
    return cell


if __name__ == "__main__":
    main()
