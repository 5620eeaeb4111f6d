"""A table with failures on a terminal: read beside the numbers where there is room, else below."""

import json
import os
import re
import subprocess
import sys

import pytest

import harness

ERROR = "33 of 33 estimates are not numbers; lower the learning rate or raise the regularisation"

SHOW = """\
import json
import sys
from harness.cli.screen import show_run
from harness.results import Run
show_run(Run(json.load(open(sys.argv[1]))))
"""


@pytest.fixture(scope="module")
def info(tmp_path_factory):
    folder = tmp_path_factory.mktemp("failed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        done = harness.run(
            {
                "name": "failed",
                "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
                "algorithms": ["BaselineOnly", "ItemMean"],
                "metrics": ["ndcg@5"],
                "statistics": None,
                "baselines": False,
            },
            results=None,
        )
    cell = done.info["cells"][1]
    kept = ("dataset", "split", "candidates", "algorithm", "seed", "fold", "n_folds", "params")
    done.info["cells"][1] = {key: cell[key] for key in kept} | {"error": ERROR}
    path = folder / "info.json"
    path.write_text(json.dumps(done.info))
    return path


def shown(info, columns):
    """Return what a terminal of so many columns shows."""
    pty = pytest.importorskip("pty", reason="no terminals to open here")
    driver, terminal = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-c", SHOW, str(info)], stdout=terminal, env=environment
    )
    os.close(terminal)
    read = b""
    while True:
        try:
            part = os.read(driver, 4096)
        except OSError:
            break
        if not part:
            break
        read += part
    os.close(driver)
    assert process.wait(60) == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", read.decode().replace("\r\n", "\n"))


def test_with_room_the_reason_stands_in_the_row(info):
    text = shown(info, 220)
    row = next(line for line in text.splitlines() if line.startswith("ItemMean"))
    assert ERROR in row
    assert "✗" not in text


def test_without_room_the_reason_stands_below_and_breaks_between_words(info):
    text = shown(info, 80)
    assert "error" not in text.splitlines()[3]
    below = text[text.index("✗ ItemMean: ") :].splitlines()
    assert " ".join(" ".join(below).split()).startswith(f"✗ ItemMean: {ERROR}")
    assert max(map(len, text.splitlines())) <= 80
