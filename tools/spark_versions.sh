#!/usr/bin/env bash
# Runs the tests of what Spark sees with each release of Spark that is supported, each in an environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

for version in ${*:-4.0.5 4.1.4 4.2.1 4.3.0}; do
    folder=.cache/spark-$version
    if [ ! -e "$folder/done" ]; then
        .venv/bin/uv venv --quiet --clear --python .venv/bin/python "$folder"
        echo "pyspark==$version" >"$folder/override"
        .venv/bin/uv pip install --quiet --python "$folder/bin/python" --no-verify-hashes \
            --requirement requirements/dev.lock --override "$folder/override"
        .venv/bin/uv pip install --quiet --python "$folder/bin/python" --no-deps --no-build-isolation --editable .
        touch "$folder/done"
    fi
    echo "== Spark $version"
    # Some releases leave sockets to Python to close.
    "$folder/bin/python" -m pytest -q -W ignore::pytest.PytestUnraisableExceptionWarning tests/spark
done
