"""`/metrics`: the exposition of the server."""
