"""metadata.json and where it is."""
