"""Compiled loops, and the threads that share them.

A loop is compiled on its first call, and kept on disk; Numba is imported then and not before, so
that what reads a config or prints help does not wait for it. Loops release the GIL: plain threads
share the arrays and nothing is copied. A block of a range writes only its own part of the output,
so a result does not depend on the number of threads.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property, partial, update_wrapper
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from threading import RLock
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import psutil
from harness.errors import CapacityError

F = TypeVar("F", bound=Callable[..., Any])
Offsets = NDArray[np.int64]

LONGEST = 4
"""Digits of a number of threads."""
NEEDED = 1024 << 20
"""Bytes of address space that Numba, LLVM and linear algebra take when they are loaded."""

ALLOCATING = {"array", "copy", "empty", "empty_like", "full", "ones", "zeros", "zeros_like"}
"""What makes an array in a kernel. Only these kernels count references to arrays."""

_making = RLock()


class Kernel:
    """A function that Numba compiles on its first call, without the GIL, in strict IEEE arithmetic.

    NumPy's functions, `min` and `max` are compiled with the kernel that calls them. A kernel that
    takes its scratch arrays and copies element by element is compiled several times faster.
    """

    def __init__(self, function: Callable[..., Any], **options: object) -> None:
        self.py_func = function
        self.compiled_from = {function}
        allocates = not ALLOCATING.isdisjoint(function.__code__.co_names)
        self._options = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": allocates} | options
        update_wrapper(self, function)

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's own object; imports Numba, but compiles nothing yet."""
        with _making:  # threads whose first call it is share one
            return vars(self).get("dispatcher") or self._make()

    def _make(self) -> Any:
        # Numba cannot be imported with another value. No loop here runs on Numba's own threads.
        if not _positive(os.environ.get("NUMBA_NUM_THREADS", "1")):
            del os.environ["NUMBA_NUM_THREADS"]
        _refuse_too_little_memory()
        import numba

        options = self._options
        if CHECKED[0] <= _minor(numba.__version__) <= CHECKED[1]:
            options = {"pipeline_class": _compiler()} | options
        try:
            dispatcher = numba.njit(cache=True, **options)(self.py_func)
        except RuntimeError:  # no folder to cache in
            dispatcher = numba.njit(**options)(self.py_func)
        if hasattr(dispatcher, "compile"):  # none where NUMBA_DISABLE_JIT is set
            dispatcher.compile = partial(_compile, dispatcher.compile)
        cache: Any = getattr(dispatcher, "_cache", None)
        file = getattr(cache, "_cache_file", None)
        if file is not None:
            file._source_stamp = file._source_stamp, stamp_of(self.py_func)
            cache.load_overload = partial(_load, cache)
        try:
            _ = file and file._load_index()
        except Exception:  # kept by a version of this package with types that are gone
            cache.flush()
        return dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks for where another kernel calls this one."""
        return self.dispatcher._numba_type_

    def __call__(self, *args: Any) -> Any:
        """Run the compiled function; compile it if there is none for these types."""
        return self.dispatcher(*args)


def stamp_of(function: Callable[..., Any]) -> str:
    """Return a hash of what is compiled into a function beside the source file that it is in.

    Numba keeps machine code until that file changes, and does not look at what a kernel calls.
    """
    files: set[str] = set()
    numbers: dict[str, bytes] = {}
    waiting, known = [function], {function}
    while waiting:
        code, values = waiting[-1].__code__, waiting.pop().__globals__
        files.add(code.co_filename)
        for name in code.co_names:
            value = values.get(name)
            if isinstance(value, int | float | np.generic | np.ndarray):
                numbers[f"{code.co_filename} {name}"] = np.asarray(value).tobytes()
            called = {value} if isinstance(value, FunctionType) else set()
            called |= getattr(value, "compiled_from", set())
            waiting += called - known
            known |= called
    stamp = sha256(repr(sorted(numbers.items())).encode())
    for file in sorted(files):
        stamp.update(_hash_of(file))
    return stamp.hexdigest()


@cache
def _hash_of(file: str) -> bytes:
    try:
        return sha256(Path(file).read_bytes()).digest()
    except OSError:  # in an archive
        return file.encode()


CHECKED = (61, 68)
"""The first and the last version 0.N of Numba with which the shorter pipeline was checked.

