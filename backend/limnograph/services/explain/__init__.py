"""Explain: the case of a job, its explanation, and labels."""
