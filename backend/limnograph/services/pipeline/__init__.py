"""The pipeline: one pass from catalog pointers to appended meta rows, repairs, and the inbox drain."""