Its parts are not promised to stay: any other version compiles with its own pipeline.
"""
UNUSED = {
    "DeadBranchPrune",
    "DumpParforDiagnostics",
    "FindLiterallyCalls",
    "InlineClosureLikes",
    "InlineInlinables",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "NoPythonSupportedFeatureValidation",
    "NopythonRewrites",
    "RewriteSemanticConstants",
    "WithLifting",
}
"""Passes of Numba's compiler for what no kernel has: closures, literals, expressions of arrays."""


def _minor(version: str) -> int:
    """Return the N of version 0.N of Numba; 0 for another form.

    >>> _minor("0.68.1"), _minor("1.0")
    (68, 0)
    """
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    return int(minor) if major == "0" and minor.isdecimal() else 0


@cache
def _compiler() -> Any:
    """Return a compiler that makes the same machine code as Numba's own in less time.

    It has no `UNUSED` passes, and does not optimise what turns Python's arguments into numbers.
    """
    from llvmlite import ir
    from numba.core.callwrapper import PyCallWrapper
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import PassManager, register_pass
    from numba.core.lowering import Lower
    from numba.core.typed_passes import NativeLowering

    class PlainWrapper(Lower):  # type: ignore[misc]
        def create_cpython_wrapper(self, release_gil: bool = False) -> None:
            context, function = self.context, self.fndesc
            module = context.create_module("wrapper")
            kind = context.call_conv.get_function_type(function.restype, function.argtypes)
            called = ir.Function(module, kind, function.llvm_func_name)
            builder = PyCallWrapper(
                context, module, called, function, self.env, self.call_helper, release_gil
            )
            wrapper, _ = builder.build()
            wrapper.attributes.add("noinline")
            wrapper.attributes.add("optnone")
            self.library.add_ir_module(module)

    @register_pass(mutates_CFG=True, analysis_only=False)
    class LoweringOfKernels(NativeLowering):  # type: ignore[misc]
        _name = "lowering_of_kernels"

        @property
        def lowering_class(self) -> type:
            return PlainWrapper

    class KernelCompiler(CompilerBase):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state).passes
            needed = PassManager("nopython")
            for each, description in passes:
                if each.__name__ not in UNUSED:
                    own = LoweringOfKernels if each is NativeLowering else each
                    needed.add_pass(own, description)
            needed.finalize()
            return [needed]

    return KernelCompiler


