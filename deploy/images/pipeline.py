"""The pipeline as a program for spark-submit, which requires a file: `spark-submit … pipeline.py pipeline --once`."""

from limnograph.cli import main

if __name__ == "__main__":
    main()
