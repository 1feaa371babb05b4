"""What the HTTP API returns: wire structs."""
