"""Worker processes of runs, forked from a process that has imported what all of them import first.

A run with your own code, or with several workers, starts processes that import this package, which
takes much longer than the cells of a test. Here such a process runs the same program,
`processes.START`, with the same environment, working folder, streams and signal mask; only its
first imports are there already. The fixture ``started_workers`` starts processes as outside of
tests, for tests of what can happen to them. So do tests that are ``long`` and do not ask for
``forked_workers``, and any other system than Linux.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness.experiment.execute import processes
from harness.results.reads import THREAD_VARIABLES

SERVER = """
import json, os, signal, socket, sys, traceback, warnings
from contextlib import suppress
import numba, numpy, pandas
import harness.experiment.cell
import harness.experiment.execute.processes

def fork():
    with warnings.catch_warnings():  # Python warns of threads, which libraries have
        warnings.simplefilter("ignore")
        return os.fork()

def run(program):
    code = 0
    try:
        exec(compile(program, "<frozen program>", "exec"), vars(sys.modules["__main__"]))
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        os._exit(code)

def take_place(answers, streams):
    with open(answers.detach(), "rb") as file:
        asked = json.loads(file.readline())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, asked["blocked"])
    numpy.random.seed()
    sys.argv[:] = ["-c"]
    run(asked["program"])

calls = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    asked, (*streams,), *_ = socket.recv_fds(calls, 1, 4)
    if not asked:
        os._exit(0)
    if not fork():
        # This one waits for the process that it forks, and answers with its number and its end.
        calls.close()
        answers = socket.socket(fileno=streams.pop(0))
        pid = fork()
        if not pid:
            take_place(answers, streams)
        for stream in streams:
            os.close(stream)
        answers.sendall(b"%d\\n" % pid)
        answers.sendall(b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os._exit(0)
    for stream in streams:
        os.close(stream)
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
"""
SERVE = f"exec(compile({SERVER!r}, '<frozen server>', 'exec'))"
"""Under these names, none of it is taken for your own code where that is recorded."""
AT_IMPORT = ("PYTHON", "NUMBA", "OPENBLAS", "OMP", "MKL", "LD_", "HARNESS_THREADS")
"""Beginnings of the names of variables that may decide how libraries are imported."""


def _deciding(environment: dict[str, str]) -> str:
    return json.dumps({k: v for k, v in sorted(environment.items()) if k.startswith(AT_IMPORT)})


class Forked:
    """A process like `subprocess.Popen`, as far as `processes.ChildProcess` needs one."""

    def __init__(self, program: str, environment: dict[str, str], stderr: int) -> None:
        asked = {
            "program": program,
            "environment": environment,
            "folder": str(Path.cwd()),
            "blocked": [int(each) for each in signal.pthread_sigmask(signal.SIG_BLOCK, ())],
        }
        (requests, stdin), (stdout, answers) = os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        ours, theirs = socket.socketpair()
        with theirs:
            streams = [theirs.fileno(), requests, answers, stderr]
            socket.send_fds(_server(environment), [b"x"], streams)
        os.close(requests)
        os.close(answers)
        ours.sendall(json.dumps(asked).encode() + b"\n")
        self._said = os.fdopen(ours.detach(), "rb", buffering=0)
        self.pid = int(self._said.readline())
        self._waiting = threading.Lock()
        self.returncode: int | None = None

    def wait(self) -> int:
        """Return the exit code, as soon as there is one."""
        with self._waiting:
            if self.returncode is None:
                self.returncode = int(self._said.readline())
                self._said.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit code, if there is one."""
        if self.returncode is None and not select.select([self._said], [], [], 0)[0]:
            return None
        return self.wait()

    def kill(self) -> None:
        """End the process."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


_servers: dict[str, tuple[subprocess.Popen[bytes], socket.socket]] = {}
"""By what decides how libraries are imported."""
_starting = threading.Lock()


def _server(environment: dict[str, str]) -> socket.socket:
    """Return the connection to the process that forks those of an environment."""
    with _starting:
        key = _deciding(environment)
        if key not in _servers:
            ours, theirs = socket.socketpair()
            with theirs:
                number = theirs.fileno()
                server = subprocess.Popen(
                    [sys.executable, "-c", SERVE, str(number)],
                    env=environment, pass_fds=[number], stdin=subprocess.DEVNULL,
                )  # fmt: skip
            _servers[key] = server, ours
        return _servers[key][1]


def close() -> None:
    """End the processes that fork others."""
    for server, connection in _servers.values():
        connection.close()
        server.kill()
        server.wait()
    _servers.clear()


_of_session = _deciding({**os.environ, **dict.fromkeys(THREAD_VARIABLES, "")})


def start(command: list[str], **options: Any) -> Forked | subprocess.Popen[bytes]:
    """Start a process: forked, if it is a worker in the usual surroundings."""
    environment = dict(options["env"])
    usual = _deciding(environment | dict.fromkeys(THREAD_VARIABLES, "")) == _of_session
    if not usual or command[:2] != [sys.executable, "-c"]:
        return subprocess.Popen(command, **options)
    if options["stderr"] != subprocess.DEVNULL:
        return Forked(command[2], environment, stderr=2)
    with Path(os.devnull).open("wb") as nothing:
        return Forked(command[2], environment, nothing.fileno())


STARTED = processes.subprocess
FORKED = (
    SimpleNamespace(**vars(subprocess) | {"Popen": start}) if sys.platform == "linux" else STARTED
)
