"""Roll-ups of snapshots by hour and by day."""
