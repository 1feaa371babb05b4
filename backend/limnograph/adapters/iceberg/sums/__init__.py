"""What manifests add up to, and the cache of it."""
