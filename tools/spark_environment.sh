#!/usr/bin/env bash
# Prints the Python of an environment with this release of Spark and what is locked, which it makes if it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
folder=.cache/spark-$version
if [ ! -e "$folder/done" ]; then
    {
        .venv/bin/uv venv --quiet --clear --python .venv/bin/python "$folder"
        echo "pyspark==$version" >"$folder/override"
        .venv/bin/uv pip install --quiet --python "$folder/bin/python" --no-verify-hashes \
            --requirement requirements/dev.lock --override "$folder/override"
        .venv/bin/uv pip install --quiet --python "$folder/bin/python" --no-deps --no-build-isolation --editable .
    } >&2
    touch "$folder/done"
fi
echo "$PWD/$folder/bin/python"
