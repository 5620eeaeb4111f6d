"""How the program ends: one document in every case, documented codes, no thread outlives it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pytest

from harness._util import terminal as streams
from harness.datasets.readers import text

SLOW = """
import time
from pathlib import Path

class Slow:
    def fit(self, train):
        Path("fits").touch()
        time.sleep(60)
    def estimate(self, users, items):
        return users * 0.0
"""
CONFIG = """
dataset: {{synthetic: {{n_users: 20, n_items: 20, n_ratings: 200}}}}
algorithms: [{algorithm}]
metrics: [rmse]
baselines: false
"""
SHORT = """
import sys, threading
from harness.console.commands import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    print("threads", others, "code", stop.code)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "slow.yaml").write_text(CONFIG.format(algorithm='"slow:Slow"'))
    (tmp_path / "good.yaml").write_text(CONFIG.format(algorithm="ItemMean"))
    (tmp_path / "bad.yaml").write_text(CONFIG.format(algorithm="SVDD"))
    (tmp_path / "bad.csv").write_text("user,item,rating\na,b,3\na,b,x\n" * 3000)
    (tmp_path / "faulty.yaml").write_text(
        "dataset: bad.csv\nalgorithms: [ItemMean]\nmetrics: [rmse]\n"
    )
    return tmp_path


def documents(out):
    return json.loads(out)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (("--log-file", ".", "run", "good.yaml", "--json"), "usage"),
        (("run", "good.yaml", "--log-file", ".", "--json"), "usage"),
        (("run", "--json"), "usage"),
        (("rnu", "good.yaml", "--json"), "usage"),
        (("--nothing", "run", "--json"), "usage"),
        (("run", "missing.yaml", "--json"), "ConfigError"),
        (("run", "good.yaml", "--trials", "--json"), "usage"),
        (("cache", "--json"), "usage"),
        (("--json",), "usage"),
    ],
)
def test_every_wrong_call_gives_one_document_with_its_error(folder, cli, call, kind):
    code, out, _ = cli(*call)
    document = documents(out)
    assert code == document["exit"] == 2
    assert document["error"]["kind"] == kind
    assert document["error"]["message"]


@pytest.mark.parametrize("call", [("run", "--help", "--json"), ("run", "--json", "--help")])
def test_a_help_is_the_result_of_the_document(cli, call):
    document = documents(cli.done(*call))
    assert document["result"]["text"].startswith("Usage: harness run")


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process at once")
def test_sigterm_ends_a_run_in_order_with_a_document(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "run", "slow.yaml", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while not (folder / "fits").exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    document = documents(out)
    assert process.returncode == document["exit"] == 143
    assert document["error"]["kind"] == "interrupted"
    assert "ended by SIGTERM; computed cells are cached" in err
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process at once")
@pytest.mark.parametrize(("error", "code"), [("KeyboardInterrupt", 130), ("Terminated", 143)])
def test_an_interrupt_while_importing_gives_a_document(folder, error, code):
    program = (
        "import sys, harness.errors\n"
        "class Stops:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'harness.console.commands':\n"
        f"            raise getattr(harness.errors, {error!r}, KeyboardInterrupt)\n"
        "sys.meta_path.insert(0, Stops())\n"
        "from harness.__main__ import main\n"
        "main()\n"
    )
    call = [sys.executable, "-c", program, "run", "good.yaml", "--json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    document = documents(done.stdout)
    assert done.returncode == document["exit"] == code
    assert document["command"] == "run"
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_what_compiled_code_and_child_processes_print_is_not_in_the_answer(folder):
    (folder / "loud.py").write_text(
        "import ctypes, subprocess, sys\n"
        "class Loud:\n"
        "    def fit(self, train):\n"
        "        ctypes.CDLL(None).puts(b'compiled')\n"
        "        subprocess.run([sys.executable, '-c', 'print(7777)'], check=True)\n"
        "    def estimate(self, users, items):\n"
        "        return users * 0.0\n"
    )
    (folder / "loud.yaml").write_text(CONFIG.format(algorithm='"loud:Loud"'))
    call = [sys.executable, "-m", "harness", "run", "loud.yaml", "--json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == documents(done.stdout)["exit"] == 0
    assert "compiled" in done.stderr
    assert "7777" in done.stderr


def test_standard_output_is_as_before_after_a_command(folder, cli):
    before, descriptor = sys.stdout, os.fstat(1)
    cli.done("run", "good.yaml", "--json")
    assert sys.stdout is before
    assert streams.answers() is before
    assert os.fstat(1).st_ino == descriptor.st_ino


@pytest.mark.sample(3)
@pytest.mark.parametrize("config", ["good.yaml", "bad.yaml", "faulty.yaml"])
def test_no_thread_of_ours_outlives_a_command(folder, config):
    call = [sys.executable, "-c", SHORT, "run", config]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert f"threads [] code {0 if config == 'good.yaml' else 2}" in done.stdout


def test_a_refused_config_starts_no_thread(folder, cli, monkeypatch):
    started = []
    monkeypatch.setattr(threading.Thread, "start", lambda thread: started.append(thread))
    cli.refused("run", "bad.yaml")
    cli.refused("run", "faulty.yaml")
    assert not started


def test_arrow_reads_text_from_memory_of_its_own(folder, cli, monkeypatch):
    handed, reader = [], pa.BufferReader
    monkeypatch.setattr(text.pa, "BufferReader", lambda data: handed.append(data) or reader(data))
    cli.refused("run", "faulty.yaml")
    assert handed
    assert all(isinstance(data, pa.Buffer) and data.is_mutable for data in handed)


def test_a_command_that_was_called_without_main_diverts_no_later_one(cli, monkeypatch):
    monkeypatch.setattr(streams, "_answers", [sys.stderr])
    monkeypatch.setattr(streams, "_diverted", [sys.stdout])
    _, out, _ = cli("list", "metrics")
    assert "ndcg" in out
