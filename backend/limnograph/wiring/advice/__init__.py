"""Builds advice: for a location, and for the tables of the settings."""
