"""Reads logs on command in a Spark session of its own, whose processes a test can kill.

`python reading.py MASTER NAME=VALUE… < commands`. A command is a line of JSON: `{"path": …,
"options": {…}, "out": …}` writes the rows to an Arrow file. The answer is a line of JSON: the
number of tasks that failed and were tried again, and the error of the read, or null. With
`connect:MASTER`, Spark Connect is used, which does not report on tasks.

The command `{"pipeline": […]}` runs `magicbyte pipeline` with these arguments and answers with its
exit code and stderr. The session that it starts is kept for the reads that follow.
"""

import json
import sys
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from click.testing import CliRunner
from pyspark.sql import SparkSession

from magicbyte.spark import use_java
from magicbyte_cli import main as magicbyte


def main(master: str, settings: list[str]) -> None:
    spark = None
    for line in sys.stdin:
        command = json.loads(line)
        if "pipeline" in command:
            answer = run_pipeline(command["pipeline"])
        else:
            spark = spark or session(master, settings)
            answer = read(spark, command, connect=master.startswith("connect:"))
        print(json.dumps(answer), flush=True)
    if spark is not None:
        spark.stop()


def session(master: str, settings: list[str]) -> SparkSession:
    """Return the session that a pipeline has started, or a new one."""
    use_java()
    connect = master.removeprefix("connect:") if master.startswith("connect:") else None
    builder = SparkSession.builder
    builder = builder.remote(connect) if connect else builder.master(master)
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **dict(setting.split("=", 1) for setting in settings),
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def run_pipeline(arguments: list[str]) -> dict[str, Any]:
    with patch.object(SparkSession, "stop"):
        result = CliRunner().invoke(magicbyte, ["pipeline", *arguments])
    return {"exit_code": result.exit_code, "stderr": result.stderr}


def read(spark: SparkSession, command: dict[str, Any], *, connect: bool) -> dict[str, Any]:
    if not connect:
        spark.sparkContext.setLogLevel("OFF")
        spark.sparkContext.setJobGroup(command["out"], "a read")
    error = None
    try:
        reader = spark.read.format("magicbyte").options(**command["options"])
        table = reader.load(command["path"]).toArrow()
        with pa.ipc.new_file(command["out"], table.schema) as file:
            file.write_table(table)
    except Exception as failed:  # its message is the answer
        error = str(failed)
    failures = None if connect else num_failures(spark, command["out"])
    return {"failed_tasks": failures, "error": error}


def num_failures(spark: SparkSession, group: str) -> int:
    tracker = spark.sparkContext.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(group))
    stages = [tracker.getStageInfo(one) for job in jobs if job for one in job.stageIds]
    return sum(stage.numFailedTasks for stage in stages if stage)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
