"""What `harness doctor` finds: who owns Surprise, versions, places, and a probe that may fail."""

import hashlib
import json
import subprocess
import sys
from base64 import urlsafe_b64encode
from importlib.metadata import PackageNotFoundError, distributions

import pytest
import surprise

import harness
from harness._util import installed
from harness._util.installed import changed_files, owners_of_surprise, problem_of_surprise
from harness.errors import HarnessError
from harness.extras.doctor import examination
from harness.extras.doctor.examination import examine


def install(folder, name, version, files):
    """Write a distribution that owns a folder ``surprise``, as pip leaves it."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "top_level.txt").write_text("surprise\n")
    lines = []
    for path, content in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(content)
        digest = urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).decode().rstrip("=")
        lines.append(f"{path},sha256={digest},{len(content)}")
    (info / "RECORD").write_text("\n".join(lines) + "\n")


class Packages:
    """The packages of a folder, in place of those of this process."""

    def __init__(self, folder):
        self.folder = folder

    def all(self):
        return {each.metadata["Name"]: each for each in distributions(path=[str(self.folder)])}

    def by_module(self):
        return {"surprise": list(self.all())}

    def find(self, name):
        if name not in self.all():
            raise PackageNotFoundError(name)
        return self.all()[name]

    def version(self, name):
        return self.find(name).version


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of packages, the only one that is looked at."""
    folder = tmp_path / "site"
    folder.mkdir()
    packages = Packages(folder)
    monkeypatch.setattr(installed, "packages_distributions", packages.by_module)
    monkeypatch.setattr(installed, "version", packages.version)
    monkeypatch.setattr(installed, "distribution", packages.find)
    return folder


@pytest.fixture
def no_probe(monkeypatch):
    """Leave the process out, which takes seconds."""
    monkeypatch.setattr(examination, "_probe", lambda found: None)


SURPRISE = {"surprise/__init__.py": "__version__ = '1.1.5'\n", "surprise/dataset.py": "x = 1\n"}


def test_this_installation_has_one_owner():
    assert owners_of_surprise() == {"scikit-surprise": surprise.__version__}
    assert changed_files() == []
    assert problem_of_surprise(owners_of_surprise()) is None


def test_both_installed_is_a_fault_with_the_line_of_pip(site):
    install(site, "scikit-surprise", "1.1.5", SURPRISE)
    install(site, "scikit_surprise_2", "2.0.1", {"surprise/__init__.py": "__version__ = '2'\n"})
    assert owners_of_surprise() == {"scikit-surprise": "1.1.5", "scikit-surprise-2": "2.0.1"}
    what, remedy = problem_of_surprise(owners_of_surprise())
    assert "scikit-surprise 1.1.5 and scikit-surprise-2 2.0.1 are installed" in what
    assert remedy == (
        "run `pip uninstall -y scikit-surprise scikit-surprise-2 && pip install scikit-surprise`"
    )


def test_the_other_package_alone_is_a_fault(site):
    install(site, "scikit-surprise-2", "2.0.1", {"surprise/__init__.py": ""})
    what, remedy = problem_of_surprise(owners_of_surprise())
    assert what.startswith("scikit-surprise-2 2.0.1 is installed, a different package")
    assert "pip uninstall -y scikit-surprise-2 && pip install scikit-surprise" in remedy


def test_what_an_uninstalled_other_package_leaves_is_a_fault(site):
    install(site, "scikit-surprise", "1.1.5", SURPRISE)
    assert problem_of_surprise(owners_of_surprise()) is None
    (site / "surprise" / "__init__.py").write_text("__version__ = '2'\n")
    (site / "surprise" / "dataset.py").unlink()
    assert changed_files() == ["surprise/__init__.py", "surprise/dataset.py"]
    what, remedy = problem_of_surprise(owners_of_surprise())
    assert what.startswith("2 files of scikit-surprise 1.1.5 are missing or changed, such as surp")
    assert "pip install --force-reinstall --no-deps scikit-surprise==1.1.5" in remedy


def test_no_package_is_a_fault(site):
    assert problem_of_surprise(owners_of_surprise())[1] == "run `pip install scikit-surprise`"


def test_the_patch_says_which_package_is_installed_and_what_to_do(site, monkeypatch):
    install(site, "scikit-surprise", "1.1.5", SURPRISE)
    install(site, "scikit-surprise-2", "2.0.1", {"surprise/__init__.py": ""})
    monkeypatch.setattr(surprise, "__version__", "2.0.1")
    said = r"and scikit-surprise-2 2\.0\.1 are installed .* nothing is patched; run `pip uninstall"
    with pytest.warns(UserWarning, match=said):
        harness.patch_surprise()
    with pytest.raises(HarnessError, match=said):
        harness.patch_surprise(strict=True)


def test_the_command_ends_with_1_where_there_is_a_problem(site, no_probe, call):
    install(site, "scikit-surprise-2", "2.0.1", {"surprise/__init__.py": ""})
    code, out, _ = call("doctor")
    assert code == 1
    assert "problem: surprise: scikit-surprise-2 2.0.1 is installed" in out
    code, out, _ = call("doctor", "--json")
    document = json.loads(out)
    assert code == document["exit"] == 1
    assert not document["result"]["is_healthy"]
    assert document["result"]["surprise"]["owners"] == {"scikit-surprise-2": "2.0.1"}


