"""Train one model of another library, in that library's own interpreter.

`python runner.py FOLDER` reads ``request.json`` and ``train.parquet`` there, loads the runner of
the library beside this file, and writes ``scores.npy`` (users in rows, items in columns) and
``result.json``. Nothing of the harness is imported: the interpreter has only the library.

The runner of a library defines ``fit(request, users, items, ratings)``, which returns a fitted
model, and ``scores(model, users)``, which returns the scores of some users, shape (n, n_items).
``notes(model)``, if it is there, says what the library does on its own.
"""

import hashlib
import importlib
import importlib.metadata
import json
import os
import sys
import threading
import time
from pathlib import Path

BLOCK = 256  # users whose scores are under way


def end_with_the_parent() -> None:
    """End this process when the one that started it ends, which closes the pipe between them."""
    os.read(0, 1)  # not through sys.stdin, whose lock would be held at the end
    os._exit(1)


def main(folder: Path) -> None:
    """Do what ``request.json`` asks for."""
    import numpy as np
    import pyarrow.parquet as pq

    request = json.loads((folder / "request.json").read_text())
    train = folder / "train.parquet"
    digest = hashlib.sha256(train.read_bytes()).hexdigest()
    if digest != request["sha256"]:
        raise SystemExit("train.parquet is not the file that was sent")
    table = pq.read_table(train)
    columns = [table.column(name).to_numpy() for name in ("user", "item", "rating")]
    library = importlib.import_module(f"run_{request['library']}")
    begun = time.perf_counter()
    model = library.fit(request, *columns)
    fitted = time.perf_counter()
    shape = request["n_users"], request["n_items"]
    scores = np.lib.format.open_memmap(folder / "scores.npy", "w+", np.float64, shape)
    for start in range(0, shape[0], BLOCK):
        users = np.arange(start, min(start + BLOCK, shape[0]))
        scores[users] = library.scores(model, users)
    scores.flush()
    result = {
        "sha256": digest,
        "version": importlib.metadata.version(request["distribution"]),
        "fit_seconds": fitted - begun,
        "score_seconds": time.perf_counter() - fitted,
        "notes": library.notes(model) if hasattr(library, "notes") else [],
    }
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    threading.Thread(target=end_with_the_parent, daemon=True).start()
    sys.path.insert(0, str(Path(__file__).parent))
    main(Path(sys.argv[1]))
