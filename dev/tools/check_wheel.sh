#!/usr/bin/env bash
# Build the wheel, install it with what it needs and no more, and test it far from the source.
#
#   dev/tools/check_wheel.sh
#
# Tests are copied away first, so what they import can only be what was installed. Needs uv.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Where pip is sent to another index, so is uv.
[ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$PIP_INDEX_URL}"
uv build --quiet --wheel --out-dir "$work/dist"
uv venv --quiet "$work/venv"
python="$work/venv/bin/python"
install() { uv pip install --quiet --python "$python" --constraint "$source/dev/constraints.txt" "$@"; }
install "$work"/dist/*.whl
export HARNESS_CACHE="$work/cache" UV_COMPILE_BYTECODE=1 # else each process compiles every module
mkdir "$work/away" && cd "$work/away"

found=$("$python" -c 'import harness; print(harness.__file__)')
[[ $found == "$work"/venv/* ]] || { echo "imported $found, not the wheel: is PYTHONPATH set?"; exit 1; }
"$work/venv/bin/harness" --version
"$work/venv/bin/harness" list configs
"$work/venv/bin/harness" run --quiet quickstart

install pytest pytest-xdist pytest-timeout hypothesis jsonschema filelock threadpoolctl
cp -r "$source/tests" "$source/configs" "$source/results" .
"$python" -m pytest --quiet --numprocesses auto -p no:cacheprovider \
  --import-mode=importlib --rootdir="$PWD" -m 'not long' \
  tests/test_foundations.py tests/config tests/results tests/rankings tests/statistics
