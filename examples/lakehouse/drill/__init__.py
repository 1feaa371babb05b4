"""Drills: an erasure with proof, and the restore of a lost catalog."""
