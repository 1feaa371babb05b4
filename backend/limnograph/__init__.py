"""Limnograph: the meta-observability plane of a data lakehouse. This file holds the version only."""

__version__ = "0.1.0"
