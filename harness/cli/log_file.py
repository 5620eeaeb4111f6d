"""The option ``--log-file``: what a command says, with the time of each line, in a file."""

from __future__ import annotations

from pathlib import Path

from harness.cli.screen import listeners, now, printable, say
from harness.errors import HarnessError, reason_of


def log_to(path: Path) -> None:
    """Append each line that the command says from here on to a file, with an ISO time stamp.

    Raises
    ------
    HarnessError
        If the file cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise HarnessError(
            f"--log-file {path}: cannot be written ({reason_of(error)}); name another file"
        ) from None

    def write(text: str) -> None:
        time = now()
        lines = [f"{time} {line}\n" for line in printable(text).split("\n") if line.strip()]
        try:
            # Opened for each text, so that what is said before a crash is there.
            with path.open("a", encoding="utf-8") as file:
                file.writelines(lines)
        except OSError as error:
            listeners.clear()
            say(f"note: {path}: the log ends here ({reason_of(error)})", err=True)

    listeners[:] = [write]
