"""Where Spark cannot start, the message names what to install."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.algorithms.spark_session import find_java, local_session
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
    expected = "^spark-als: there is no Java; install .*apt install openjdk-17-jre-headless"
    with pytest.raises(AlgorithmError, match=expected):
        find_java("spark-als")


def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(AlgorithmError, match=r"JAVA_HOME is .* is no program; install a Java"):
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
    with pytest.raises(AlgorithmError, match=f"is Java {version}; install .* version 17 or later"):
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
