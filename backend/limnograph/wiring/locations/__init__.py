"""Builds what commands need of one table in a folder: without catalog, settings and Spark."""
