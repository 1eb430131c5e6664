"""Test that the Spark example in the README runs."""

from pyspark.sql import SparkSession

from doc_examples import blocks
from paths import CHECKOUT


def test_the_spark_example_of_the_readme_runs(spark: SparkSession, monkeypatch) -> None:
    (example,) = (block for block in blocks("README.md", "python") if "spark" in block)
    monkeypatch.chdir(CHECKOUT)
    exec(example, {"spark": spark})
