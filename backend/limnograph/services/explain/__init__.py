"""Explain: the case of a job, its answer, and labels."""
