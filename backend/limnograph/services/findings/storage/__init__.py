"""Observers of bytes, partitions, readers and engines, and the sentences about them."""
