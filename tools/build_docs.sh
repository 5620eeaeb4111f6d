#!/usr/bin/env bash
# Build the site from scratch into build/site (or the folder given): a virtual environment of its
# own, the pinned versions, and an error for every broken link and every stale reference page.
set -euo pipefail
cd "$(dirname "$0")/.."
site=$(realpath -m "${1:-build/site}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export NO_MKDOCS_2_WARNING=1 PIP_DISABLE_PIP_VERSION_CHECK=1

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet -c constraints.txt -e ".[docs]"
"$work/venv/bin/python" tools/build_reference.py --check
"$work/venv/bin/mkdocs" build --quiet --strict --clean --site-dir "$site"
echo "$site/index.html"
