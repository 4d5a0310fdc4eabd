"""`python -m runner` is the same program as `runner`."""

from runner.cli import main

main()
