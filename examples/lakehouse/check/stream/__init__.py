"""Scenarios of the long form: each needs the stream."""
