"""python -m magicbyte_tools.bench.spark_job FORMAT OUT CODEC [NAME=VALUE...]: copies a Spark source to Parquet.

If OUT is `noop`, Spark reads all columns and writes nothing. With `from_avro=SCHEMA`, values are decoded by Spark's `from_avro`, after the five bytes of a registry's frame.
"""

import os
import sys
from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.functions import expr

from magicbyte.spark import use_java

NOWHERE = "noop"
"""The output that Spark does not write."""

SETTINGS: dict[str, bool | float | int | str | None] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
}


def main(source: str, out: str, codec: str, settings: Sequence[str]) -> None:
    """Copy the Spark source *source* to Parquet in *out*; *settings* with `spark.` configure the session."""
    use_java()
    os.environ.setdefault(
        "PYSPARK_PYTHON", sys.executable
    )  # Spark looks up data sources with this interpreter, too
    builder = SparkSession.builder.master("local[2]").config(map=SETTINGS)
    of_read = {}
    for name, value in (option.split("=", 1) for option in settings):
        if name.startswith("spark."):
            builder = builder.config(name, value)
        else:
            of_read[name] = value
    spark = builder.getOrCreate()
    schema = of_read.pop("from_avro", None)
    frame = spark.read.format(source).options(**of_read).load()
    if schema is not None:
        content = expr("substring(value, 6)")
        frame = frame.select("partition", "offset", from_avro(content, schema).alias("value"))
    if out == NOWHERE:
        frame.write.format("noop").mode("overwrite").save()
    else:
        frame.write.mode("overwrite").parquet(out, compression=codec)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
