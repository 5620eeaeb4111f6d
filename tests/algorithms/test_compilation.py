"""Each kernel is compiled once: one type for each argument, whatever the run."""

import subprocess
import sys

import pytest

CODE = """
import sys
import harness
from harness.kernels import Kernel

config = {
    "dataset": {"synthetic": {"n_users": 20, "n_items": 25, "n_ratings": 200}},
    "split": {"kind": "kfold", "n_splits": 2},
    "algorithms": ["SVD", "SVDpp", "NMF", "BaselineOnly", "KNNBasic", "KNNWithZScore", "SlopeOne",
                   "CoClustering"],
    "candidates": ["rated", "catalogue"],
    "metrics": ["ndcg@5", "ap@5", "item_coverage@5"],
    "statistics": None,
}
for _ in range(2):  # the second time from stored cells
    harness.run(config, results=None)
kernels = {
    id(value): value.dispatcher
    for name, module in list(sys.modules.items())
    if name.startswith("harness.")
    for value in vars(module).values()
    if isinstance(value, Kernel)
}
for kernel in kernels.values():
    if len(kernel.signatures) > 1:
        sys.exit(f"{kernel.py_func.__qualname__}: {kernel.signatures}")
names = {kernel.py_func.__name__ for kernel in kernels.values() if kernel.signatures}
# What a run does not need: loops for other similarities and rules.
assert "descend" in names, names
assert not names & {"fill_rows", "add_biases", "_cascade"}, names
"""


@pytest.mark.long
def test_a_run_compiles_each_kernel_once_and_only_those_it_needs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
