"""Limnograph: the meta-observability plane of a data lakehouse. This file contains only the version."""

__version__ = "0.1.0"
