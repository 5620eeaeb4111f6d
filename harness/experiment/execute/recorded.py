"""Records what your own code reads, in the process that runs nothing else.

An audit hook sees files that are opened, folders that are listed, and what cannot be recorded:
other programs, the network, compiled libraries. Your own sources are compiled from the bytes that
are hashed, and neither Python's nor Numba's kept code of them is used.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import os
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import harness
from harness.algorithms import distributions
from harness.plugins.registry import PACKAGE as PACKAGE_NAME
from harness.results.reads import (
    ABSENT,
    ALL_VARIABLES,
    Reads,
    content_digest,
    is_stable,
    listing_digest,
    origin_of_spec,
    package_digest,
    variable_digest,
)
from harness.results.store import CellStore

PACKAGE = str(Path(harness.__file__).parent) + os.sep
SYSTEM = (
    *("/proc/", "/sys/", "/etc/localtime", "/usr/share/zoneinfo/"),
    *(f"/dev/{name}" for name in ("null", "zero", "random", "urandom", "tty", "std", "fd")),
)
"""What changes by itself, or is the same for all programs of a machine."""
SYSTEM_LIBRARIES = ("/lib", "/usr", "/System", "/opt/homebrew", "C:\\Windows")
"""Folders of the libraries of the system."""
MACHINE_PROGRAMS = {"lscpu", "uname", "sysctl", "ldconfig", "gcc", "cc", "ld", "objdump"}
"""Programs by which Python's library and others learn what a machine is."""
COMPILED_READERS = {
    *("h5py", "tables", "netCDF4", "polars", "duckdb", "vaex", "zarr", "lmdb", "rocksdb"),
    *("lightgbm", "xgboost", "catboost", "faiss", "annoy", "hnswlib", "onnxruntime", "fasttext"),
    *("tensorflow", "safetensors", "nmslib", "sentencepiece", "cv2", "igraph", "pyreadstat"),
    *("cffi", "_cffi_backend", "_gdbm", "_dbm"),
}
"""Libraries whose compiled code opens files by itself, without an event."""
CALCULATORS = {"numba", "numpy", "scipy"}
"""Libraries that import others to know the types of their values, and open no file with them."""
STARTING = {
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
    *("os.forkpty", "pty.spawn", "os.startfile"),
}
NETWORK = {
    *("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"),
    *("socket.sendmsg", "socket.bind", "urllib.Request"),
}
COMPILED_FUNCTIONS = {
    "pyarrow": ("OSFile", "memory_map", "input_stream"),
    "pyarrow.parquet": ("read_table", "read_pandas", "read_schema", "read_metadata"),
    "pyarrow.parquet.core": ("read_table", "read_pandas", "read_schema", "read_metadata"),
    "pyarrow.dataset": ("dataset", "parquet_dataset"),
    "pyarrow.csv": ("read_csv", "open_csv"),
    "pyarrow.json": ("read_json", "open_json"),
    "pyarrow.feather": ("read_table", "read_feather"),
    "pyarrow.orc": ("read_table",),
    "scipy.io._fast_matrix_market": ("mmread", "mminfo"),
    "scipy.io": ("mmread", "mminfo"),
}
"""Functions that open files in C++, by module."""
COMPILED_CLASSES = {
    "pyarrow.parquet": ("ParquetFile", "ParquetDataset"),
    "pyarrow.parquet.core": ("ParquetFile", "ParquetDataset"),
    "pyarrow.orc": ("ORCFile",),
}


