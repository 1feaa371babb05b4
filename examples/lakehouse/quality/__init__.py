"""Checks that a write must pass on a branch before main sees it."""