def _compile(compiler: Callable[[object], Any], signature: object) -> Any:
    """Compile for some types without looking for garbage.

    Numba makes so many objects that Python would search all that is imported several times.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return compiler(signature)
    finally:
        if was_enabled:
            gc.enable()


def _load(cache: Any, signature: object, target: Any) -> Any:
    """Return what was compiled before for some types, None for nothing.

    Numba would import its implementation of Python and NumPy first, which takes longer than to
    import Numba. Only a compiler needs it, and imports it itself.
    """
    from numba.core.runtime import rtsys

    rtsys.initialize(target)
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, target)


@cache
def _refuse_too_little_memory() -> None:
    """Stop where too little is left: OpenBLAS tries again for ever to get what it is refused."""
    n_free = address_space_left()
    if n_free is not None and n_free < NEEDED:
        raise CapacityError(
            f"the limit of address space leaves {n_free / 1e6:.0f} MB, and compiled loops need "
            f"{NEEDED / 1e6:.0f} MB; raise it with `ulimit -v`"
        )


def address_space_left() -> int | None:
    """Return the bytes that a limit of address space (``ulimit -v``) leaves; None without one."""
    try:
        import resource
    except ImportError:  # not on every system
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    unlimited = limit == resource.RLIM_INFINITY
    return None if unlimited else limit - int(psutil.Process().memory_info().vms)


def kernel(function: F, **options: object) -> F:
    """Compile a function on its first call; see `Kernel`. Options are Numba's.

    >>> @kernel
    ... def total(values):
    ...     s = 0.0
    ...     for value in values:
    ...         s += value
    ...     return s
    >>> total(np.array([1.0, 2.0]))
    3.0
    """
    return Kernel(function, **options)  # type: ignore[return-value]


class Instruction:
    """A function of arrays and numbers in kernels, of which `generate` writes the code for LLVM.

    Parameters
    ----------
    function : callable
        Does the same where nothing is compiled, with the parameters of the instruction.
    generate : callable
        Writes the code, as for ``numba.extending.intrinsic``. It may neither fuse nor regroup
        products and sums.
    """

    def __init__(self, function: Callable[..., None], generate: Callable[..., None]) -> None:
        self._function, self._generate = function, generate
        self.compiled_from = {function, generate}

    def __call__(self, *values: Any) -> None:
        """Do the same where nothing is compiled."""
        self._function(*values)

    @cached_property
    def _numba_type_(self) -> Any:
        from inspect import Parameter, Signature, signature

        from numba import types
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        def typed(*kinds: Any) -> Any:
            return types.void(*kinds[1:]), self._generate

        context = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD)
        parameters = signature(self._function).parameters.values()
        vars(typed)["__signature__"] = Signature([context, *parameters])
        instruction = intrinsic(typed)
        cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(instruction)


def generate_prefetch(_: object, builder: Any, __: object, arguments: Sequence[Any]) -> None:
    """Write the code of `prefetch`."""
    from llvmlite import ir

    flag, line = ir.IntType(32), ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [line, flag, flag, flag])
    function = builder.module.declare_intrinsic("llvm.prefetch", [line], kind)
    options = flag(0), flag(3), flag(1)  # to read, into all caches, data
    builder.call(function, [builder.inttoptr(arguments[0], line), *options])


prefetch = Instruction(lambda address: None, generate_prefetch)
"""``prefetch(address)``: copy a line of memory to the core's caches."""
LINE = 64  # bytes that a core reads from memory at once
LANES = LINE // 8  # doubles in a line, and in the longest vector that an instruction works on
CACHED = 2 << 20  # bytes of its second cache: of a smaller matrix, no row is read ahead
ROWS_AHEAD = 16  # time enough to read a row from memory


@kernel
def read_ahead(matrix: NDArray[np.float64], rows: NDArray[np.int32], first: int, stop: int) -> None:
    """Start reading the rows of a matrix that a loop needs for ``rows[first:stop]``."""
    if matrix.nbytes > CACHED:
        for place in range(first, min(stop, len(rows))):
            start = matrix.ctypes.data + rows[place] * matrix.strides[0]
            for address in range(start, start + matrix.strides[0], LINE):
                prefetch(address)


def cached_rows(matrix: NDArray[Any]) -> Iterator[slice]:
    """Yield blocks of rows of which two fit into a core's second cache.

    >>> [*cached_rows(np.empty((5, CACHED // 32)))]
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    n_rows = len(matrix)
    size = max(1, CACHED // 2 // max(matrix[:1].nbytes, 1))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def make_lines(n: int, width: int) -> NDArray[np.float64]:
    """Return zeros for n rows of so many numbers, each row as whole lines of memory.

    An instruction then reads one line and not parts of two, and no loop has a rest to do one by
    one. Zeros behind the numbers stay zero in what matrix factorisation does.
    """
    shape = n, -(-width // LANES) * LANES
    room = np.zeros(8 * shape[0] * shape[1] + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    lines: NDArray[np.float64] = room[start : len(room) - LINE + start].view(np.float64)
    return lines.reshape(shape)


def in_lines(*parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a copy whose rows are whole lines of memory; parts of equal width become one.

    >>> in_lines(np.ones((1, 3)), np.ones((1, 3)))
    array([[1., 1., 1., 0., 0., 0., 0., 0.],
           [1., 1., 1., 0., 0., 0., 0., 0.]])
    """
    width = parts[0].shape[1]
    lines = make_lines(sum(map(len, parts)), width)
    np.concatenate(parts, out=lines[:, :width])
    return lines


