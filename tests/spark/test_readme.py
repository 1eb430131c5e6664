"""The Spark example of the README runs."""

import re
from pathlib import Path

from pyspark.sql import SparkSession

CHECKOUT = Path(__file__).parents[2]


def test_the_spark_example_of_the_readme_runs(spark: SparkSession, monkeypatch) -> None:
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    (example,) = (block for block in examples if "spark" in block)
    monkeypatch.chdir(CHECKOUT)
    exec(example, {"spark": spark})
