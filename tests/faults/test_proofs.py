"""The proofs of `docs/explanation/design.md` in their quick form; in full they are run by hand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "dev" / "proofs"
PROOFS = [
    "kills.py",
    "kills_on_dask.py",
    "inputs.py configs",
    "inputs.py data",
    "soak.py",
    "determinism.py",
    "scripts.py",
    "omissions.py",
]


def prove(*arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": f"{FOLDER}{os.pathsep}{FOLDER.parent}"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="sends signals and sets limits")
@pytest.mark.parametrize("proof", PROOFS)
def test_the_quick_form_of_a_proof_finds_no_fault(proof):
    name, *rest = proof.split()
    if "dask" in name:
        pytest.importorskip("distributed", reason="pip install distributed")
    done = prove(FOLDER / name, *rest, "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^0 faults; \d+ s$", done.stdout, re.MULTILINE), done.stdout


def test_every_proof_is_among_them():
    found = {path.name for path in FOLDER.glob("*.py") if "Proof(__doc__" in path.read_text()}
    assert found == {proof.split()[0] for proof in PROOFS}


FAULTY = """\
from common import Proof
proof = Proof("A proof.", full=3, quick=1)
proof.add("done")
proof.fault("it broke")
raise SystemExit(proof.close("once"))
"""


def test_a_fault_makes_the_exit_code_1():
    done = prove("-c", FAULTY)
    assert done.returncode == 1
    assert "FAULT: it broke" in done.stderr
    assert "1 faults;" in done.stdout
    assert "1 of 3 done" in done.stdout
