"""The proofs of `docs/guarantees.md` in their quick form; in full they are run by hand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
PROOFS = [
    ("faults_kills.py",),
    ("faults_inputs.py", "configs"),
    ("faults_inputs.py", "data"),
    ("faults_writes.py",),
    ("faults_files.py",),
    ("faults_crowd.py",),
    ("faults_soak.py",),
    ("faults_determinism.py",),
]


def prove(*arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": f"{SCRIPTS}{os.pathsep}{SCRIPTS.parent}"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="sends signals and sets limits")
@pytest.mark.parametrize("proof", PROOFS, ids=" ".join)
def test_the_quick_form_of_a_proof_finds_no_fault(proof):
    name, *rest = proof
    done = prove(SCRIPTS / name, *rest, "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^0 faults; \d+ s$", done.stdout, re.MULTILINE), done.stdout


def test_every_proof_is_among_them():
    found = {path.name for path in SCRIPTS.glob("faults_*.py") if "Proof(" in path.read_text()}
    assert found == {name for name, *_ in PROOFS}


PIECE = """\
from faults_proof import Proof
proof = Proof("A proof.", full=3, quick=1)
while proof.goes_on:
    proof.add("done")
    if proof.done == {bad}:
        proof.fault("it broke")
    if proof.done == 2:
        proof.end = 0
raise SystemExit(proof.close(f"{{proof.done}} times"))
"""


def test_a_fault_makes_the_exit_code_1():
    done = prove("-c", PIECE.format(bad=1))
    assert done.returncode == 1
    assert "FAULT: it broke" in done.stderr
    assert "1 faults;" in done.stdout


def test_a_proof_that_was_stopped_goes_on_from_its_tally(tmp_path):
    arguments = ("-c", PIECE.format(bad=9), "--tally", tmp_path / "tally.json")
    first, second = prove(*arguments), prove(*arguments)
    assert "2 times" in first.stdout
    assert "2 of 3 done: run the same command again to go on" in first.stdout
    assert "3 times" in second.stdout
    assert "again" not in second.stdout
