#!/usr/bin/env bash
# Writes to dist/ what a release consists of: wheels for all machines, the source distribution, an SBOM, the licences of all
# dependencies, and the checksums of these files. Checks that packages install and that the index would take them.
set -euo pipefail
cd "$(dirname "$0")/.."
uv="$PWD/.venv/bin/uv"
tools="$PWD/.cache/release"   # programs that check
product="$PWD/.cache/product" # the wheel and what it needs

environment() {
    local folder=$1 lock=$2
    rm -rf "$folder"
    "$uv" venv --quiet "$folder"
    "$uv" pip install --quiet --python "$folder/bin/python" --require-hashes --requirement "requirements/$lock.lock"
}

# The wheel for this machine, else the one without machine code.
wheel_here() {
    .venv/bin/python - <<'PYTHON'
import platform, sys
from pathlib import Path

system = {"linux": "manylinux", "darwin": "macosx"}.get(sys.platform, "")
names = sorted(Path("dist").glob("magicbyte-*.whl"))
here = [path for path in names if system in path.name and platform.machine() in path.name]
print((here or [path for path in names if path.name.endswith("-any.whl")])[0])
PYTHON
}

version=$(.venv/bin/python -m hatchling version)
.venv/bin/python -m hatchling build --target sdist
environment "$tools" release
"$tools/bin/twine" check --strict dist/*.whl dist/*.tar.gz

environment "$product" app
"$uv" pip uninstall --quiet --python "$product/bin/python" pyinstaller pyinstaller-hooks-contrib altgraph packaging setuptools
"$uv" pip install --quiet --python "$product/bin/python" --no-deps "$(wheel_here)"
"$product/bin/magicbyte" --version
"$tools/bin/cyclonedx-py" environment --output-reproducible --output-file "dist/magicbyte-$version.cdx.json" "$product/bin/python"
"$tools/bin/pip-licenses" --python "$product/bin/python" --format plain-vertical --with-urls --with-license-file --no-license-path \
    --output-file "dist/magicbyte-$version-licences.txt" >/dev/null
(cd dist && sha256sum -- *.whl *.tar.gz *.json *.txt >SHA256SUMS && cat SHA256SUMS)
