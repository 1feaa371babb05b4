"""The outside world behind our ports: one folder per system."""
