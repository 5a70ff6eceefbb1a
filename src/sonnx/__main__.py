"""`python -m sonnx` is the command `sonnx`."""

import sys


def run() -> None:
    """Load the command line and obey it; who interrupts meanwhile sees no traceback."""
    try:
        from sonnx.cli import main  # noqa: PLC0415  inside, so that an interrupt is caught
    except KeyboardInterrupt:
        sys.exit(130)
    main()


if __name__ == "__main__":
    run()
