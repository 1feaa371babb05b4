"""Maintains Delta tables by deltalake, in a child process for each action."""
