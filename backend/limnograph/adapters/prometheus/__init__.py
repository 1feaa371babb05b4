"""Prometheus over HTTP: PromQL queries through one client, and an exporter."""
