"""The image file does what the README says, as far as that shows without a daemon."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from fnmatch import fnmatch
from pathlib import Path

import pytest

from harness.results import read_run
from harness.results.verdict import verdict_lines

TOP = Path(__file__).parents[2]
TEXT = (TOP / "dev/Dockerfile").read_text(encoding="utf-8")
README = (TOP / "README.md").read_text(encoding="utf-8")
COMMANDS = re.search(r"<!-- run command -->\n```sh\n(.*)\n", README).group(1).split(" && ")


def instructions():
    """The instructions of the image file and their words, with continued lines joined."""
    lines = re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


def values(instruction):
    return [value for name, value in instructions() if name == instruction]


def sources():
    """The paths of the repository that are copied."""
    for value in values("COPY"):
        *paths, _ = [word for word in value.split() if not word.startswith("--")]
        yield from paths


def test_the_base_image_is_of_a_patch_version_of_python_that_is_supported():
    (base,) = values("FROM")
    assert re.fullmatch(r"python:3\.1[123]\.\d+-slim-\w+", base)


def test_the_user_is_not_root_from_before_the_installation_to_the_end():
    names = [name for name, _ in instructions()]
    (user,) = values("USER")
    assert user not in ("root", "0")
    assert f"useradd --create-home --uid 1000 {user}" in values("RUN")
    installs = next(
        number for number, (_, value) in enumerate(instructions()) if "pip install" in value
    )
    assert names.index("USER") < installs
    assert all(f"--chown={user}:{user} " in value for value in values("COPY"))


def test_it_runs_the_two_commands_of_the_readme():
    assert sum(values("RUN")[-1].replace(" --no-cache-dir", "") == part for part in COMMANDS) == 1
    (entry,), (default,) = values("ENTRYPOINT"), values("CMD")
    assert [*json.loads(entry), *json.loads(default)] == shlex.split(COMMANDS[-1])


def test_what_is_copied_is_there_and_goes_to_the_builder():
    lines = (TOP / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = [line.removeprefix("!") for line in lines if line.startswith("!")]
    assert "*" in lines
    assert sorted(sent) == sorted(sources())
    assert all((TOP / path).exists() for path in sources())
    hidden = [line for line in lines if line[:1] not in ("!", "#", "*")]
    assert not any(fnmatch(path, pattern) for path in sources() for pattern in hidden)


@pytest.mark.long
def test_what_is_copied_is_installed_in_a_new_environment_and_runs(tmp_path):
    """Without dependencies, which are those of this environment; pip fetches its build tool."""
    work = tmp_path / "work"
    for path in sources():
        if (TOP / path).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(TOP / path, work / path, ignore=ignored)
        else:
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / path, work / path)
    venv.create(tmp_path / "venv", with_pip=True, system_site_packages=False)
    programs = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    packages = subprocess.run(
        [programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True, timeout=60,
    ).stdout.strip()  # fmt: skip
    paths = [path for path in sys.path if Path(path).name == "site-packages"]
    (Path(packages) / "zz_shared.pth").write_text("\n".join(paths))
    environment = os.environ | {"HARNESS_CACHE": str(tmp_path / "cache")}
    environment.pop("PYTHONPATH", None)
    install = shlex.split(values("RUN")[-1])
    assert install[:2] == ["pip", "install"]
    for command in (
        [programs / "python", "-m", *install, "--no-deps"],
        [programs / "harness", *json.loads(values("CMD")[0])],
    ):
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, timeout=400,
            check=False,
        )  # fmt: skip
        if "No matching distribution found for hatchling" in done.stderr:
            pytest.skip("no package index can be reached")
        assert done.returncode == 0, done.stderr
    (verdict,) = verdict_lines(read_run(TOP / "results" / "quickstart").info)
    assert verdict in " ".join(done.stdout.split())
    assert (work / "runs" / "quickstart" / "table.csv").is_file()
