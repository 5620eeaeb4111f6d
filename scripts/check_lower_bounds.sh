#!/usr/bin/env bash
# Install the lowest versions that pyproject.toml allows, and run tests with them.
#
#   scripts/check_lower_bounds.sh [TESTS...]
#
# Without arguments, those that meet every dependency within a minute or two. Needs uv, which
# resolves to the lowest. What old packages deprecate of newer ones is not this project's, so
# warnings are no errors here; tests run far from the source, whose compiled loops stay as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HARNESS_CACHE="$work/cache"

uv pip compile pyproject.toml --quiet --extra test --extra tpe --extra dask \
  --resolution lowest-direct --no-header --no-annotate --output-file "$work/lowest.txt"
uv venv --quiet "$work/venv"
uv pip install --quiet --python "$work/venv" --requirement "$work/lowest.txt"
uv pip install --quiet --python "$work/venv" --no-deps "$source"

mkdir "$work/away" && cd "$work/away"
cp -r "$source/tests" "$source/configs" "$source/pyproject.toml" .
[ $# -gt 0 ] || set -- tests/cli tests/config tests/datasets tests/experiment tests/report \
  tests/results tests/statistics tests/test_evaluation.py
"$work/venv/bin/python" -m pytest --quiet -W default -p no:cacheprovider \
  -m 'not slow and not network' "$@"
