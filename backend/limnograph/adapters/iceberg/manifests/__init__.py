"""Manifest lists and manifests: their entries as columns."""