def drawn_in_lines(
    draw: Callable[[tuple[int, int]], NDArray[np.float64]], n: int, width: int
) -> NDArray[np.float64]:
    """Return numbers in lines of memory, drawn some rows at a time, so that none exists twice."""
    lines = make_lines(n, width)
    for rows in cached_rows(lines):
        lines[rows, :width] = draw((rows.stop - rows.start, width))
    return lines


def out_of_lines(lines: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return the first numbers of each row, moved together in the same memory.

    >>> out_of_lines(in_lines(np.ones((2, 3))), 3)
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """
    numbers = lines.reshape(-1)[: len(lines) * width].reshape(len(lines), width)
    for part in cached_rows(lines):
        numbers[part] = lines[part, :width].copy()  # no row moves past one not yet read
    return numbers


def folder_of_compiled() -> Path | None:
    """Return the folder in which compiled loops are kept; None where nothing can be kept."""
    folder = getattr(Kernel(lambda: None).dispatcher, "_cache", None)
    folder = getattr(folder, "cache_path", None)
    if folder is None:
        return None
    package = Path(__file__).parents[1]
    return package if Path(folder).is_relative_to(package) else Path(folder).parent


def compiled_before() -> bool:
    """Return whether this machine holds compiled loops of an earlier run."""
    root = folder_of_compiled()
    return root is not None and any(root.rglob("*.nbi"))


def n_threads() -> int:
    """Return how many threads a loop may use: ``HARNESS_THREADS``, or the cores of this process."""
    if limit := _positive(os.environ.get("HARNESS_THREADS", "")):
        return limit
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _positive(text: str) -> int:
    """Return a number of threads as a variable of the environment gives it; 0 where it is none."""
    return int(text) if text.isdecimal() and len(text) <= LONGEST else 0


def each_block(task: Callable[[int, int], object], n: int, smallest: int = 1) -> None:
    """Call ``task(start, stop)`` for blocks of ``range(n)``, on threads of `smallest` or more."""
    threads = max(1, min(n_threads(), n // max(smallest, 1)))
    if n and threads == 1:
        task(0, n)
    elif n:
        # Several blocks a thread, so that one slow block does not leave the others idle.
        n_blocks = min(4 * threads, max(threads, n // max(smallest, 1)))
        edges = [n * block // n_blocks for block in range(n_blocks + 1)]
        with ThreadPoolExecutor(threads) as pool:
            for future in [pool.submit(task, a, b) for a, b in pairwise(edges)]:
                future.result()


def group_rows(
    keys: NDArray[np.integer[Any]], n_keys: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the rows of each key start, and the rows by key, in their order within each.

    >>> offsets, rows = group_rows(np.array([2, 0, 2]), 3)
    >>> offsets.tolist(), rows.tolist()
    ([0, 1, 1, 3], [1, 0, 2])
    """
    codes = np.ascontiguousarray(keys, dtype=np.int64)
    offsets = np.append(0, np.cumsum(np.bincount(codes, minlength=n_keys)))
    rows = np.empty(len(codes), dtype=np.int64)
    _place(codes, offsets[:-1].copy(), rows)
    return offsets, rows


@kernel
def _place(keys: Offsets, free: Offsets, rows: Offsets) -> None:
    """Write each row to the next free place of its key: a counting sort, linear in the rows."""
    for row in range(len(keys)):
        place = free[keys[row]]
        free[keys[row]] = place + 1
        rows[place] = row


def rows_of_owners(offsets: Offsets, owners: NDArray[np.integer[Any]]) -> tuple[Offsets, Offsets]:
    """Return positions of owners, and their rows in ragged arrays; an owner of -1 has none."""
    lengths = np.where(owners >= 0, offsets[owners + 1] - offsets[owners], 0)
    starts = np.repeat(offsets[owners] - np.cumsum(lengths) + lengths, lengths)
    return np.repeat(np.arange(len(owners)), lengths), starts + np.arange(len(starts))
