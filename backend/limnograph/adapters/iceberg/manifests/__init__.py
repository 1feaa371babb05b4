"""Manifest lists and manifests: entries as columns."""
