"""Reads observed tables for the server and for commands: in child processes that end when they are idle."""
