"""Records what each way of `ways_of_code` reads, in a fork of this process, and prints what holds.

A fork begins with everything imported, so that hundreds of ways take seconds.
"""

import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from harness.experiment.execute.recorded import Recorder
from harness.plugins import own_modules
from harness.results.reads import Reads
from tests.experiment.ways_of_code import LIBRARIES, WAYS, Way, of_library

OF_LIBRARIES = {f"libraries: {name}": of_library(code) for name, (code, _) in LIBRARIES.items()}


def in_fork(function) -> object:
    """Return what a function returns in a fork, as JSON can hold it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer = function()
        except BaseException as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        with os.fdopen(writing, "w") as stream:
            json.dump(answer, stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        answer = json.load(stream)
    os.waitpid(child, 0)
    return answer


def computed(way: Way) -> dict[str, object]:
    """Compute with a way, as a recorded process does."""
    recorder = Recorder()
    recorder.begin()
    own_modules.add_files(Path(file).absolute() for file in way.config.get("plugins", ()))
    model = import_module("own").Own()
    model.fit(None)
    (value,) = model.estimate([0], [0])
    return {"value": float(value), "reads": recorder.reads().model_dump()}


def tried(way: Way, folder: Path, numbers: tuple[int, ...] = (2, 4)) -> dict[str, object]:
    """Return the values before and after the change, and whether the first record holds then."""
    os.chdir(folder)
    before = {**os.environ}
    sys.path.append(str(folder))
    answer: dict[str, object] = {}
    try:
        reads = None
        for number in numbers:
            way.write(folder, number)
            os.environ.update(way.environment(number))
            if reads is not None:
                answer["holds"] = in_fork(reads.holds)
            found = in_fork(lambda: computed(way))
            if "error" in found:
                return answer | found
            answer[f"value of {number}"] = found["value"]
            if number == 2:
                reads = Reads(**found["reads"])
                answer |= {"held": in_fork(reads.holds), "reasons": reads.reasons}
                answer["undeclared"] = reads.undeclared
    finally:
        sys.path.remove(str(folder))
        for name in {*os.environ} - {*before}:
            del os.environ[name]
    return answer


if __name__ == "__main__":
    # Code that changes twice in a second, at one length, would be taken from its bytecode.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for name in sys.argv[1:] or [*WAYS, *OF_LIBRARIES]:
        with tempfile.TemporaryDirectory() as folder:
            numbers = (2,) if name in OF_LIBRARIES else (2, 4)
            answer = tried((WAYS | OF_LIBRARIES)[name], Path(folder), numbers)
            print(json.dumps({"name": name} | answer), flush=True)
            os.chdir("/")
