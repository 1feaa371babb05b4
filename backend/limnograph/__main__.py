"""Runs `python -m limnograph`, the same program as the command `limnograph`."""

from limnograph.cli import main

if __name__ == "__main__":
    main()
