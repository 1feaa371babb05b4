"""The processes of the demo and their configuration."""
