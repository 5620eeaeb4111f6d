"""Each kernel is compiled once for each argument, whatever the run, and anew for new code."""

import re
import subprocess
import sys

import pytest

from harness._util import kernels
from harness.algorithms.compiled.baseline_only import alternate
from harness.algorithms.trainset import GroupedLists as Lists

CODE = """
import sys
import harness
from harness._util.kernels import Kernel

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


CALLER = """
import sys
from harness._util.kernels import kernel
from called import FACTOR, LIMITS, add

@kernel
def total(value):
    return add(value) * FACTOR + LIMITS[0]

print(total(1.0), len(total.dispatcher.stats.cache_hits))
"""
CALLED = """
import numpy as np
from harness._util.kernels import Instruction, kernel

FACTOR = {factor}
LIMITS = np.array([{limit}])

def generate(context, builder, signature, values):
    number = builder.load(context.make_array(signature.args[0])(context, builder, values[0]).data)
    target = context.make_array(signature.args[0])(context, builder, values[0]).data
    builder.store(builder.fadd(number, number.type({written})), target)

raise_by = Instruction(lambda numbers: None, generate)

@kernel
def add(value):
    numbers = np.array([value])
    raise_by(numbers)
    return numbers[0] + {added}
"""
NUMBERS = {"factor": 2.0, "limit": 0.5, "written": 0.25, "added": 4.0}


@pytest.mark.long
def test_machine_code_is_kept_until_something_that_a_kernel_calls_has_changed(tmp_path):
    def computed(**numbers):
        (tmp_path / "called.py").write_text(CALLED.format(**numbers))
        # Python would look at whole seconds and the size of a file, and keep the code before.
        done = subprocess.run(
            [sys.executable, "-B", "caller.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        value, n_read = done.stdout.split()
        return float(value), int(n_read)

    (tmp_path / "caller.py").write_text(CALLER)
    numbers = dict(NUMBERS)
    assert computed(**numbers) == (11.0, 0)
    assert computed(**numbers) == (11.0, 1)
    for name in NUMBERS:
        numbers[name] += 8.0
        expected = (1 + numbers["written"] + numbers["added"]) * numbers["factor"]
        assert computed(**numbers) == (expected + numbers["limit"], 0)


def test_the_shorter_pipeline_makes_the_machine_code_of_numbas_own():
    import numba

    def code_of(**options):
        compiled = numba.njit(nogil=True, no_cfunc_wrapper=True, **options)(alternate.py_func)
        floats = numba.float64[::1]
        lists = numba.types.NamedTuple([numba.int64[::1], numba.int32[::1], floats], Lists)
        compiled.compile((lists, numba.float64, numba.float64, floats, floats))
        (text,) = compiled.inspect_llvm().values()
        body = re.search(r"^define [^\n]*@_ZN.*?^}", text, re.DOTALL | re.MULTILINE).group()
        body = re.sub(r"_ZN\w+|#\d+|!\d+|; preds[^\n]*|\b\d{12,}\b", "", body)  # and addresses
        names: dict[str, int] = {}  # which hold numbers that count all that was made before
        number = lambda found: str(names.setdefault(found[1], len(names)))  # noqa: E731
        return re.sub(r"((?<=%)[\w.]+|^[\w.]+(?=:))", number, body, flags=re.MULTILINE)

    kept = alternate._options
    own = code_of(pipeline_class=kernels._compiler(), _nrt=kept["_nrt"])
    assert not kept["_nrt"]
    assert own == code_of()
    assert "fadd double" in own


@pytest.mark.parametrize("version", ["0.60.0", "0.69.0", "1.0.0", "0.dev"])
def test_a_numba_that_is_not_checked_compiles_with_its_own_pipeline(version, monkeypatch):
    import numba

    monkeypatch.setattr(numba, "__version__", version)
    monkeypatch.setattr(kernels, "_compiler", lambda: pytest.fail("the shorter pipeline is used"))
    assert kernels.Kernel(lambda x: x + 1).dispatcher(1) == 2
