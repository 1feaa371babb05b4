"""Pure values: no I/O, no clock, no framework. Everything else may import this, it imports nothing of ours."""
