"""metadata.json: locating and reading it."""
