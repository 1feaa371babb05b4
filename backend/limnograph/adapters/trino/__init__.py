"""Cold reads through Trino's official client."""
