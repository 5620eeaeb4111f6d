"""The identity of code: what it follows, where it stops, and what it says that it cannot follow."""

import hashlib
import importlib
import json
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from harness.algorithms.identity import code_identity

CLASS = "class Own:\n    pass\n"
VALUE = "def value():\n    return 1\n"


class Project:
    """Modules in a folder that can be imported, and packages beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, files):
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def forget(self):
        """Make the next import read the files, as in a new process."""
        for name, module in [*sys.modules.items()]:
            places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
            if any(place and Path(place).is_relative_to(self.folder) for place in places):
                del sys.modules[name]
        importlib.invalidate_caches()

    def identity(self, module="own"):
        self.forget()
        return code_identity(importlib.import_module(module).Own)

    def install(self, name, version, code=VALUE, record=True, **metadata):
        """Write a package and its metadata, as an installer does."""
        installed = self.folder / "site"
        for old in installed.glob(f"{name}-*.dist-info/*"):
            old.unlink()
        for old in installed.glob(f"{name}-*.dist-info"):
            old.rmdir()
        digest = f"sha256={hashlib.sha256(code.encode()).hexdigest()}"
        files = {
            "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            + "".join(f"Requires-Dist: {each}\n" for each in metadata.get("requires", ())),
            "RECORD": f"{name}/__init__.py,{digest},9\n" if record else "",
        }
        if "direct_url" in metadata:
            files["direct_url.json"] = json.dumps(metadata["direct_url"])
        info = f"site/{name}-{version}.dist-info"
        self.write({f"{info}/{file}": text for file, text in files.items()})
        if record:
            self.write({f"site/{name}/__init__.py": code})


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    written = Project(tmp_path)
    yield written
    written.forget()


IMPORTS = {
    "import": ("own", "own.py", "import deep\n"),
    "another name": ("own", "own.py", "import deep as d\n"),
    "from": ("own", "own.py", "from deep import value\n"),
    "star": ("own", "own.py", "from deep import *\n"),
    "two away": ("own", "own.py", "import near\n"),
    "two away by its name there": ("own", "own.py", "from near import deep\n"),
    "in a function": ("own", "own.py", "def late():\n    import deep\n"),
    "optional": ("own", "own.py", "try:\n    import deep\nexcept ImportError:\n    pass\n"),
    "literal": ("own", "own.py", "import importlib\nimportlib.import_module('deep')\n"),
    "renamed function": (
        "own",
        "own.py",
        "from importlib import import_module as load\nload('deep')\n",
    ),
    "builtin function": ("own", "own.py", "def late():\n    __import__('deep')\n"),
    "not for a type checker": (
        "own",
        "own.py",
        "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n    import deep\n",
    ),
    "beside a script": (
        "own",
        "own.py",
        "if __name__ == '__main__':\n    import sys\nelse:\n    import deep\n",
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", IMPORTS)
def test_a_module_counts_however_it_is_imported(project, case):
    module, file, text = IMPORTS[case]
    project.write({file: text + CLASS, "near.py": "import deep\n", "deep.py": VALUE})
    before = project.identity(module)
    assert before == project.identity(module)
    project.write({"deep.py": VALUE.replace("1", "2")})
    assert project.identity(module).digest != before.digest
    assert before.unfollowed == ()


PACKAGED = {
    "import pkg.sub": ("own", "pkg/sub.py"),
    "import pkg.sub as other": ("own", "pkg/__init__.py"),
    "from pkg import sub": ("own", "pkg/sub.py"),
    "from pkg.sub import value": ("own", "pkg/sub.py"),
    "from pkg.inner.deep import value": ("own", "pkg/inner/deep.py"),
    "from pkg.inner import deep": ("own", "pkg/inner/__init__.py"),
    "from pkg import star": ("own", "pkg/listed.py"),
    "import space.part": ("own", "space/part.py"),
    "from space import part": ("own", "space/part.py"),
    "from . import sub": ("pkg.own", "pkg/sub.py"),
    "from .sub import value": ("pkg.own", "pkg/sub.py"),
    "from .inner import deep": ("pkg.own", "pkg/inner/deep.py"),
    "from .inner.up import value": ("pkg.own", "pkg/sub.py"),
    "import importlib; importlib.import_module('.sub', __package__)": ("pkg.own", "pkg/sub.py"),
    "pass": ("pkg.own", "pkg/__init__.py"),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("statement", PACKAGED)
def test_the_modules_of_a_package_count(project, statement):
    module, edited = PACKAGED[statement]
    files = {
        "pkg/__init__.py": VALUE,
        "pkg/sub.py": VALUE,
        "pkg/unused.py": VALUE,
        "pkg/listed.py": VALUE,
        "pkg/star/__init__.py": "from ..inner import *\n",
        "pkg/inner/__init__.py": "from .. import listed\n__all__ = ['deep', 'listed']\n",
        "pkg/inner/deep.py": VALUE,
        "pkg/inner/up.py": "from ..sub import value\n",
        "space/part.py": VALUE,
    }
    project.write(files | {f"{module.replace('.', '/')}.py": f"{statement}\n{CLASS}"})
    before = project.identity(module)
    assert before.unfollowed == ()
    project.write({"pkg/unused.py": "def value(): return 9\n"})
    assert project.identity(module) == before
    project.write({edited: f"{files[edited]}\nHEIGHT = 3\n"})
    assert project.identity(module).digest != before.digest


def test_the_module_of_a_base_class_counts(project):
    text = "import sys\nmade = sys.modules['base'].Base\nclass Own(made):\n    pass\n"
    project.write({"own.py": text, "base.py": "class Base:\n    HEIGHT = 1\n"})
    importlib.import_module("base")
    before = code_identity(importlib.import_module("own").Own)
    project.write({"base.py": "class Base:\n    HEIGHT = 2\n"})
    project.forget()
    importlib.import_module("base")
    assert code_identity(importlib.import_module("own").Own).digest != before.digest


@pytest.mark.parametrize(
    "block",
    ["from typing import TYPE_CHECKING\nif TYPE_CHECKING:", "if __name__ == '__main__':"],
)
def test_what_never_runs_in_a_fit_does_not_count(project, block):
    project.write({"own.py": f"{block}\n    import deep\n{CLASS}", "deep.py": VALUE})
    before = project.identity()
    project.write({"deep.py": VALUE.replace("1", "2")})
    assert project.identity() == before


def test_a_module_that_a_function_imports_counts_alike_before_and_after(project):
    project.write({"own.py": f"def late():\n    import deep\n{CLASS}", "deep.py": VALUE})
    before = project.identity()
    project.forget()
    importlib.import_module("deep")
    assert code_identity(importlib.import_module("own").Own) == before


def test_a_module_that_was_reloaded_counts_as_it_is_loaded(project):
    project.write({"own.py": f"import deep\n{CLASS}", "deep.py": "HEIGHT = 1\n"})
    before = project.identity()
    project.write({"deep.py": "HEIGHT = 25\n"})
    own = sys.modules["own"].Own
    assert code_identity(own) == before  # the old code is what would run
    importlib.reload(sys.modules["deep"])
    assert code_identity(own).digest != before.digest


def test_an_optional_module_that_appears_counts(project):
    text = "try:\n    import deep\nexcept ImportError:\n    deep = None\n"
    project.write({"own.py": text + CLASS})
    before = project.identity()
    project.write({"deep.py": VALUE})
    assert project.identity().digest != before.digest


def test_modules_that_import_each_other_or_fail_are_followed(project):
    files = {
        "own.py": f"import near\ndef late():\n    import broken, stops\n{CLASS}",
        "near.py": "import own\nclass A: pass\nclass B: pass\nA.other, B.other = B, A\n",
        "broken.py": "import nothing_of_this_name\n",
        "stops.py": "import sys\nsys.exit(3)\n",
    }
    project.write(files)
    before = project.identity()
    for name in ("near.py", "broken.py", "stops.py"):
        project.write({name: f"{files[name]}\nHEIGHT = 1\n"})
        assert project.identity().digest != before.digest
        project.write({name: files[name]})


@pytest.mark.parametrize("statement", ["import lib", "from lib import value", "import lib as x"])
def test_an_installed_package_counts_by_its_version(project, statement):
    project.install("lib", "0.1")
    project.write({"own.py": f"import helper\n{CLASS}", "helper.py": f"{statement}\n"})
    before = project.identity()
    assert before.packages == {"lib": "0.1"}
    project.install("lib", "0.2")
    after = project.identity()
    assert after.packages == {"lib": "0.2"}
    assert after.digest == before.digest


def test_a_package_that_was_installed_from_a_folder_counts_by_its_files(project):
    source = {"url": "file:///source", "dir_info": {}}
    project.install("lib", "0.1", direct_url=source)
    project.write({"own.py": f"import lib\n{CLASS}"})
    before = project.identity()
    assert project.identity() == before
    project.install("lib", "0.1", VALUE.replace("1", "2"), direct_url=source)
    assert project.identity().packages != before.packages


@pytest.mark.parametrize("built", ["dist-info", "egg-info"])
def test_an_editable_package_counts_by_its_files(project, built):
    if built == "dist-info":
        source = {"url": "file:///source", "dir_info": {"editable": True}}
        project.install("lib", "0.1", record=False, direct_url=source)
    else:
        metadata = "Metadata-Version: 2.1\nName: lib\nVersion: 0.1\n"
        project.write({"lib.egg-info/PKG-INFO": metadata, "lib.egg-info/top_level.txt": "lib\n"})
    project.write({"own.py": f"import lib\n{CLASS}", "lib/__init__.py": "from . import deep\n"})
    project.write({"lib/deep.py": VALUE})
    before = project.identity()
    project.write({"lib/deep.py": VALUE.replace("1", "2")})
    assert project.identity().digest != before.digest


def test_a_class_of_an_installed_package_counts_with_what_the_package_requires(project):
    project.install("needed", "1.0")
    requires = ["needed>=1", "absent; sys_platform == 'none'", "other; extra == 'all'"]
    project.install("lib", "0.1", CLASS, requires=requires)
    before = project.identity("lib")
    assert before.packages == {"lib": "0.1", "needed": "1.0"}
    project.write({"site/lib/__init__.py": f"{CLASS}\nHEIGHT = 1\n"})
    assert project.identity("lib").digest != before.digest
    project.install("needed", "1.1")
    assert project.identity("lib").packages == {"lib": "0.1", "needed": "1.1"}


def test_a_module_that_is_named_as_an_installed_package_is_ones_own(project):
    project.install("lib", "0.1")
    project.write({"own.py": f"import lib\n{CLASS}", "lib.py": VALUE})  # first on the path
    before = project.identity()
    assert before.packages == {}
    project.write({"lib.py": VALUE.replace("1", "2")})
    assert project.identity().digest != before.digest


def test_an_installed_package_that_a_function_imports_is_not_imported(project):
    project.install("lib", "0.1", "raise SystemExit\n")
    project.write({"own.py": f"def late():\n    import lib.inner\n{CLASS}"})
    assert project.identity().packages == {"lib": "0.1"}
    assert "lib" not in sys.modules


def test_numpy_and_surprise_count_by_their_versions(project):
    project.write({"own.py": f"import os, json, numpy.linalg\nimport surprise\n{CLASS}"})
    assert project.identity().packages.keys() == {"numpy", "scikit-surprise"}


UNFOLLOWED = {
    "import importlib\ndef late(name):\n    importlib.import_module(name)\n": (
        "deep imports a module by a computed name (line 3)"
    ),
    "from importlib import import_module as load\nload('js' + 'on')\n": (
        "deep imports a module by a computed name (line 2)"
    ),
    "exec('x = ' + '1')\n": "deep runs code made at run time (line 1)",
    "run = exec\nrun('x = 1')\n": "deep runs code made at run time (line 1)",
    "import builtins\nbuiltins.exec('x' + '= 1')\n": "deep runs code made at run time (line 2)",
    "from builtins import eval as run\nrun('1' + '1')\n": (
        "deep runs code made at run time (line 2)"
    ),
    "list(map(eval, ['1']))\n": "deep runs code made at run time (line 1)",
    "code = compile('1' + '1', 'a', 'eval')\n": "deep runs code made at run time (line 1)",
    "load = __import__\nload('json')\n": "deep imports a module by a computed name (line 1)",
    "import runpy\nload = runpy.run_path\n": "deep runs a file (line 2)",
    "def late(path):\n    import runpy\n    runpy.run_path(path)\n": "deep runs a file (line 3)",
    "def late(p):\n    import ctypes\n    ctypes.CDLL(p)\n": (
        "deep loads a compiled library (line 3)"
    ),
}


@pytest.mark.parametrize("text", UNFOLLOWED)
def test_what_cannot_be_followed_is_said(project, text):
    project.write({"own.py": f"import deep\n{CLASS}", "deep.py": text})
    assert project.identity().unfollowed == (UNFOLLOWED[text],)


@pytest.mark.parametrize(
    "text",
    [
        "exec('x = 1')\n",
        "class A:\n    def eval(self): self.eval(2)\n",
        "class A:\n    def eval(self): return self.eval\n",
        "import re\npattern = re.compile('a' + 'b')\n",
        "eval = 1\n",
    ],
)
def test_what_the_text_holds_is_followed(project, text):
    project.write({"own.py": f"import deep\n{CLASS}", "deep.py": text})
    assert project.identity().unfollowed == ()


@pytest.mark.parametrize("installed", [False, True])
def test_an_extension_is_said_unless_it_is_installed(project, installed):
    folder = "site-packages/" if installed else ""
    project.write({"own.py": f"def late():\n    import fast\n{CLASS}"})
    project.write({f"{folder}fast{EXTENSION_SUFFIXES[0]}": "not loaded"})
    sys.path.append(str(project.folder / "site-packages"))
    try:
        before = project.identity()
        project.write({f"{folder}fast{EXTENSION_SUFFIXES[0]}": "built again"})
        assert project.identity().digest != before.digest
    finally:
        sys.path.pop()
    assert before.unfollowed == (() if installed else ("fast is a compiled extension",))


def test_code_without_a_file_is_said(project, monkeypatch):
    module = type(sys)("typed_in")
    monkeypatch.setitem(sys.modules, "typed_in", module)
    exec(CLASS, vars(module))
    (reason,) = code_identity(module.Own).unfollowed
    assert reason == "typed_in has no source: it was typed in, or made at run time"
    monkeypatch.delitem(sys.modules, "typed_in")
    assert code_identity(module.Own).unfollowed


def test_a_function_and_an_instance_have_the_identity_of_their_module(project):
    project.write({"own.py": f"{VALUE}{CLASS}"})
    identity = project.identity()
    own = sys.modules["own"]
    assert code_identity(own.value) == code_identity(own.Own()) == code_identity(own) == identity


@pytest.mark.parametrize(
    "constant", ["K = 1", "K: int = 1", "K = (1, 'a')", "class B:\n    K = 1", "K = 2; K = 1"]
)
@pytest.mark.parametrize("file", ["own.py", "deep.py"])
def test_a_constant_that_was_edited_after_the_import_counts_as_it_is_loaded(
    project, constant, file
):
    files = {"own.py": f"import deep\n{CLASS}", "deep.py": VALUE}
    project.write(files | {file: f"{constant}\n{files[file]}"})
    project.forget()
    own = importlib.import_module("own")
    project.write({file: f"{constant}\n{files[file]}".replace("1", "25")})
    before = code_identity(own.Own)
    assert project.identity().digest != before.digest


@pytest.mark.parametrize(
    "text",
    [
        "N = 0\ndef count():\n    global N\n    N += 1\n",
        "class Counter:\n    N = 0\ndef count():\n    Counter.N += 1\n",
        "N = []\ndef count():\n    N.append(1)\n",
    ],
)
def test_what_the_code_itself_changes_when_it_runs_does_not_count(project, text):
    project.write({"own.py": f"import deep\n{CLASS}", "deep.py": text})
    before = project.identity()
    project.forget()
    own = importlib.import_module("own")
    sys.modules["deep"].count()
    assert code_identity(own.Own) == before