def test_it_finds_old_packages_a_wrong_number_of_threads_and_a_closed_cache(
    no_probe, tmp_path, monkeypatch
):
    needed = ["numpy>=99", "nowhere-at-all>=1.0", 'optuna>=4.7; extra == "tpe"']
    monkeypatch.setattr(examination, "requires", lambda name: needed)
    monkeypatch.setenv("HARNESS_THREADS", "many")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    problems = examine().problems
    assert [problem.partition(":")[0] for problem in problems] == [
        "numpy", "nowhere-at-all", "HARNESS_THREADS", str(tmp_path / "file"),
    ]  # fmt: skip
    assert "at least 99 is needed; run `pip install --upgrade numpy`" in problems[0]


def test_a_full_disk_and_a_limit_of_memory_are_problems(no_probe, monkeypatch):
    monkeypatch.setattr(examination, "LEAST_DISK", 1 << 60)
    monkeypatch.setattr(examination, "address_space_left", lambda: 5_000_000)
    problems = " ".join(examine().problems)
    assert "the limit of address space leaves 5 MB" in problems
    assert "are free on this disk; free some space" in problems


def test_the_size_of_the_cache_is_that_of_its_files(no_probe, tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    (tmp_path / "cells" / "ab").mkdir(parents=True)
    (tmp_path / "cells" / "ab" / "one").write_bytes(b"x" * 1000)
    assert examine().cache == {"folder": str(tmp_path), "files": 1, "bytes": 1000}


def probed(monkeypatch, code):
    """What is found where the probe is this code."""
    run = subprocess.run
    monkeypatch.setattr(
        subprocess, "run", lambda command, **kinds: run([sys.executable, "-c", code], **kinds)
    )
    return examine()


def line(stage, state, **more):
    return f"print('''{json.dumps({'stage': stage, 'state': state, **more})}''', flush=True)\n"


COMPILES = line("numba_compiles", "done", is_compiled=True, seconds=1.0)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            line("surprise_imported", "begun")
            + line("surprise_imported", "failed", reason="ImportError: no x")
            + "exit(1)",
            "importing Surprise failed (ImportError: no x)",
        ),
        (
            line("libraries_imported", "begun")
            + line("libraries_imported", "failed", reason="ImportError: pyarrow needs NumPy 2")
            + "exit(1)",
            "importing NumPy, SciPy, pandas and pyarrow failed (ImportError: pyarrow needs",
        ),
        (
            line("numba_compiles", "begun") + "import os; os.abort()",
            "compiling a function with Numba failed (exit code -6)",
        ),
        ("print('noise'); raise OSError('gone')", "starting Python failed (OSError: gone)"),
        (
            line("numba_compiles", "done", is_compiled=False, seconds=1.0),
            "unset NUMBA_DISABLE_JIT",
        ),
        (
            COMPILES + line("loops_kept", "done", folder=None, files=0),
            "set NUMBA_CACHE_DIR to a folder that can be written",
        ),
        (
            line("accelerated_fit", "done", is_equal=False, seconds=1.0, first_seconds=1.0),
            "differs from the fit of plain Surprise",
        ),
    ],
    ids=["import", "libraries", "abort", "start", "interpreted", "not kept", "different"],
)
def test_what_stops_the_probe_is_a_problem(monkeypatch, code, said):
    found = probed(monkeypatch, code)
    (problem,) = found.problems
    assert said in problem
    assert found.rows()


def test_a_probe_that_hangs_is_ended_and_keeps_what_it_has_reached(monkeypatch):
    monkeypatch.setattr(examination, "LONGEST", 2)
    found = probed(
        monkeypatch, COMPILES + line("plain_fit", "begun") + "import time; time.sleep(60)"
    )
    assert found.probe["numba_compiles"]["is_compiled"]
    assert not found.problems
    assert "fitting SVD in plain Surprise had not ended after 2 s" in found.notes[0]


def test_a_probe_that_has_done_all_is_not_called_late(monkeypatch):
    monkeypatch.setattr(examination, "LONGEST", 2)
    values = {"seconds": 0.1, "first_seconds": 1.0, "is_equal": True, "ratings": 10, "epochs": 1}
    values |= {"is_compiled": True, "folder": None, "files": 1, "imports": {}}
    done = "".join(line(stage, "done", **values) for stage in examination.STAGES)
    found = probed(monkeypatch, done + "import time; time.sleep(60)")
    assert not [note for note in found.notes if "had not ended" in note]


@pytest.mark.long
def test_the_probe_fits_the_same_model_plain_and_accelerated(monkeypatch):
    monkeypatch.setattr(examination, "LONGEST", 300)
    found = examine()
    assert found.problems == []
    assert found.probe["accelerated_fit"]["is_equal"]
    assert found.probe["surprise_imported"]["version"] == surprise.__version__
    names = [name for name, _ in found.rows()]
    assert names == [
        "surprise", "versions", "system", "threads", "cache", "Numba", "compiled loops",
        "fit of SVD", "memory", "disk", "schema",
    ]  # fmt: skip
