"""Entries for spark-submit and child processes."""
