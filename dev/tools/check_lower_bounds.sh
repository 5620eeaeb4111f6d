#!/usr/bin/env bash
# Install the lowest versions that pyproject.toml allows, and run tests with them.
#
#   dev/tools/check_lower_bounds.sh [TESTS...]
#
# Without arguments, those that meet every dependency within a minute or two. Needs uv, which
# resolves to the lowest. What old packages deprecate of newer ones is not this project's, so
# warnings are no errors here; tests run far from the source, whose compiled loops stay as they are.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HARNESS_CACHE="$work/cache" UV_COMPILE_BYTECODE=1 # else each process compiles every module

# Where pip is sent to another index, so is uv.
[ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$PIP_INDEX_URL}"
uv pip compile pyproject.toml --quiet --extra test --extra tpe --extra dask \
  --resolution lowest-direct --no-header --no-annotate --output-file "$work/lowest.txt"
uv venv --quiet "$work/venv"
uv pip install --quiet --python "$work/venv" --requirement "$work/lowest.txt"
uv pip install --quiet --python "$work/venv" --no-deps "$source"

mkdir "$work/away" && cd "$work/away"
cp -r "$source"/{tests,configs,docs,dev,examples,results,README.md,pyproject.toml} .
[ $# -gt 0 ] || set -- tests/cli/test_new_config.py tests/config tests/datasets tests/experiment \
  tests/report/test_plots_show_their_data.py tests/results tests/statistics
"$work/venv/bin/python" -m pytest --quiet -W default -p no:cacheprovider \
  -m 'not long and not network' "$@"
