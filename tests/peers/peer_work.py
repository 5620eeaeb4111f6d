"""Runs the libraries of one environment on the cases; called with that environment's Python.

Usage: peer_work.py GROUP CASES.json ANSWERS.json. Writes the values of each convention: for every
role and k one value per user, null where the library has no row, "error" where it raised; and under
"odd" the value of each odd case.
"""

import importlib
import json
import math
import sys
import warnings
from pathlib import Path


def plain(value):
    if value is None or isinstance(value, str):
        return value
    return "nan" if math.isnan(value) else float(value)


def main():
    sys.path.insert(0, str(Path(__file__).parent))
    group = importlib.import_module(f"peer_work_{sys.argv[1]}")
    cases = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    odd = {name: plain(measure(*cases["odd"][name])) for name, measure in group.ODD.items()}
    found = {}
    for worker in group.WORKERS:
        found |= worker(cases["tied"], cases["listed"], cases["cuts"])
    told = {
        convention: {
            role: {k: [plain(value) for value in values] for k, values in by_k.items()}
            for role, by_k in roles.items()
        }
        for convention, roles in found.items()
    }
    Path(sys.argv[3]).write_text(json.dumps(told | {"odd": odd}), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
