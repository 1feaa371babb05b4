"""Delta Lake tables by their log (PROTOCOL.md of delta-io/delta): commits, checkpoints and the resulting state."""
