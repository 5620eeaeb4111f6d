"""Every convention equals the real library, user by user, on random lists.

The libraries do not all live in one environment: one is made for each group below the folder that
``HARNESS_PEERS`` names, and kept. Without the variable the group is skipped, because it fetches
some gigabytes::

    HARNESS_PEERS=/tmp/peers pytest tests/peers
"""

import json
import os
import subprocess
import sys
import venv
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import peer_cases

FOLDER = os.environ.get("HARNESS_PEERS", "")

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="HARNESS_PEERS names no folder for the environments"),
]

GROUPS = {
    "rank": (
        "numpy<2",
        "scikit-learn==1.9.1",
        "rectools==0.19.0",
        "ranx==0.3.21",
        "pytrec-eval-terrier==0.5.11",
        "ir-measures==0.4.3",
    ),
}
N_USERS = {"rank": 200}

# What cannot be equal: convention, role, what the library does, why.
EXCLUDED = {
    ("ranx", "", "zero"): "",
}
"""Nothing yet."""

LOOSE = {"torchmetrics": 1e-5, "ir_measures": 1e-9}


@cache
def cases(group):
    n = N_USERS[group]
    return {
        "tied": peer_cases.tied(n),
        "listed": peer_cases.listed(n),
        "cuts": list(peer_cases.CUTS),
    }


@cache
def answers(group):
    """Return what the libraries of a group say, from an environment that is made once."""
    folder = Path(FOLDER, group)
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *GROUPS[group]], check=True)
    asked, told = folder / "cases.json", folder / "answers.json"
    asked.write_text(json.dumps(cases(group)), encoding="utf-8")
    work = Path(__file__).with_name("peer_work.py")
    subprocess.run([python, work, group, asked, told], check=True)
    return json.loads(told.read_text(encoding="utf-8"))
