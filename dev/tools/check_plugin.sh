#!/usr/bin/env bash
# Install the example of a plug-in in a fresh virtual environment, use all of it, and uninstall it.
#
#   dev/tools/check_plugin.sh
set -euo pipefail
unset COLUMNS # at which messages would break, which are searched below
cd "$(dirname "$0")/../.."
source=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HARNESS_CACHE="$work/cache" PIP_DISABLE_PIP_VERSION_CHECK=1

python3 -m venv "$work/venv"
python="$work/venv/bin/python" harness="$work/venv/bin/harness"
cp -r examples/plugin "$work/plugin"
"$python" -m pip install --quiet --constraint dev/constraints.txt "$source" "$work/plugin" pytest
cd "$work"

"$python" -m pytest --quiet -p no:cacheprovider plugin/tests
"$harness" list plugins --check | tee checked.txt
[ "$(grep -c 'harness-shelf .* passes' checked.txt)" = 13 ] # one of each kind
"$harness" run --quiet plugin/config.yaml
[ "$(wc -l <rows.log)" = 10 ] && "$harness" row-count runs/config | grep -qx '10 rows'
cat >rare.yaml <<'YAML'
dataset: {synthetic: {n_users: 40, n_items: 30, n_ratings: 600}}
candidates: recent
algorithms: [{library: shop, model: desk}, ItemMean]
metrics: [ndcg@5]
execution: {executor: one-by-one}
YAML
"$harness" run --quiet rare.yaml
"$harness" plot --kind bars --output plots runs/rare
"$python" -m pip uninstall --quiet --yes harness-shelf

# Now the same config, and the folder of the run, say what is missing and how to get it.
expect() {
  local text=$1 code=0
  shift
  "$harness" "$@" >said.txt 2>&1 || code=$?
  [ $code -eq 2 ] && grep -q "$text" said.txt || { cat said.txt; echo "exit $code, no: $text"; exit 1; }
}
for name in DampedMean weekday loans list-lengths row-log; do
  expect "'$name'.*or install the package that has it" check plugin/config.yaml
done
expect "'row-count'.*or install the package that has it" row-count runs/config
expect "'small_share'; it was of the package harness-shelf; pip install harness-shelf==0.1" \
  run --trust runs/config
for run in config rare; do
  "$harness" table "runs/$run" >/dev/null
  "$harness" methods "runs/$run" >/dev/null
done
echo 'the example of a plug-in: installed, used, uninstalled, and missed'
