"""``python -m harness`` is the command ``harness``."""

from __future__ import annotations

import json
import signal
import sys
from types import FrameType

from harness.errors import Terminated


def main() -> None:
    """Import and run the command line; a signal during the import ends it without a traceback."""
    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _terminate)
        from harness.console.commands import main as run  # a signal may come meanwhile
    except KeyboardInterrupt as stop:
        _end_early(stop)
    run()


def _terminate(number: int, frame: FrameType | None) -> None:
    """End the program in order, as Ctrl-C does; a second SIGTERM ends it at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated


def _end_early(stop: KeyboardInterrupt) -> None:
    """Say that the program was stopped before it could read its arguments."""
    code, said = (Terminated.code, Terminated.said) if isinstance(stop, Terminated) else STOPPED
    if sys.stderr is not None:  # closed by the caller
        sys.stderr.write(f"{said}\n")
    if "--json" in sys.argv and sys.stdout is not None:
        document: dict[str, object] = {
            "command": next((word for word in sys.argv[1:] if not word.startswith("-")), ""),
            "version": getattr(sys.modules.get("harness"), "__version__", ""),
            "exit": code,
            "result": None,
            "tables": [],
            "lines": [],
            "files": [],
            "error": {"kind": "interrupted", "message": said, "faults": []},
        }
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
    sys.exit(code)


STOPPED = (130, "interrupted")
"""Exit code and message after Ctrl-C."""

if __name__ == "__main__":
    main()
