"""`python -m sonnx` is the command `sonnx`."""

from sonnx.cli import main

main()
