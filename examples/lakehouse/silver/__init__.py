"""The current state: one row per key, typed, without personal data in the clear."""
