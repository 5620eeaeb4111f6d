"""Ways in which a number reaches a class of your own: each holds 2 first, and then 4."""

from __future__ import annotations

import json
import marshal
import os
import pickle
import sqlite3
import textwrap
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

DEEP = "K = {}\ndef value(): return K\n"
OWN = """
import numpy as np
{top}

class Own:
    def fit(self, train):
        {fit}
    def estimate(self, users, items):
        {estimate}
        return np.full(len(users), float(value))
"""


def own(top="", fit="pass", estimate="value = self.value"):
    """Return the text of a class whose estimates are a value that it got at one of its moments."""
    return OWN.format(top=textwrap.dedent(top), fit=fit, estimate=estimate)


def at_import(code):
    """Return a class that gets its value when it is imported: `code` sets it."""
    return own(f"{textwrap.dedent(code)}\nVALUE = value", estimate="value = VALUE")


@dataclass
class Way:
    """What lies beside a config for a number, and settings of the run."""

    files: Callable[[int], dict[str, str | bytes]]
    config: dict[str, object] = field(default_factory=dict)
    environment: Callable[[int], dict[str, str]] = lambda number: {}
    link: str = ""
    """The file to which ``link.txt`` points, with ``?`` for the number."""

    def write(self, folder: Path, number: int) -> None:
        """Write the files that hold a number."""
        for name, content in self.files(number).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if self.link:
            (folder / "link.txt").unlink(missing_ok=True)
            (folder / "link.txt").symlink_to(self.link.replace("?", str(number)))


def of_code(code, **more):
    """Return a way in which a class reaches the module `deep`."""
    extra = {name.replace("__", "/") + ".py": text for name, text in more.items()}

    def files(number):
        return {"own.py": at_import(code), "deep.py": DEEP.format(number), **extra}

    return Way(files)


