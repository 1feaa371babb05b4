"""How changes, clicks, files and rates reach bronze, each exactly once."""
