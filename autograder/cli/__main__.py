"""Runs the command as ``python -m autograder.cli``."""

from autograder.cli.main import main

if __name__ == "__main__":
    main()
