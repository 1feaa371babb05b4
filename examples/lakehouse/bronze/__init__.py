"""Raw rows as they came, append-only, with where they came from."""
