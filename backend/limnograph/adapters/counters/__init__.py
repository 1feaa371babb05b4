"""Per-table counters that survive a restart of the server."""
