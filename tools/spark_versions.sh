#!/usr/bin/env bash
# Runs the tests of what Spark sees with each release of Spark that is supported, each in an environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

for version in ${*:-4.0.5 4.1.4 4.2.1 4.3.0}; do
    python=$(tools/spark_environment.sh "$version")
    # What Spark Connect needs is much, and nothing of ours: it is tried here alone.
    .venv/bin/uv pip install --quiet --python "$python" "pyspark[connect]==$version"
    echo "== Spark $version"
    # Some releases leave sockets to Python to close.
    "$python" -m pytest -q -W ignore::pytest.PytestUnraisableExceptionWarning tests/spark
done
