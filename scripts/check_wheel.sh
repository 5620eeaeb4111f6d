#!/usr/bin/env bash
# Build the wheel, install it with what it needs and no more, and test it far from the source.
#
#   scripts/check_wheel.sh
#
# Tests are copied away first, so what they import can only be what was installed.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m pip wheel --quiet --no-deps --wheel-dir "$work/dist" .
python3 -m venv "$work/venv"
python="$work/venv/bin/python"
"$python" -m pip install --quiet --constraint constraints.txt "$work"/dist/*.whl
export HARNESS_CACHE="$work/cache"
mkdir "$work/away" && cd "$work/away"

"$python" - "$source" <<'PYTHON'
import sys
from pathlib import Path

import harness

here = Path(harness.__file__).resolve()
if here.is_relative_to(sys.argv[1]):
    sys.exit(f"harness comes from {here}, not from the wheel")
PYTHON
"$work/venv/bin/harness" --version
"$work/venv/bin/harness" run --quiet --results "$work/results" "$source/configs/quickstart.yaml"

"$python" -m pip install --quiet --constraint "$source/constraints.txt" \
  pytest pytest-xdist pytest-timeout pytest-randomly hypothesis jsonschema
cp -r "$source/tests" "$source/configs" .
"$python" -m pytest --quiet --numprocesses auto -p no:cacheprovider \
  --import-mode=importlib --rootdir="$PWD" \
  tests/test_foundations.py tests/config tests/results tests/rankings tests/statistics
