"""Implementations of the ports: one folder per external system."""