class Recorder:
    """What this process has read since it began to record."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.folders: dict[str, str] = {}
        self.environment: dict[str, str] = {}
        self.modules: dict[str, str] = {}
        self.reasons: dict[str, None] = {}
        self.undeclared: dict[str, None] = {}
        self.written: set[str] = set()
        """Files and folders that the code itself made, which it may read again."""
        self.set_variables: set[str] = set()
        self.path = [*sys.path]
        self.folder = os.getcwd()  # noqa: PTH109 - compared as text
        self._states: dict[str, tuple[int, ...]] = {}
        self._packages: tuple[int, dict[str, str]] = (0, {})
        self._quiet = threading.local()

    def reads(self) -> Reads:
        """Return what was read until now."""
        with self.quiet():
            if self._packages[0] != len(sys.modules):
                self._packages = len(sys.modules), _packages()
            for path, state in self._states.items():
                changed = _state_of(path) != state and content_digest(path) != self.files[path]
                if changed and not self._is_written(path):
                    self.reasons[f"{Path(path).name} changed while it was read"] = None
            return Reads(
                python=sys.version,
                folder=self.folder,
                files=self.files,
                folders=self.folders,
                environment=self.environment,
                modules=self.modules,
                packages=self._packages[1],
                reasons=sorted(self.reasons),
                undeclared=sorted(self.undeclared),
            )

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Leave out what this package itself reads in this thread."""
        before, self._quiet.on = getattr(self._quiet, "on", False), True
        try:
            yield
        finally:
            self._quiet.on = before

    def begin(self) -> None:
        """Begin to record; it cannot end."""
        _cells_place()  # which imports what finds it
        sys.addaudithook(self._hear)
        sys.meta_path.insert(0, _Finder(self))
        self._compile_from_what_is_hashed()
        self._look_at_states()
        for environment in (os.environ, getattr(os, "environb", None)):
            if environment is not None:
                environment.__class__ = _recording(type(environment), self)
        self._see_forks()
        for name in [*sys.modules]:
            self.wrap(name)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        """Be told of an event, by Python itself."""
        heard = _EVENTS.get(event)
        if heard is None or getattr(self._quiet, "on", False):
            return
        with self.quiet():
            try:
                heard(self, event, args)
            except Exception as error:  # which would end what raised the event
                self.reasons[f"{event} could not be recorded ({error})"] = None

    def opened(self, event: str, args: tuple[Any, ...]) -> None:
        """Record a file that is opened."""
        path, flags = args[0], args[2] or 0
        if isinstance(path, int) or path is None or _is_of_this_package():
            return
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        name = _absolute(path)
        if writes and flags & (os.O_TRUNC | os.O_EXCL):
            if name not in self.files:
                self.written.add(name)
            return
        if flags & os.O_WRONLY:  # such as a log that it appends to: nothing can be read from it
            return
        if not (writes and Path(name).is_dir()):
            self.file(name)

    def file(self, name: str, *, digest: str | None = None) -> None:
        """Record a path by its contents, if it decides anything."""
        if self._is_written(name) or (name in self.files and digest is None):
            return
        if _is_ignored(name):
            return
        state = _state_of(name)
        found = content_digest(name) if digest is None else digest
        if self.files.setdefault(name, found) != found:
            self.reasons[f"{Path(name).name} changed while it was read"] = None
        elif state and digest is None:
            self._states[name] = state

    def _is_written(self, name: str) -> bool:
        return bool(self.written) and any(
            part in self.written for part in (name, *map(str, Path(name).parents))
        )

    def made(self, event: str, args: tuple[Any, ...]) -> None:
        """Record a folder that the code makes."""
        name = _absolute(args[0])
        if name not in self.files and not Path(name).exists():
            self.written.add(name)

    def renamed(self, event: str, args: tuple[Any, ...]) -> None:
        """Record that what the code wrote has another name."""
        before, after = _absolute(args[0]), _absolute(args[1])
        if self._is_written(before) and after not in self.files:
            self.written.add(after)

    def listed(self, event: str, args: tuple[Any, ...]) -> None:
        """Record a folder whose names are listed, unless a module or a package is looked for."""
        if isinstance(args[0], int) or _is_of_this_package():
            return
        if "importlib" in next(_frames(), ""):
            return
        name = _absolute(args[0] or ".")
        if not (self._is_written(name) or _is_ignored(name)):
            self.folders.setdefault(name, listing_digest(name))

    def started(self, event: str, args: tuple[Any, ...]) -> None:
        """Record that another program is started."""
        program = args[0] if args and isinstance(args[0], str | bytes | os.PathLike) else ""
        name = Path(os.fsdecode(program)).name
        if name not in MACHINE_PROGRAMS and not _is_of_this_package():
            self.reasons[f"it starts another process ({event}{': ' * bool(name)}{name})"] = None

    def connected(self, event: str, args: tuple[Any, ...]) -> None:
        """Record that the network is used."""
        if not _is_of_this_package():
            self.reasons["it uses the network"] = None

    def loaded(self, event: str, args: tuple[Any, ...]) -> None:
        """Record a compiled library that is loaded."""
        library = args[0]
        if library is None or not os.fsdecode(library):
            if _is_own(_caller()):
                self.reasons["it calls compiled code of its process (ctypes)"] = None
            return
        name = os.fsdecode(library)
        if os.sep not in name:
            if os.environ._data.get(os.environ.encodekey("LD_LIBRARY_PATH")):  # type: ignore[attr-defined]
                self.reasons[f"it loads a compiled library ({name})"] = None
            return
        if _is_own(_absolute(name)) and not name.startswith(SYSTEM_LIBRARIES):
            self.file(_absolute(name))
            self.reasons[f"it loads a compiled library ({Path(name).name})"] = None

    def imported(self, event: str, args: tuple[Any, ...]) -> None:
        """Record a compiled module that is loaded from a file."""
        name, file = args[0], args[1]
        if file is not None and _is_own(_absolute(file)):
            self.file(_absolute(file))
            self.reasons[f"{name} is a compiled extension"] = None

    def database(self, event: str, args: tuple[Any, ...]) -> None:
        """Record a database, which SQLite opens without an event of a file."""
        name = os.fsdecode(args[0])
        if name and name != ":memory:" and not _is_of_this_package():
            path = name.removeprefix("file:").partition("?")[0]
            for part in (path, f"{path}-wal"):
                self.file(_absolute(part))

    def looked_for(self, name: str, folders: Any, spec: Any) -> None:
        """Record where a module was found, and where it could have been."""
        origin = ABSENT if spec is None else origin_of_spec(spec)
        if folders is None and self._is_on_path(origin):
            self.modules.setdefault(name, origin)
            return
        folders = sys.path if folders is None else folders
        tail = name.rpartition(".")[2]
        for folder in map(str, folders):
            if not _is_own(os.path.join(folder, "x")):  # noqa: PTH118 - text, for each module
                continue
            for ending in (f"{os.sep}__init__", ""):
                for suffix in importlib.machinery.all_suffixes():
                    path = _absolute(os.path.join(folder, f"{tail}{ending}{suffix}"))  # noqa: PTH118
                    if path == _absolute(origin):
                        return
                    self.file(path)

    def used(self, library: str) -> None:
        """Record that a library is imported that can open files unseen, if that can decide."""
        if not getattr(self._quiet, "on", False):
            with self.quiet():
                if not _is_support():
                    name = library.removeprefix("_").removesuffix("_backend")
                    self.undeclared[f"{name} can open files unseen"] = None

    def _is_on_path(self, origin: str) -> bool:
        """Return whether others find a module there too: the code itself has not added to it."""
        added = [folder for folder in sys.path if folder not in self.path]
        return not _absolute(origin).startswith(
            tuple(_absolute(folder) + os.sep for folder in added)
        )

    def variable(self, name: str) -> None:
        """Record a variable of the environment that was asked for."""
        known = name in self.environment or name in self.set_variables
        if known or (name != ALL_VARIABLES and not is_stable(name)):
            return
        if getattr(self._quiet, "on", False) or _is_of_this_package():
            return
        if f"{os.sep}numba{os.sep}" in _caller() and not name.startswith("NUMBA_"):
            return  # which looks through all for its own
        with self.quiet():
            self.environment[name] = variable_digest(name)

    def _compile_from_what_is_hashed(self) -> None:
        kind: Any = importlib._bootstrap_external.SourceLoader
        original = kind.get_code

        def get_code(loader: Any, fullname: str) -> CodeType | None:
            path = loader.get_filename(fullname)
            if not _is_own(_absolute(path)):
                code: CodeType | None = original(loader, fullname)
                return code
            with self.quiet():
                data = loader.get_data(path)
                self.file(_absolute(path), digest=hashlib.sha256(data).hexdigest())
            compiled: CodeType = loader.source_to_code(data, path)
            return compiled

        kind.get_code = get_code

    def _look_at_states(self) -> None:
        supported = (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks)
        for name in ("stat", "lstat", "access"):  # which raise no event
            function = getattr(os, name)
            looking = self._looking(function)
            setattr(os, name, looking)
            for functions in supported:
                functions |= {looking} if function in functions else set()

    def _looking(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def look(*args: Any, **options: Any) -> Any:
            path = args[0] if args else options.get("path")
            if isinstance(path, str | bytes | os.PathLike) and not getattr(self._quiet, "on", 0):
                with self.quiet():
                    if not _is_of_this_package() and "importlib" not in next(_frames(), ""):
                        self.file(_absolute(path))
            return function(*args, **options)

        return look

    def _see_forks(self) -> None:
        try:
            import _posixsubprocess
        except ImportError:  # on Windows
            return
        original = _posixsubprocess.fork_exec

        @wraps(original)
        def fork_exec(*args: Any) -> Any:
            with self.quiet():
                self.started("process", ())
            return original(*args)

        _posixsubprocess.fork_exec = fork_exec  # what `multiprocessing` calls, without an event

    def wrap(self, module: str) -> None:
        """Record the files that functions of a module open in compiled code, or who imports it."""
        loaded, library = sys.modules.get(module), module.partition(".")[0]
        if library in COMPILED_READERS and isinstance(loaded, ModuleType):
            loaded.__class__ = _telling(type(loaded), self, library)
        for name in COMPILED_FUNCTIONS.get(module, ()):
            function = getattr(loaded, name, None)
            if function is not None and not hasattr(function, "records_reads"):
                setattr(loaded, name, self._reading(function))
        for name in COMPILED_CLASSES.get(module, ()):
            kind = getattr(loaded, name, None)
            if kind is not None and not hasattr(kind.__init__, "records_reads"):
                kind.__init__ = self._reading(kind.__init__)
        if module == "numba.core.caching":
            _keep_no_machine_code(loaded)

    def _reading(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def read(*args: Any, **options: Any) -> Any:
            with self.quiet():
                for value in (*args, *options.values()):
                    for path in value if isinstance(value, list | tuple) else [value]:
                        if isinstance(path, str | os.PathLike):
                            self._below(_absolute(path))
            return function(*args, **options)

        vars(read)["records_reads"] = True
        return read

    def _below(self, path: str) -> None:
        """Record a file, or a folder with all that is in it."""
        self.file(path)
        if not _is_ignored(path):
            for folder, _, names in os.walk(path):
                self.folders.setdefault(folder, listing_digest(folder))
                for name in names:
                    self.file(os.path.join(folder, name))  # noqa: PTH118


_EVENTS: dict[str, Callable[[Recorder, str, tuple[Any, ...]], None]] = {
    "open": Recorder.opened,
    "os.mkdir": Recorder.made,
    "os.rename": Recorder.renamed,
    "os.listdir": Recorder.listed,
    "os.scandir": Recorder.listed,
    "ctypes.dlopen": Recorder.loaded,
    "import": Recorder.imported,
    "sqlite3.connect": Recorder.database,
    **dict.fromkeys(STARTING, Recorder.started),
    **dict.fromkeys(NETWORK, Recorder.connected),
}


class _Finder:
    """Stands before the finders of modules, and records what they find."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return what the other finders find."""
        spec = None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
        with self.recorder.quiet():
            if not _is_of_this_package():
                self.recorder.looked_for(name, path, spec)
        library = name.partition(".")[0]
        is_reader = library in COMPILED_READERS
        wrapped = {*COMPILED_FUNCTIONS, *COMPILED_CLASSES, "numba.core.caching"}
        if spec is None or spec.loader is None or not (is_reader or name in wrapped):
            return spec
        if isinstance(spec.loader, type):  # built into Python
            self.recorder.used(library)
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            if is_reader:
                self.recorder.used(library)
            execute(module)
            self.recorder.wrap(name)

        vars(spec.loader)["exec_module"] = exec_module
        return spec


def _recording(kind: type, recorder: Recorder) -> type:
    """Return a class of the environment that records which variables are asked for."""

    class Environment(kind):  # type: ignore[misc]
        def __getitem__(self, key: Any) -> Any:
            recorder.variable(os.fsdecode(key))
            return super().__getitem__(key)

        def __iter__(self) -> Any:
            recorder.variable(ALL_VARIABLES)
            return super().__iter__()

        def __setitem__(self, key: Any, value: Any) -> None:
            recorder.set_variables.add(os.fsdecode(key))
            super().__setitem__(key, value)

        def __delitem__(self, key: Any) -> None:
            recorder.set_variables.add(os.fsdecode(key))
            super().__delitem__(key)

    return Environment


def _telling(kind: type, recorder: Recorder, library: str) -> type:
    """Return a class of a module that tells when it is imported again, which no finder hears."""

    class Module(kind):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            if name == "__spec__":  # which every import of a loaded module looks at
                recorder.used(library)
            return super().__getattribute__(name)

    return Module


def _keep_no_machine_code(caching: Any) -> None:
    """Let Numba compile your own functions in each process: it does not look at what they call."""
    kept = caching.Cache

    def is_own(cache: Any) -> bool:
        return _is_own(_absolute(cache._py_func.__code__.co_filename))

    def load(self: Any, *args: Any, original: Any = kept.load_overload) -> Any:
        return None if is_own(self) else original(self, *args)

    def save(self: Any, *args: Any, original: Any = kept.save_overload) -> Any:
        return None if is_own(self) else original(self, *args)

    kept.load_overload, kept.save_overload = load, save


def _absolute(path: Any) -> str:
    """Return a path from the root, otherwise as it was written: ``..`` may follow a link."""
    return os.path.join(os.getcwd(), os.fsdecode(path))  # noqa: PTH109, PTH118


def _state_of(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@cache
def _standard_folders() -> tuple[str, ...]:
    paths = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")}
    return tuple({str(form) + os.sep for p in paths for form in (Path(p), Path(p).resolve())})


@cache
def _is_own(path: str) -> bool:
    """Return whether a file is neither of this package, nor of Python, nor installed."""
    if path.startswith(PACKAGE) or path.startswith("<"):
        return path == "<string>"
    return not _is_standard(path) and not distributions.are_installed(path)


def _is_standard(path: str) -> bool:
    if path.startswith("<frozen"):
        return True
    return path.startswith(_standard_folders()) and not distributions.is_installed(Path(path))


@cache
def _cells_place() -> str:
    return str(CellStore.default().folder.absolute())


@cache
def _is_ignored(path: str) -> bool:
    """Return whether a file decides nothing, or is known by the version of its package."""
    normal = os.path.normpath(path)
    if normal.startswith(SYSTEM) or normal.endswith((".nbi", ".nbc")):
        return True
    places = (_cells_place(), PACKAGE.rstrip(os.sep))
    if normal.startswith(tuple(place + os.sep for place in places)) or normal in places:
        return True
    return _is_standard(normal) or distributions.are_installed(normal)


def _frames() -> Iterator[str]:
    """Yield the files of the code that runs, the innermost first; not the outermost."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_back is not None:
        if frame.f_code.co_filename != __file__:
            yield frame.f_code.co_filename
        frame = frame.f_back


def _caller() -> str:
    """Return the file of the innermost code that is not of Python's standard library."""
    return next((file for file in _frames() if not _is_standard(file)), "")


def _is_of_this_package() -> bool:
    """Return whether this package reads something for itself, and not for your own code."""
    is_ours = False
    for file in _frames():
        if file.startswith(PACKAGE):
            is_ours = True
        elif _is_own(file) or not (is_ours or _is_standard(file)):
            return False
    return is_ours


def _is_support() -> bool:
    """Return whether a library is imported only because it is installed: nobody reads with it.

    That is so if Numba or SciPy import it, or a module of another package that this one needs while
    it is loaded. What a function imports, such as a reader of pandas, is for who calls it.
    """
    frame: Any = sys._getframe(1)
    is_ours = False
    while frame is not None and frame.f_back is not None:
        file, name = frame.f_code.co_filename, str(frame.f_globals.get("__name__", ""))
        library, is_body = name.partition(".")[0], frame.f_code.co_name == "<module>"
        frame = frame.f_back
        if file.startswith(PACKAGE):
            is_ours |= file != __file__
        elif library not in COMPILED_READERS and not _is_standard(file):
            if _is_own(file):
                return False
            owners = distributions.owners(name, file)
            names = {distributions.normalized(each.metadata["Name"]) for each in owners}
            is_needed = not names.isdisjoint(distributions.needed(PACKAGE_NAME))
            if library in CALCULATORS or not is_needed or is_body:
                return library in CALCULATORS or is_needed
    return is_ours


def _packages() -> dict[str, str]:
    """Return a digest of each installed package of which a module is loaded."""
    found: dict[str, str] = {}
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if "." in name or not isinstance(file, str) or name == "harness":
            continue
        for installed in distributions.owners(name, file):
            key = distributions.normalized(installed.metadata["Name"])
            found[key] = package_digest(installed)
    return found