IMPORTS = {
    "import": "import deep; value = deep.value()",
    "another name": "import deep as d; value = d.value()",
    "from": "from deep import value as get; value = get()",
    "star": "from deep import *; value = K",
    "constant": "from deep import K as value",
    "flag or type checking": """
        from typing import TYPE_CHECKING
        if True or TYPE_CHECKING:
            import deep
        value = deep.K""",
    "not type checking": """
        from typing import TYPE_CHECKING
        if not TYPE_CHECKING:
            import deep
        value = deep.K""",
    "optional": """
        try:
            import deep
        except ImportError:
            deep = None
        value = deep.K""",
    "import_module": "import importlib; value = importlib.import_module('deep').K",
    "computed name": "import importlib; value = importlib.import_module('de' + 'ep').K",
    "renamed": "from importlib import import_module as load; value = load('deep').K",
    "builtin": "value = __import__('deep').K",
    "builtin, computed": "value = __import__(''.join(['de', 'ep'])).K",
    "resolve_name": "import pkgutil; value = pkgutil.resolve_name('deep:value')()",
    "entry point": """
        from importlib.metadata import EntryPoint
        value = EntryPoint('v', 'deep:value', 'g').load()()""",
    "spec": """
        import importlib.util as u
        s = u.find_spec('deep'); m = u.module_from_spec(s); s.loader.exec_module(m)
        value = m.K""",
    "spec of a file": """
        import importlib.util as u
        s = u.spec_from_file_location('other', 'deep.py'); m = u.module_from_spec(s)
        s.loader.exec_module(m); value = m.K""",
    "loader": """
        from importlib.machinery import SourceFileLoader
        import types
        loader = SourceFileLoader('other', 'deep.py'); m = types.ModuleType('other')
        loader.exec_module(m); value = m.K""",
    "lazy loader": """
        import importlib.util as u, sys
        s = u.find_spec('deep'); s.loader = u.LazyLoader(s.loader); m = u.module_from_spec(s)
        sys.modules['deep'] = m; s.loader.exec_module(m); value = m.K""",
    "exec of a text": "exec('from deep import value'); value = value()",
    "eval of a text": "value = eval('__import__(\"deep\").value')()",
    "hidden exec": """
        import builtins
        g = {}; getattr(builtins, 'ex' + 'ec')(open('deep.py').read(), g); value = g['K']""",
    "compile": """
        g = {}; exec(compile(open('deep.py').read(), 'deep.py', 'exec'), g); value = g['K']""",
    "run_path": "import runpy; value = runpy.run_path('deep.py')['K']",
    "run_module": "import runpy; value = runpy.run_module('deep')['K']",
    "timeit": """
        import timeit
        g = {}
        timeit.timeit('g["v"] = value()', 'from deep import value', number=1, globals={'g': g})
        value = g['v']""",
    "pickle": "import pickle; value = pickle.loads(b'cdeep\\nvalue\\n.')()",
    "syntax tree": """
        import ast
        tree = ast.parse(open('deep.py').read()); value = tree.body[0].value.value""",
    "source": "import inspect, deep; value = int(inspect.getsource(deep).split()[2])",
    "line": "import linecache; value = int(linecache.getline('deep.py', 1).split()[2])",
    "get_data": """
        import pkgutil, deep
        value = int(deep.__loader__.get_data(deep.__file__).split()[2])""",
    "new module": """
        import types
        m = types.ModuleType('m'); exec(open('deep.py').read(), vars(m)); value = m.K""",
    "reload": "import importlib, deep; value = importlib.reload(deep).K",
    "thread": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(1) as pool:
            value = pool.submit(__import__, 'deep').result().K""",
    "find_module": """
        from importlib.machinery import PathFinder
        s = PathFinder.find_spec('deep'); g = {}
        exec(s.loader.get_code('deep'), g); value = g['K']""",
}
OF_MODULES = {
    "two away": ("import near; value = near.deep.K", {"near": "import deep\n"}),
    "of the near module": ("from near import deep; value = deep.K", {"near": "import deep\n"}),
    "in sys.modules": (
        "import sys, near; value = sys.modules['deep'].K",
        {"near": "import deep\n"},
    ),
    "replaced by a third": (
        "import near, third; value = near.get()",
        {
            "near": "def get(): return 3\n",
            "third": "import near, deep\nnear.get = deep.value\n",
        },
    ),
    "attribute of a class": (
        "import near; value = near.C.k",
        {"near": "import deep\nclass C: k = deep.K\n"},
    ),
    "decorated": (
        "import near\n@near.d\ndef value(): return 0\nvalue = value()",
        {"near": "import deep\ndef d(f): return lambda: deep.K\n"},
    ),
    "subclass hook": (
        "import near\nclass C(near.B): pass\nvalue = C.k",
        {"near": "import deep\nclass B:\n    def __init_subclass__(cls): cls.k = deep.K\n"},
    ),
    "metaclass": (
        "import near\nclass C(metaclass=near.M): pass\nvalue = C.k",
        {"near": "import deep\nclass M(type):\n    k = deep.K\n"},
    ),
    "module __getattr__": (
        "from near import anything as value",
        {"near": "import deep\ndef __getattr__(name): return deep.K\n"},
    ),
    "kept on sys": (
        "import near, sys; value = sys.kept",
        {"near": "import deep, sys\nsys.kept = deep.K\n"},
    ),
}
MOMENTS = {
    "in fit": ("import deep; self.value = deep.K", "value = self.value"),
    "in estimate": ("pass", "import deep; value = deep.K"),
    "computed, in estimate": ("pass", "value = __import__('de' + 'ep').K"),
    "exec in fit": (
        "g = {}; exec(open('deep.py').read(), g); self.value = g['K']",
        "value = self.value",
    ),
}
PACKAGED = {
    "import pkg.sub; value = pkg.sub.K": "pkg/sub.py",
    "import pkg.sub as other; value = other.K": "pkg/sub.py",
    "from pkg import sub; value = sub.K": "pkg/sub.py",
    "from pkg.sub import K as value": "pkg/sub.py",
    "from pkg import K as value": "pkg/__init__.py",
    "from pkg.inner import value; value = value()": "pkg/sub.py",
    "import importlib; value = importlib.import_module('.sub', 'pkg').K": "pkg/sub.py",
    "from pkg.listed import *; value = sub.K": "pkg/sub.py",
    "from space import part; value = part.K": "space/part.py",
    "import pkg; pkg.__path__.append('more'); from pkg.added import K as value": "more/added.py",
    "import sys; sys.path.insert(0, 'more'); from added import K as value": "more/added.py",
    "import pkgutil; value = int(pkgutil.get_data('pkg', 'sub.py').split()[2])": "pkg/sub.py",
    "import importlib.resources as r; value = int((r.files('pkg') / 'sub.py').read_text()[4])": (
        "pkg/sub.py"
    ),
}


def of_package(code, edited):
    """Return a way through the modules of a package."""
    here = {
        "pkg/__init__.py": "K = 0\n",
        "pkg/sub.py": DEEP.format(3),
        "pkg/inner.py": "from .sub import value\n",
        "pkg/listed/__init__.py": "from .. import sub\n__all__ = ['sub']\n",
        "space/part.py": "K = 0\n",
    }
    return Way(lambda n: {"own.py": at_import(code), **here, edited: DEEP.format(n)})


def of_own_text(top, value):
    """Return a way of a constant in the class's own file."""
    return Way(lambda n: {"own.py": own(top.replace("?", str(n)), estimate=f"value = {value}")})


CONSTANTS = {
    "constant": ("C = ?", "C"),
    "keyword default": ("def get(*, k=?): return k", "get()"),
    "default": ("def get(k=?): return k", "get()"),
    "dict": ("C = {'k': ?}", "C['k']"),
    "list": ("C = [?]", "C[0]"),
    "computed": ("C = ? * 1", "C"),
    "tuple unpacked": ("a, b = 1, ?", "b"),
    "in an if": ("if True:\n    C = ?", "C"),
    "closure": ("def make(k):\n    def v(): return k\n    return v\nget = make(?)", "get()"),
    "partial": (
        "import functools\ndef g(k): return k\nget = functools.partial(g, ?)",
        "get()",
    ),
    "decorator argument": (
        "def deco(k):\n    return lambda f: lambda: k\n@deco(?)\ndef get(): return 0",
        "get()",
    ),
    "object": ("class M:\n    def __init__(self, k): self.k = k\nm = M(?)", "m.k"),
    "class attribute": ("class M:\n    k = ?", "M.k"),
    "global": ("C = 0\ndef set_c():\n    global C\n    C = ?\nset_c()", "C"),
    "array": ("C = np.array([?])", "C[0]"),
    "lambda": ("get = lambda: ?", "get()"),
    "property": ("class M:\n    @property\n    def k(self): return ?", "M().k"),
    "walrus": ("if (C := ?): pass", "C"),
    "loop": ("for C in [1, ?]: pass", "C"),
    "set by setattr": ("class M: pass\nsetattr(M, 'k', ?)", "M.k"),
}

READERS: dict[str, tuple[str, str]] = {
    "open": ("k.txt", "int(open('k.txt').read())"),
    "Path": ("k.txt", "int(__import__('pathlib').Path('k.txt').read_text())"),
    "os.open": ("k.txt", "int(__import__('os').read(__import__('os').open('k.txt', 0), 9))"),
    "FileIO": ("k.txt", "int(__import__('io').FileIO('k.txt').read())"),
    "mmap": ("k.txt", "int(self.mapped('k.txt'))"),
    "fileinput": ("k.txt", "int(next(iter(__import__('fileinput').input('k.txt'))))"),
    "loadtxt": ("k.txt", "np.loadtxt('k.txt')"),
    "genfromtxt": ("k.txt", "np.genfromtxt('k.txt')"),
    "json": ("k.json", "__import__('json').load(open('k.json'))['k']"),
    "toml": ("k.toml", "__import__('tomllib').load(open('k.toml', 'rb'))['k']"),
    "ini": ("k.ini", "self.ini('k.ini')"),
    "csv": ("k.csv", "int([*__import__('csv').reader(open('k.csv'))][1][0])"),
    "pickle": ("k.pkl", "__import__('pickle').load(open('k.pkl', 'rb'))"),
    "marshal": ("k.bin", "__import__('marshal').load(open('k.bin', 'rb'))"),
    "np.load": ("k.npy", "np.load('k.npy')[0]"),
    "np.load, mapped": ("k.npy", "np.load('k.npy', mmap_mode='r')[0]"),
    "fromfile": ("k.raw", "np.fromfile('k.raw')[0]"),
    "memmap": ("k.raw", "np.memmap('k.raw', float, 'r')[0]"),
    "zip": ("k.zip", "int(__import__('zipfile').ZipFile('k.zip').read('k'))"),
    "read_csv": ("k.csv", "__import__('pandas').read_csv('k.csv').k[0]"),
    "read_csv by Arrow": ("k.csv", "__import__('pandas').read_csv('k.csv', engine='pyarrow').k[0]"),
    "read_parquet": ("k.parquet", "__import__('pandas').read_parquet('k.parquet').k[0]"),
    "read_feather": ("k.feather", "__import__('pandas').read_feather('k.feather').k[0]"),
    "read_table": ("k.parquet", "self.arrow('parquet').read_table('k.parquet')['k'][0].as_py()"),
    "ParquetFile": (
        "k.parquet",
        "self.arrow('parquet').ParquetFile('k.parquet').read()['k'][0].as_py()",
    ),
    "dataset": (
        "k.parquet",
        "self.arrow('dataset').dataset('k.parquet').to_table()['k'][0].as_py()",
    ),
    "dataset of a folder": (
        "data/k.parquet",
        "self.arrow('dataset').dataset('data').to_table()['k'][0].as_py()",
    ),
    "arrow csv": ("k.csv", "self.arrow('csv').read_csv('k.csv')['k'][0].as_py()"),
    "memory_map": ("k.txt", "int(__import__('pyarrow').memory_map('k.txt').read())"),
    "OSFile": ("k.txt", "int(__import__('pyarrow').OSFile('k.txt').read())"),
    "sqlite": (
        "k.db",
        "[*__import__('sqlite3').connect('k.db').execute('select k from t')][0][0]",
    ),
    "size": ("k.size", "__import__('os').path.getsize('k.size')"),
    "is there": ("k4.txt", "4 if __import__('os').path.exists('k4.txt') else 2"),
    "listed": ("more/k.txt", "2 * len([*__import__('pathlib').Path('more').glob('*.txt')])"),
    "listdir": ("more/k.txt", "2 * len(__import__('os').listdir('more'))"),
    "scandir": ("more/k.txt", "2 * len([*__import__('os').scandir('more')])"),
}
HELPERS = """
    def ini(self, file):
        import configparser
        read = configparser.ConfigParser(); read.read(file)
        return int(read['a']['k'])
    def mapped(self, file):
        import mmap
        with open(file, 'rb') as held:
            return mmap.mmap(held.fileno(), 0, access=mmap.ACCESS_READ).read()
    def arrow(self, name):
        import importlib
        return importlib.import_module('pyarrow.' + name)
"""


def content(name: str, number: int) -> dict[str, str | bytes]:
    """Return a file of a form with a number in it."""
    table = pa.table({"k": [number]})
    sink = pa.BufferOutputStream()
    if name.endswith("parquet"):
        pa.parquet.write_table(table, sink)
    elif name.endswith("feather"):
        pa.feather.write_feather(table, sink)
    if name == "k4.txt":
        return {name: "here"} if number == 4 else {}
    if name == "more/k.txt":
        return {name: "1"} | ({"more/other.txt": "1"} if number == 4 else {})
    if name == "k.db":
        base = sqlite3.connect(":memory:")
        base.execute("create table t (k)")
        base.execute("insert into t values (?)", [number])
        base.commit()
        return {name: base.serialize()}
    if name == "k.zip":
        import io

        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("k", str(number))
        return {name: held.getvalue()}
    if name == "k.npy":
        import io

        held = io.BytesIO()
        np.save(held, np.array([number]))
        return {name: held.getvalue()}
    known: dict[str, str | bytes] = {
        "k.txt": f"{number}\n",
        "k.json": json.dumps({"k": number}),
        "k.toml": f"k = {number}\n",
        "k.ini": f"[a]\nk = {number}\n",
        "k.csv": f"k\n{number}\n",
        "k.pkl": pickle.dumps(number),
        "k.bin": marshal.dumps(number),
        "k.raw": np.array([float(number)]).tobytes(),
        "k.size": "x" * number,
    }
    return {name: known[name] if name in known else sink.getvalue().to_pybytes()}


def of_file(name, expression, moment):
    """Return a way in which a class reads a file at one of its moments."""
    if moment == "import":
        top = f"class H:{HELPERS}\nvalue = {expression.replace('self.', 'H().')}"
        text = at_import(top)
    elif moment == "fit":
        text = own(fit=f"self.value = {expression}") + HELPERS
    else:
        text = own(estimate=f"value = {expression}") + HELPERS
    return Way(lambda n: {"own.py": text, **content(name, n)})


VARIABLES = {
    "item": "os.environ['OWN_K']",
    "get": "os.environ.get('OWN_K')",
    "getenv": "os.getenv('OWN_K')",
    "bytes": "os.environb[b'OWN_K']",
    "contains": "4 if 'OWN_FOUR' in os.environ else 2",
    "expandvars": "os.path.expandvars('$OWN_K')",
    "copy": "os.environ.copy()['OWN_K']",
    "items": "dict(os.environ.items())['OWN_K']",
    "counted": "2 * len([name for name in os.environ if name.startswith('OWN_')])",
    "setdefault": "os.environ.setdefault('OWN_K', '3')",
}


def of_variable(expression):
    """Return a way of a variable of the environment."""

    def environment(number):
        return {"OWN_K": str(number)} | ({"OWN_FOUR": "1"} if number == 4 else {})

    text = at_import(f"import os\nvalue = {expression}")
    return Way(lambda n: {"own.py": text}, environment=environment)


LOOPS = {
    "global of another module": """
        import numba, deep
        K = deep.K
        @numba.njit(cache=True)
        def get(): return K
        value = get()""",
    "function of another module": """
        import numba, deep
        f = numba.njit(deep.value)
        @numba.njit(cache=True)
        def get(): return f()
        value = get()""",
    "vectorised": """
        import numba, deep
        K = deep.K
        @numba.vectorize(['f8(f8)'], cache=True)
        def get(x): return x + K
        value = get(0.0)""",
}


def zipped(number):
    """Return an archive with the module `deep`."""
    import io

    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("deep.py", DEEP.format(number))
    return held.getvalue()


OTHERS = {
    "zipimport": Way(
        lambda n: {
            "own.py": at_import(
                "import zipimport\nvalue = zipimport.zipimporter('a.zip').load_module('deep').K"
            ),
            "a.zip": zipped(n),
        }
    ),
    "archive on the path": Way(
        lambda n: {
            "own.py": at_import(
                "import sys\nsys.path.append('a.zip')\nfrom deep import K as value"
            ),
            "a.zip": zipped(n),
        }
    ),
    "module that appears": Way(
        lambda n: {
            "own.py": at_import("try:\n    import late; value = 4\nexcept ImportError: value = 2"),
            **({"late.py": ""} if n == 4 else {}),
        }
    ),
    "submodule that appears": Way(
        lambda n: {
            "own.py": at_import(
                "try:\n    import pkg.late; value = 4\nexcept ImportError: value = 2"
            ),
            "pkg/__init__.py": "",
            **({"pkg/late.py": ""} if n == 4 else {}),
        }
    ),
    "package before a module": Way(
        lambda n: {
            "own.py": at_import("from deep import K as value"),
            "deep.py": DEEP.format(2),
            **({"deep/__init__.py": DEEP.format(4)} if n == 4 else {}),
        }
    ),
    "file that the class keeps": Way(
        lambda n: {
            "own.py": at_import(
                """
                import os
                if not os.path.exists('kept.txt'):
                    open('kept.txt', 'w').write(open('k.txt').read())
                value = int(open('k.txt').read())"""
            ),
            "k.txt": str(n),
        }
    ),
    "plug-in file that replaces a function": Way(
        lambda n: {
            "own.py": own("def get(): return 3", estimate="value = get()"),
            "patcher.py": f"import own\nown.get = lambda: {n}\n",
        },
        config={"plugins": ["patcher.py"]},
    ),
    "plug-in file that replaces a built-in method": Way(
        lambda n: {
            "own.py": own("import surprise", estimate="value = surprise.SVD.held"),
            "patcher.py": f"import surprise\nsurprise.SVD.held = {n}\n",
        },
        config={"plugins": ["patcher.py"]},
    ),
    "link": Way(
        lambda n: {
            "own.py": at_import("value = int(open('link.txt').read())"),
            f"k{n}.txt": str(n),
        },
        link="k?.txt",
    ),
}
UNRECORDED = {
    "subprocess": """
        import subprocess, sys
        command = [sys.executable, '-c', 'import deep; print(deep.K)']
        value = float(subprocess.run(command, capture_output=True, text=True).stdout)""",
    "os.popen": """
        import os, sys
        value = float(os.popen(sys.executable + ' -c "import deep; print(deep.K)"').read())""",
    "os.system": """
        import os, sys
        code = "import deep; open('out.txt', 'w').write(str(deep.K))"
        os.system(f'{sys.executable} -c "{code}"')
        value = float(open('out.txt').read())""",
    "fork": """
        import multiprocessing as m
        def put(q): q.put(__import__('deep').K)
        m = m.get_context('fork')
        q = m.SimpleQueue()
        p = m.Process(target=put, args=(q,)); p.start(); value = q.get(); p.join()""",
    "compiled code": "import ctypes, deep\nctypes.CDLL(None)\nvalue = deep.K",
}

PARTS_OF_LIBRARIES = {
    # Where a library is installed, it stands before these.
    "cffi.py": """
        class FFI:
            class CData: pass
            def typeof(self, value):
                raise TypeError""",
    "_cffi_backend.py": "",
    "polars.py": "",
    "h5py.py": "",
    # Of a package that this one needs.
    "pooch-99.dist-info/METADATA": "Name: Pooch\nVersion: 99\n",
    "pooch-99.dist-info/RECORD": "needed.py,,\nfaster.py,,\npooch-99.dist-info/METADATA,,\n",
    "faster.py": "import sound",
    "needed.py": """
        import polars
        def read():
            import h5py""",
    # Of others.
    "others-1.dist-info/METADATA": "Name: others\nVersion: 1\n",
    "others-1.dist-info/RECORD": "sound.py,,\nothers-1.dist-info/METADATA,,\n",
    "sound.py": """
        import _cffi_backend
        def call(function): return function()
        def load():
            import polars""",
}
"""Files of ``site-packages``: libraries that open files unseen, and packages that import them."""


def of_library(code):
    """Return a way in which `deep` is read beside imports of libraries that open files unseen."""
    first = "import deep, os, sys; sys.path.append(os.path.abspath('site-packages'))"

    def files(number):
        parts = {
            f"site-packages/{name}": textwrap.dedent(text)
            for name, text in PARTS_OF_LIBRARIES.items()
        }
        own_files = {"own.py": at_import(f"{first}\n{textwrap.dedent(code)}\nvalue = deep.K")}
        return own_files | {"deep.py": DEEP.format(number)} | parts

    return Way(files)


TYPE = """
import numba
try: numba.typeof(len)
except ValueError: pass
"""
CFFI, POLARS, HDF5 = (f"{name} can open files unseen" for name in ("cffi", "polars", "h5py"))
LIBRARIES = {
    # By a name, the code, and which libraries it has to declare.
    "a loop": ("import numba; numba.njit(lambda n: n + 1)(1)", []),
    "a type": (TYPE, []),
    "a function that SciPy calls": (
        "import ctypes as c, scipy; f = c.CFUNCTYPE(c.c_double, c.c_double)(lambda x: x)\n"
        "scipy.LowLevelCallable(f)",
        [],
    ),
    "a package that is needed": ("import needed", []),
    "asked for and not imported": ("import importlib.util as u; u.find_spec('polars')", []),
    "own import": ("import cffi", [CFFI]),
    "own import after a type": (f"{TYPE}import cffi", [CFFI]),
    "own import before a type": (f"import cffi{TYPE}", [CFFI]),
    "a name of it after a type": (f"{TYPE}from cffi import FFI", [CFFI]),
    "a computed name after a type": (
        f"{TYPE}import importlib; importlib.import_module('cf' + 'fi')",
        [CFFI],
    ),
    "own import after a package": ("import needed, polars", [POLARS]),
    "own function, called by others": (
        "import sound, needed\ndef own(): import polars\nsound.call(own)",
        [CFFI, POLARS],
    ),
    "another package": ("import sound", [CFFI]),
    "another package after a type": (f"{TYPE}import sound", [CFFI]),
    "another package after one that is needed": ("import needed, sound", [CFFI]),
    "another package that one that is needed imports": ("import faster", [CFFI]),
    "a function of another package": ("import needed, sound; sound.load()", [CFFI, POLARS]),
    "a function of a package that is needed": ("import needed; needed.read()", [HDF5]),
    "a thread": (
        "import importlib, threading\n"
        "t = threading.Thread(target=importlib.import_module, args=('polars',))\n"
        "t.start(); t.join()",
        [POLARS],
    ),
}
WAYS: dict[str, Way] = {
    **{f"code: {name}": of_code(code) for name, code in IMPORTS.items()},
    **{f"modules: {name}": of_code(code, **more) for name, (code, more) in OF_MODULES.items()},
    **{
        f"moment: {name}": Way(
            lambda n, fit=fit, estimate=estimate: {
                "own.py": own(fit=fit, estimate=estimate),
                "deep.py": DEEP.format(n),
            }
        )
        for name, (fit, estimate) in MOMENTS.items()
    },
    **{f"package: {code}": of_package(code, edited) for code, edited in PACKAGED.items()},
    **{f"own text: {name}": of_own_text(*parts) for name, parts in CONSTANTS.items()},
    **{
        f"file at {moment}: {name}": of_file(*parts, moment)
        for moment in ("import", "fit", "estimate")
        for name, parts in READERS.items()
    },
    **{f"variable: {name}": of_variable(expression) for name, expression in VARIABLES.items()},
    **{f"loop: {name}": of_code(code) for name, code in LOOPS.items()},
    **OTHERS,
    **{f"not recorded: {name}": of_code(code) for name, code in UNRECORDED.items()},
}
if os.name == "nt":
    WAYS.pop("not recorded: fork")
__all__ = [
    "CONSTANTS",
    "DEEP",
    "LIBRARIES",
    "UNRECORDED",
    "WAYS",
    "Way",
    "at_import",
    "of_library",
    "own",
    "pd",
]
