"""`python -m limnograph` is the same program as the `limnograph` command."""

from limnograph.cli import main

if __name__ == "__main__":
    main()
