"""``python -m harness`` is the command ``harness``."""

import sys


def main() -> None:
    """Import and run the command line; an interrupt of the import ends it without a traceback."""
    try:
        from harness.cli import main as run
    except KeyboardInterrupt:
        if sys.stderr is not None:  # closed by the caller
            sys.stderr.write("interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
